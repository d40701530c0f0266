#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache with a stage that loses its log, or whose origin was changed by another host: it is refused,
# and --abandon-stage opens it without the log.
# kernels: 6.12
# cpus: 1
# when: soak
. ./cache.sh
. ./command.sh

gone() {
	dm_gone nc
	dm_gone nc-stage
}

# staged WORDS...: create the cache, write 8 MiB of generation 1 that is drained slowly.
staged() {
	good create nc --origin "$O" --cache "$C" --stage "$L" --block-size 64K --force --rate 512K "$@"
	./blockdata write /dev/mapper/nc -n 16384
	sync
}

make_null base base 64
make_null C local 24
make_null L log 32
make_dm O slice "0 $(sectors "$base") linear $base 0" --uuid stage-lost
./blockdata write "$O" -g 3
at_exit gone

# Another host writes to the origin: the log is refused, and can be given up.
staged
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
staged
good close nc --keep
echo 0 >/sys/kernel/config/nullb/log/power
bad 4 "may hold writes that the origin lacks" open nc --cache "$C"
bad 5 "whose log is not here" destroy --cache "$C"
bad 1 "name the origin" open nc --cache "$C" --abandon-stage
good open nc --cache "$C" --abandon-stage --origin "$O" --mode writearound
check -s 40000 -n 64 -g 3
good destroy nc
