#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Suspend, resume and reload with other options while writers wait for room, and under load: nothing
# hangs, fails or is lost. The origin may grow, but not shrink.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

# stage_reload [OPTIONS]
stage_reload() {
	dmsetup load st --table "$(stage_line "${1:-}")" && dmsetup suspend --noflush --nolockfs st &&
		dmsetup resume st || fail "reload with '${1:-}'"
}

gated_stage 24 17
origin_fails
./blockdata write "$NC" -n 40960 -g 2 >"$TMPDIR/writer" &
writer=$!
stage_until waiting 1
dmsetup suspend --noflush --nolockfs st || fail "suspend"
same waiting "$(stage waiting)" 0
dmsetup resume st || fail "resume"
stage_until waiting 1
stage_reload 'rate 1073741824'
stage_until waiting 1
[[ $(dmsetup table st) == *'rate 1073741824'* ]] || fail "$(dmsetup table st)"
gate pass origin
wait "$writer" || fail "writer: $(<"$TMPDIR/writer")"
stage_drained
stage_stop

# A larger origin.
gate fill origin 1 0 49152
base=$O
make_dm O short "0 32768 linear $base 0"
at_exit stage_stop
./stage_format "$L" 32768
stage_start
puts 3 32760 8
becomes short "0 49152 linear $base 0"
stage_reload
same "size of the stage" "$(sectors "$NC")" 49152
puts 4 49144 8
gets 32752 16 '1x8 3x8'
stage_restart
gets 49136 16 '1x8 4x8'
stage_drained
gate look origin 49144 8
expect 4x8
stage_stop
becomes short "0 32768 linear $base 0"
! dmsetup create --noudevsync st --table "$(stage_line)" 2>/dev/null || fail "a start on a smaller origin"
dm_gone st
dm_remove short
O=$base
./stage_format "$L" 49152

# Under load: a minute.
[[ ${SOAK:-} ]] || exit 0
stage_start
fio --name=x --filename="$NC" --rw=randwrite --bsrange=4k-64k --size=20m --io_size=100m --direct=1 --thread \
	--ioengine=libaio --iodepth=8 --fsync=50 --verify=crc32c --verify_fatal=1 --randrepeat=0 >"$TMPDIR/fio" 2>&1 &
writer=$!
options=('max_behind 4194304' 'rate 104857600' '' 'max_behind_time 2')
for ((i = 0; ; i++)); do
	((i < 2)) || kill -0 "$writer" 2>/dev/null || break
	stage_reload "${options[i % 4]}"
	dmsetup suspend st && dmsetup resume st || fail "suspend and resume"
	stage_commit >/dev/null || fail "commit"
done
wait "$writer" || fail "fio: $(<"$TMPDIR/fio")"
stage_drained
drop_caches
same "content of the origin" "$(sha256sum <"$O")" "$(sha256sum <"$NC")"
