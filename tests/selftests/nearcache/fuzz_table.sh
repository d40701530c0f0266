#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# Random table lines and messages (fuzz_words.c): the kernel must accept each of them, or refuse it
# with a reason in the kernel log.
# cpus: 1
. ./cache.sh

seed=1 count=$(times 400)
[[ ! ${SOAK:-} ]] || seed=$RANDOM
seed=${FUZZ_SEED:-$seed}
echo "FUZZ_SEED=$seed"
make_null O origin 10
make_null C local 16
make_null W witness 1
./blockdata write "$O"
format
./intent "$C" witness "$W" 0
./fuzz_words nc "$O" "$C" "$W" "$count" "$seed" || fail "FUZZ_SEED=$seed"
./blockdata exclusive "$C" || fail "the cache device is still held"
start
check
stop
echo "{\"fuzz_inputs\": $count}"
