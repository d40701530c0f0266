# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for a cache nc with a stage, which nearcache creates: . ./staged.sh (includes cache.sh and
# command.sh).
#
# The cache device is $C, the log $L, the origin $O: a dm device 'slice' on $base.
. ./cache.sh
. ./command.sh
# A slow drain that a test gives to create must not be remembered for its next open.
no_settings

# staged_gone: remove nc, and the stage below it.
staged_gone() {
	dm_gone nc
	dm_gone nc-stage
}

# make_staged UUID [MB [SECTORS]]: make the devices for nc. $base has MB MiB (64); its first SECTORS (all)
# are the origin, with this dm uuid. A test that has made $L keeps its log.
make_staged() {
	make_null base base "${2:-64}"
	make_null C local 24
	[[ ${L:-} ]] || make_null L log 32
	make_dm O slice "0 ${3:-$(sectors "$base")} linear $base 0" --uuid "$1"
	at_exit staged_gone
}

# make_log_on_drive: make the log $L, a dm device 'log' of $size sectors on $drive. The log begins
# 1 MiB into the drive, so that a probe of the drive does not find it.
make_log_on_drive() {
	make_null drive drive 32
	size=$(($(sectors "$drive") - 2048))
	make_dm L log "0 $size linear $drive 2048"
}

# log_works: the log can be read and written again.
log_works() {
	becomes log "0 $size linear $drive 2048"
}

# create_behind: create nc, and write 8 MiB of generation 1, which are drained slowly.
create_behind() {
	good create nc --origin "$O" --cache "$C" --stage "$L" --block-size 64K --force --rate 512K
	./blockdata write /dev/mapper/nc -n 16384
	sync
}

# gives_up WORDS...: run nearcache, which gives up a log that is not here. It must succeed, and warn that
# the guest keeps the record of that in memory.
gives_up() {
	run "$@"
	[[ $rc == 0 && $err == *"do not use the log again that is given up"* ]] ||
		fail "nearcache $*: exit $rc, $err $out"
}
