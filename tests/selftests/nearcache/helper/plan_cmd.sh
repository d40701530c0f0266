#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache plan of files, ranges and epochs: the order of the reads, the output, and invalid plans.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./command.sh
. ./shards.sh

nothing_yet() {
	good plan nc -j
	json_keys schema name state visits blocks ranges position 'done' hits misses hit_ratio skipped \
		astray refused sought memory_bytes no_prefetch coming_ranges
	expect state none visits 0 memory_bytes 0
}

# A plan reads each file twice: the second read must hit.
of_files() {
	local half
	good plan nc s1.tar s0.tar --epochs 2 --dry-run -j
	json_keys schema name bytes planned_ranges dry_run
	expect bytes $((2 << 20)) dry_run true
	good plan nc -j
	expect state none
	# Nothing comes ahead of the reads, so that the first epoch misses.
	good plan nc s1.tar s0.tar --epochs 2 --no-prefetch -j
	expect state running bytes $((2 << 20)) position 0 dry_run false
	(($(json visits) >= 32)) || fail "visits: $out"
	expect no_prefetch true
	direct s1.tar s0.tar
	settle
	good plan nc -j
	# The last block of one epoch may also be the first of the next one.
	half=$(json position)
	((half == $(json visits) / 2 || half == ($(json visits) + 1) / 2)) || fail "half of it: $out"
	# Of a block with the end of one file and the start of the next, the second read hits.
	(($(json misses) + $(json hits) == half && $(json hits) <= 1)) || fail "half of it: $out"
	expect astray 0
	direct s1.tar s0.tar
	over() {
		good plan nc -j
		[[ $(json state) == over ]]
	}
	wait_for 20 over || fail "not over: $out"
	((half == $(json misses) || half == $(json misses) + 1)) || fail "missed again: $out"
	expect hits $(($(json visits) - $(json misses))) skipped 0 astray 0 memory_bytes 0
	good plan nc
	[[ $out == *'over'*'hit ratio'*'%'* ]] || fail "as text: $out"
}

# Each epoch must have its own order, the same as in prefetch; a range may occur more than once.
of_epochs() {
	local first
	good plan nc s*.tar --rank 0 --world-size 2 --seed 7 --epochs 3 -j
	expect bytes $((3 * 4 << 19)) state running
	good plan nc --clear --dry-run -j
	expect cleared 0 dry_run true
	good plan nc --clear -j
	expect cleared 1
	good plan nc -j
	expect state cleared
	printf '%s\n' 0+65536 128K+64K 0+65536 | nearcache plan nc --from - -j >"$TMPDIR/out" || fail "--from -"
	out=$(<"$TMPDIR/out")
	expect visits 3 blocks 2 planned_ranges 3
	good plan nc 0+65536 --no-prefetch
	[[ $out == *'prefetch off'* ]] || fail "$out"
	good plan nc -j
	expect no_prefetch true visits 1
	good plan nc --clear
	good plan nc 0+128K --append -j
	expect no_prefetch false visits 2 state running
	# So many ranges that the command sends several requests.
	for ((first = 0; first < 40000; first++)); do
		echo $((first % 200 * 65536))+512
	done >"$TMPDIR/many"
	good plan nc --from "$TMPDIR/many" -j
	expect visits 40000 blocks 200 ranges 40000 coming_ranges 0
	good plan nc --clear
}

bad_input() {
	bad 1 "--clear takes no TARGETs" plan nc s1.tar --clear
	bad 1 "no TARGETs given" plan nc --epochs 2
	bad 1 "no TARGETs given" plan nc --append
	bad 1 "no options of a plan" plan nc --clear --no-prefetch
	bad 1 "go together" plan nc s1.tar --rank 1
	bad 1 "--epochs '0'" plan nc s1.tar --epochs 0
	bad 4 "no device 'nobody'" plan nobody s1.tar
	bad 4 "no device 'nobody'" plan nobody
	bad 4 "'none': No such file" plan nc none
	bad 4 "nothing to plan" plan nc empty
	bad 1 "give record, replay, plan or show" trace make nc file
	bad 1 "does not take these options" trace plan nc file --wait
	bad 4 "cannot open 'none'" trace plan nc none
	bad 4 "is not a trace" trace plan nc s1.tar
	dmsetup suspend nc
	bad 5 "resume it first" plan nc 0+65536
	dmsetup resume nc
}

shards_made 16 12
for i in {0..7}; do
	head -c 512k /dev/urandom >"$M/s$i.tar"
done
: >"$M/empty"
shards_cached
nothing_yet
of_files
of_epochs
bad_input
