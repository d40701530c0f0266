#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A stage that reserves its origin: no other node can write to it until the stage is closed. Another node
# that takes the origin is named by the status, and by the next open, which can take it back.
# kernels: 6.12
# cpus: 1
# timeout: 300
# expect-log: origin .*: another node has reserved it
# allow-log: reservation conflict
. ./staged.sh
. ./reservation.sh

conflicts() {
	run stage status nc
	[[ $out == *"the origin fails"*"another node has reserved it"* ]]
}

make_volume 64
make_null plain plain 64
make_null C local 24
make_null L log 32
make_dm part part "0 65536 linear $O 0"
at_exit staged_gone
new=(create nc --cache "$C" --block-size 64K --force --reserve)
open=(open nc --cache "$C" --origin "$O")
bad 1 "need --stage DEV" "${new[@]}" --origin "$O"
bad 4 "reports no persistent reservations" "${new[@]}" --stage "$L" --origin "$plain"
bad 4 "is a part of a disk" "${new[@]}" --stage "$L" --origin "$part"
dm_gone part
./reserve "$O2" register 0x77 && ./reserve "$O2" take 0x77 || fail "the other node cannot reserve"
bad 5 "the key 0x0000000000000077 is registered" "${new[@]}" --stage "$L" --origin "$O"
other_writes || fail "a refused create keeps the other node out"
good "${new[@]}" --stage "$L" --origin "$O" --preempt --rate 64K -j
key=$(json reservation_key)
! other_writes || fail "the other node writes"
./blockdata write /dev/mapper/nc -n 2048
good close nc --keep
! other_writes || fail "the other node writes after close --keep"
# A registration of this node is none of another node, also if the start then fails.
dd if="$O" of="$TMPDIR/first" bs=4K count=1 iflag=direct 2>/dev/null
./blockdata write "$O" -n 8 -g 9
bad 4 "changed" "${open[@]}"
dd if="$TMPDIR/first" of="$O" bs=4K oflag=direct 2>/dev/null
good "${open[@]}" --rate 64K
good close nc --keep
# Another node has a key for a moment, and may have written.
./reserve "$O2" register 0x77 && ./reserve "$O2" forget 0x77
bad 4 "were registered with origin" "${open[@]}"
good "${open[@]}" --preempt
good stage drain nc --wait
good close nc
other_writes || fail "close keeps the reservation"

# Another node takes the origin while the stage runs.
good "${open[@]}"
./reserve "$O2" register 0x77 && ./reserve "$O2" preempt 0x77 "$key" || fail "no preemption"
./blockdata write /dev/mapper/nc -n 2048 -g 2
good stage drain nc
wait_for 60 conflicts || fail "status: $out"
# attach does not take it back, as open does not.
dmsetup suspend nc-stage
bad 5 "'nearcache close nc --keep'" attach nc --origin "$O" --force
dmsetup resume nc-stage
good close nc --keep
bad 5 "$key" "${open[@]}"
[[ $out == *0x0000000000000077* ]] || fail "no key of the other node: $out"
./reserve "$O2" forget 0x77
bad 4 "is lost" "${open[@]}"
./reserve "$O2" register 0x77 && ./reserve "$O2" take 0x77
good "${open[@]}" --preempt
good stage drain nc --wait
! other_writes || fail "the other node writes after --preempt"
./blockdata read "$O" -n 2048 -g 2
good destroy nc
other_writes || fail "destroy keeps the reservation"
