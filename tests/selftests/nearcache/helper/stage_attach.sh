#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache attach of an origin to a suspended stage: after a start that the kernel refused, and below a
# table that a killed command left. It refuses an origin that another host changed, or with another id.
# kernels: 6.12
# cpus: 1
# expect-log: another host changed it
. ./staged.sh

make_staged stage-attach 24
good create nc --origin "$O" --cache "$C" --stage "$L" --block-size 64K --force --rate 64K
./blockdata write /dev/mapper/nc -n 4096
# A run is killed between the two devices of the cache.
dmsetup remove --noudevsync nc
bad 5 "the stage 'nc-stage' runs" open nc --cache "$C" --drop-unreadable
dmsetup suspend nc-stage
bad 5 "the stage 'nc-stage' is suspended" open nc --cache "$C"

dd if="$base" of="$TMPDIR/first" bs=4K count=1 2>/dev/null
./blockdata write "$base" -n 8 -g 9
dmsetup load nc-stage --table "0 $(sectors "$O") nearcache-stage $L $O 4 rate 65536 keep_retained 1"
! dmsetup resume nc-stage 2>/dev/null || fail "the kernel starts above an origin that was changed"
bad 4 "was changed while it was disconnected" attach nc --origin "$O" --force
dd if="$TMPDIR/first" of="$base" bs=4K oflag=direct 2>/dev/null
dmsetup table nc-stage | dmsetup load nc-stage
good attach nc --origin "$O" --force -j
expect started true origin "$O"
[[ $(dmsetup table nc-stage) != *keep_retained* ]] || fail "$(dmsetup table nc-stage)"
good open nc --cache "$C"
check -n 4096

# All is drained: below the cache, a change is no better.
good stage rate nc 0
good stage drain nc --wait
dmsetup suspend nc-stage
make_dm twin twin "0 $(sectors "$base") linear $base 0" --uuid stage-twin
bad 4 "was made for 'dm-uuid:stage-attach'" attach nc --origin "$twin" --force
./blockdata write "$base" -n 8 -g 9
bad 4 "was changed while it was disconnected" attach nc --origin "$O" --force
dmsetup resume nc-stage
good close nc
bad 4 "was changed since its cache was closed" open nc --cache "$C"
good open nc --cache "$C" --on-change drop
check -n 8 -g 9
