#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# After a crash dm-cache treats all blocks as dirty and writes them back for hours. This holds even
# in writethrough mode, where a write to such a block then reaches only the cache device. In
# nearcache only users write to the origin, the start moves no data, and an acknowledged write is
# on the origin.
# kernels: 6.12
# cpus: 1
# when: soak
. ./cache.sh

# crash: copy the content that the cache device has now to $X and $Y, as after a power cut.
crash() {
	local to
	for to in "$X" "$Y"; do
		dd if="$C" of="$to" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "dd"
	done
}

# marks: remember bytes written to the origin, and bytes read from and written to the cache device.
marks() {
	own_before=$(origin_writes "$O")
	read_before=$(origin_reads "$X") written_before=$(origin_writes "$X")
}

# untouched WHAT: fail if the origin was written since marks.
untouched() {
	same "bytes written to the origin, $1" $(($(origin_writes "$O") - own_before)) 0
}

# quick: fail if the start transferred more than the metadata and the two ends of the origin.
quick() {
	local metadata
	metadata=$(./sbset "$X" get data_offset)
	(($(origin_reads "$X") - read_before <= metadata)) || fail "the start read data"
	(($(origin_writes "$X") - written_before <= metadata)) || fail "the start wrote data"
	(($(origin_delta) <= 262144)) || fail "the start read $(origin_delta) bytes of the origin"
}

# written MODE GENERATION: write blocks that were cached at the crash; the origin must get the data.
written() {
	local part=(-g "$2" -s 1024 -n 1024)
	MODE=$1 start nc '' "$O" "$Y"
	marks
	./blockdata write /dev/mapper/nc "${part[@]}"
	./blockdata read "$O" "${part[@]}" >/dev/null ||
		fail "$1: the write did not reach the origin"
	./blockdata read /dev/mapper/nc "${part[@]}" >/dev/null ||
		fail "$1: the cache does not return the write"
	stop
	same "bytes written" $(($(origin_writes "$O") - own_before)) $((1024 * 512))
}

make_null O origin 4
make_null C local 8
make_null X crashed 8
make_null Y crashed2 8
./blockdata write "$O"
declare -A loaded=([read-only]=5 [writethrough]=3)
for MODE in "${!loaded[@]}"; do
	format
	start
	[[ $MODE == read-only ]] || ./blockdata write /dev/mapper/nc -n 2048
	check
	settle
	is bytes_valid $((4 << 20))
	# The cache device must have recorded the invalidation when the message returns.
	dmsetup message nc 0 invalidate 8184 8 || fail "invalidate"
	crash
	stop
	marks
	origin_mark
	start nc '' "$O" "$X"
	is loaded "${loaded[$MODE]}"
	quick
	untouched "at the start"
	check
	settle
	untouched "by readers"
	stop
	untouched "at the stop"
	written writethrough 2
	written writearound 3
	./blockdata write "$O"
done
