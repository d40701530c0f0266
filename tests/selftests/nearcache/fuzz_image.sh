#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# timeout: 240
# Cache devices with damaged and with forged metadata, also what a crash of a session that wrote
# left, with a witness: they start or are refused for a field that is named, wrong data is
# never read for a damage, and no memory stays.
# cpus: 1
. ./cache.sh

# held: kernel memory in KiB that a forgotten table would hold on to.
held() {
	awk '/^(SUnreclaim|VmallocUsed|Percpu):/ { sum += $2 } END { print sum }' /proc/meminfo
}

# try KIND CACHE WITNESS COUNT
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
# 224 slots, two pages: all that fits, by two sessions.
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
# What was forged is put back, what was cached by it is not.
format
./intent "$C" witness "$W" 0
start
check
settle
stop
# A crash: of what the slot table calls valid a part was written since, and only the marks tell.
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
