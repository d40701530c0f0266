#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache with a stage that loses its log, or whose origin was changed by another host: it is refused,
# and --abandon-stage opens it without the log.
# kernels: 6.12
# cpus: 1
# when: soak
. ./staged.sh

make_staged stage-lost
./blockdata write "$O" -g 3

# Another host writes to the origin: the log is refused, and can be given up.
create_behind
good close nc --keep
./blockdata write "$O" -n 8 -g 9
bad 4 "another host changed it" open nc --cache "$C"
good open nc --cache "$C" --abandon-stage -j
[[ $(json abandoned) == *"the state "* ]] || fail "abandoned: $out"
expect content dropped
check -n 8 -g 9
good close nc
bad 4 "carries no nearcache superblock" super "$L"

# The log is lost.
create_behind
good close nc --keep
echo 0 >/sys/kernel/config/nullb/log/power
bad 4 "may hold writes that the origin lacks" open nc --cache "$C"
bad 5 "whose log is not here" destroy --cache "$C"
bad 1 "name the origin" open nc --cache "$C" --abandon-stage
gives_up open nc --cache "$C" --abandon-stage --origin "$O" --mode writearound
check -s 40000 -n 64 -g 3
good destroy nc
