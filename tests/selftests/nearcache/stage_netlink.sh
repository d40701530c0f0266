#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Netlink shows status and options of stages, to every user and in every network namespace, sets what a
# message can set, and refuses the same values and all unprivileged callers.
# kernels: 6.12
# cpus: 1
. ./asking.sh
. ./stage.sh

NC=/dev/mapper/st

# status_shown WORDS...: has the answer to a request all fields of the status line?
status_shown() {
	local line name
	ask "$@"
	read -ra line < <(dmsetup status --noflush st)
	for name in "${ST_NAMES[@]}"; do
		grep -qx "stage-status.$name=${line[ST_AT[$name]]}" <<<"$out" || return 1
	done
}

# shows WORDS...: wait until it has: the drain may just end.
shows() {
	wait_for 30 status_shown "$@" || fail "genl $*: not $(dmsetup status --noflush st) but: $out"
}

fresh_stage 8 20 'rate 65536 keep_retained 1'
./blockdata write "$NC" -n 64 -g 2 >/dev/null || fail "write"
stage_drained
shows stage-get name=st
says name st
says dev "$(devt "$NC")"
says log "$(devt "$L")"
says origin "$(devt "$O")"
says rate 65536
says max-behind 0
says keep-retained 1
says origin-timeout 0
says map-memory 1048576
says uuid "$(od -An -tx1 -j $((4096 + 16)) -N 16 "$L" | tr -d ' \n')"
shows -u 1000 stage-get dev="$(devt "$NC")"
shows -u 1000 -d stage-get
out=$(unshare -n ./genl stage-get name=st) || fail "in another network namespace"
says name st
refused ENODEV 'no such nearcache-stage device (name)' stage-get name=nc
refused EINVAL 'Either dev or name' stage-get

ask stage-set name=st origin-timeout=60
[[ $(dmsetup table st) == *' origin_timeout 60' ]] || fail "$(dmsetup table st)"
ask stage-set name=st rate=131072 max-behind=1048576 max-behind-time=600 origin-timeout=0
[[ $(dmsetup table st) == *' rate 131072 max_behind 1048576 max_behind_time 600 '* ]] || fail "$(dmsetup table st)"
refused ERANGE 'rate must be 0 or 65536 to 1099511627776 bytes/s (rate)' stage-set name=st max-behind=0 rate=5
refused ERANGE 'max_behind must be 0 or at least 1048576 bytes (max-behind)' stage-set name=st rate=0 max-behind=1
refused ERANGE '(max-behind-time)' stage-set name=st rate=0 max-behind-time=86401
refused ERANGE '(on-full)' stage-set name=st rate=0 on-full=2
refused EINVAL '' stage-set name=st rate=0 map-memory=1048576
refused ENODEV '' stage-set name=none rate=0
for as in '-u 1000' '-s'; do
	# shellcheck disable=SC2086 # words
	refused EPERM '' $as stage-set name=st rate=0
done
[[ $(dmsetup table st) == *' rate 131072 max_behind 1048576 max_behind_time 600 '* ]] || fail "a refused request has an effect"
ask stage-set name=st rate=0 max-behind-time=0 on-full=1
[[ $(dmsetup table st) == *' on_full writethrough' ]] || fail "$(dmsetup table st)"

# Dumps go on while the stage comes and goes.
./genl -d -n 500 stage-get >"$TMPDIR/dumps" &
dumps=$!
for _ in 1 2 3; do
	stage_restart 'max_behind 1048576'
done
wait "$dumps" || fail "dump: $(tail -n 20 "$TMPDIR/dumps")"
grep -qx 'name=st' "$TMPDIR/dumps" || fail "no dump shows the stage"
