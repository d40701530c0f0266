#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache plan --from: a list of the samples that a loader reads, of shards and of files with samples
# of fixed size. The reads of a loader are exactly the visits of the plan; an error names the wrong line.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./command.sh
. ./shards.sh

# A sample of a shard: two members with their headers.
SAMPLE=$((512 + 512 + 512 + 65536))

# sample FILE OFFSET SIZE: read this part of a file as a loader does.
sample() {
	dd if="$1" of=/dev/null bs="$3" count=1 skip="$2" iflag=direct,skip_bytes 2>/dev/null ||
		fail "cannot read $1 at $2"
}

# over VISITS: fail unless all visits of the plan were made, and no other.
over() {
	ended() {
		good plan nc -j
		[[ $(json state) == over ]]
	}
	wait_for 20 ended || fail "not over: $out"
	expect astray 0 skipped 0 position "$(json visits)"
	same "visits" $(($(json hits) + $(json misses))) "$(json visits)"
}

of_shards() {
	local n
	{
		printf '%s\t%s\n' a.tar 5,0 b.tar 2 a.tar 3
		echo b.tar
		printf '%s\t%s\n' a.tar 5,1-2
	} >"$TMPDIR/list"
	(cd / && good plan nc --from "$TMPDIR/list" --root "$M" --no-prefetch -j && echo "$out") >"$TMPDIR/out" ||
		fail "plan of shards"
	out=$(<"$TMPDIR/out")
	expect state running no_prefetch true bytes $((7 * SAMPLE + $(stat -c %s b.tar)))
	for n in a:5 a:0 b:2 a:3 b a:5 a:1 a:2; do
		if [[ $n == *:* ]]; then
			sample "${n%:*}.tar" $((${n#*:} * SAMPLE)) $SAMPLE
		else
			direct "$n.tar"
		fi
		settle
	done
	over
	(($(json hits) >= 2)) || fail "sample 5 was read twice: $out"
}

of_fixed_size() {
	local n order
	mapfile -t order < <(shuf -i 0-15)
	printf 'f.bin\t%s\n' "${order[@]}" "${order[@]}" |
		nearcache plan nc --from - --sample-size 64K --header 4K --no-prefetch -j >"$TMPDIR/out" || fail "--from -"
	out=$(<"$TMPDIR/out")
	expect bytes $((32 * 65536))
	for n in "${order[@]}" "${order[@]}"; do
		sample f.bin $((4096 + n * 65536)) 65536
		settle
	done
	over
	(($(json hits) >= $(json visits) / 2)) || fail "no hits in the second half: $out"
}

of_files() {
	good plan nc c.tar f.bin c.tar --dry-run -j
	expect bytes $((2 * $(stat -c %s c.tar) + ($(stat -c %s f.bin) + 511) / 512 * 512))
}

bad_input() {
	printf 'a.tar\t0\nb.tar\t9\n' >"$TMPDIR/list"
	bad 1 "'b.tar' has samples 0 to 5, not 9; it is line 2 of the list" plan nc --from "$TMPDIR/list"
	printf 'a.tar\n\nb.tar\t1;2\n' >"$TMPDIR/list"
	bad 1 "'1;2' after the tab is not a sample number" plan nc --from "$TMPDIR/list"
	bad 1 "it is line 3 of the list" plan nc --from "$TMPDIR/list"
	printf 'none\t1\n' >"$TMPDIR/list"
	bad 4 "'none': No such file or directory; it is line 1 of the list" plan nc --from "$TMPDIR/list"
	printf 'f.bin\t1\n' >"$TMPDIR/list"
	bad 1 "'f.bin' has sample numbers: --rank shares out whole files" \
		plan nc --from "$TMPDIR/list" --rank 0 --world-size 2
	bad 4 "'f.bin', byte 0: unknown format" plan nc --from "$TMPDIR/list"
	bad 1 "'f.bin' is too small for a sample of 2097152 bytes" plan nc --from "$TMPDIR/list" --sample-size 2M
	bad 1 "--root, --sample-size and --header go with --from" plan nc f.bin --sample-size 4K
	bad 1 "--header goes with --sample-size" plan nc --from "$TMPDIR/list" --header 4K
	bad 1 "--sample-size conflicts with --format" plan nc --from "$TMPDIR/list" --sample-size 4K --format tar
	bad 1 "--root '': it is empty" plan nc --from "$TMPDIR/list" --root ''
}

shards_made 16 12
mkdir "$TMPDIR/files"
for i in {0..5}; do
	echo "$i" >"$TMPDIR/files/$i.cls"
	head -c 65536 /dev/urandom >"$TMPDIR/files/$i.jpg"
done
for i in a b c; do
	(cd "$TMPDIR/files" && busybox tar -cf "$M/$i.tar" -- *)
done
head -c $((4096 + 16 * 65536 + 100)) /dev/urandom >"$M/f.bin"
shards_cached
of_files
of_shards
of_fixed_size
bad_input
