#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache plan --append: the next epoch is handed over while one is read. The plan grows, keeps its
# position, and keeps what the next epoch reads. Without a plan in force, a plan begins.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./command.sh
. ./shards.sh

# epoch: print the files in another order.
epoch() {
	shuf -e s*.tar
}

over() {
	good plan nc -j
	[[ $(json state) == over ]]
}

shards_made 16 12
for i in {0..7}; do
	head -c 512k /dev/urandom >"$M/s$i.tar"
done
shards_cached
mapfile -t first < <(epoch)
mapfile -t second < <(epoch)
mapfile -t third < <(epoch)
good plan nc "${first[@]}" --append --no-prefetch -j
visits=$(json visits)
expect state running position 0
direct "${first[@]:0:4}"
settle
good plan nc -j
position=$(json position)
((position > 0)) || fail "no progress: $out"
good plan nc "${second[@]}" --append --no-prefetch -j
expect state running position "$position"
# Files that follow each other share a block, and so a visit: the order changes their number.
((2 * $(json visits) > 3 * visits)) || fail "only $visits visits before: $out"
printf '%s\n' "${third[@]}" | nearcache plan nc --append --no-prefetch --from - -j >"$TMPDIR/out" || fail "--from -"
direct "${first[@]:4}"
settle
missed=$(field misses nc)
direct "${second[@]}" "${third[@]}"
wait_for 20 over || fail "not over: $out"
same "misses from the second epoch on" "$(field misses nc)" "$missed"
expect astray 0 skipped 0 position "$(json visits)"
((2 * $(json visits) > 5 * visits)) || fail "not three epochs: $out"
good plan nc s0.tar --append -j
expect state running position 0
