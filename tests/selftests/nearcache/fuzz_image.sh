#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# timeout: 240
# Start caches whose metadata is damaged or forged, also metadata that a crash of a writing session
# with a witness left (fuzz_media.c). Each cache must start, or be refused with the bad field in the
# log. Damage must never lead to wrong data, and no memory may leak.
# cpus: 1
# when: soak
. ./cache.sh

# held: print the KiB of kernel memory; a leaked slot table would add to it.
held() {
	awk '/^(SUnreclaim|VmallocUsed|Percpu):/ { sum += $2 } END { print sum }' /proc/meminfo
}

# try KIND CACHE WITNESS COUNT: run fuzz_media; fail if wrong, or if memory leaks.
try() {
	local before
	before=$(held)
	./fuzz_media "$1" nc "$O" "$2" "$3" "$4" "$seed" || fail "$1, FUZZ_SEED=$seed"
	inputs=$((inputs + $4))
	echo "$(($(held) - before)) KiB more than before"
	(($(held) - before < 8192)) || fail "memory was not given back"
}

seed=1 inputs=0
[[ ! ${SOAK:-} ]] || seed=$RANDOM
seed=${FUZZ_SEED:-$seed}
echo "FUZZ_SEED=$seed"
make_null O origin 14
make_null C local 16
make_null W witness 1
make_null X crashed 16
make_null V left 1
./blockdata write "$O"
format
./intent "$C" witness "$W" 0
# 224 slots on two table pages; two sessions fill them all.
start
check -n 20480
settle
stop
start
check
settle
stop
try damage "$C" "$W" "$(times 40)"
try forge "$C" "$W" "$(times 40)"
# fuzz_media has restored the metadata, but not slots that were filled meanwhile: format again.
format
./intent "$C" witness "$W" 0
start
check
settle
stop
# Make a crash: some blocks of valid slots were written; only the write intent shows which.
MODE=writethrough
start nc "2 witness $W"
./blockdata write /dev/mapper/nc -s 4096 -n 2048 -g 2
settle
written_down
MODE=writearound
reload "2 witness $W" || fail "reload"
./blockdata write /dev/mapper/nc -s 4096 -n 2048
for copy in "$C $X" "$W $V"; do
	blockdev --flushbufs "${copy% *}"
	dd if="${copy% *}" of="${copy#* }" bs=1M iflag=direct oflag=direct 2>/dev/null || fail "dd"
done
stop
try crash "$X" "$V" "$(times 40)"
start nc "2 witness $V" "$O" "$X"
is loaded 5
check
stop
echo "{\"fuzz_inputs\": $inputs}"
