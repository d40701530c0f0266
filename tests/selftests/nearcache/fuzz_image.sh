#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# timeout: 180
# Cache devices with damaged and with forged metadata: they start or are refused for a
# field that is named, wrong data is never read for a damage, and no memory stays.
. ./cache.sh

# held: kernel memory in KiB that a forgotten table would hold on to.
held() {
	awk '/^(SUnreclaim|VmallocUsed|Percpu):/ { sum += $2 } END { print sum }' /proc/meminfo
}

# try KIND COUNT
try() {
	local before
	before=$(held)
	./fuzz_media "$1" nc "$O" "$C" "$2" "$seed" || fail "$1, FUZZ_SEED=$seed"
	inputs=$((inputs + $2))
	echo "$(($(held) - before)) KiB more than before"
	(($(held) - before < 8192)) || fail "memory was not given back"
}

seed=1 inputs=0
[[ ! ${SOAK:-} ]] || seed=$RANDOM
seed=${FUZZ_SEED:-$seed}
echo "FUZZ_SEED=$seed"
make_null O origin 14
make_null C local 16
./blockdata write "$O"
format
# 224 slots, two pages: all that fits, by two sessions.
start
check -n 20480
settle
stop
start
check
settle
stop
try damage "$(times 100)"
try forge "$(times 100)"
start
check
stop
echo "{\"fuzz_inputs\": $inputs}"
