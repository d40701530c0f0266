#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Writes wait beyond max_behind bytes, and while the oldest write is older than max_behind_time; rate
# limits the drain. All three can be changed while writers wait.
# kernels: 6.12
# cpus: 1
. ./gate.sh
. ./stage.sh

# set_option NAME VALUE
set_option() {
	dmsetup message st 0 set "$@" || fail "set $*"
}

# oldest_is_older: is the oldest write that is not marked older than max_behind_time, 1 s?
oldest_is_older() {
	((${EPOCHREALTIME/./} > $(stage behind_since) / 1000 + 1000000))
}

gated_stage 8 24 'max_behind 1048576'
origin_fails
./blockdata write "$NC" -n 8192 -g 2 >"$TMPDIR/writer" &
writer=$!
writer_until $writer stage_above waiting 1
behind=$(stage behind_bytes)
((behind > 1 << 19 && behind < 5 << 19)) || fail "$behind bytes behind"
set_option max_behind 2097152
stage_until behind_bytes $((2 << 20))
stage_until waiting 1
(($(stage behind_bytes) < 7 << 19)) || fail "$(stage behind_bytes) bytes behind"
set_option max_behind 0
wait "$writer" || fail "writer: $(<"$TMPDIR/writer")"
gate pass origin
stage_drained

set_option max_behind_time 1
origin_fails
puts 3 0 8
wait_for 30 oldest_is_older || fail "behind_since is $(stage behind_since)"
gate write w "$NC" 3 8 8
stage_until waiting 1
gate busy w
gate pass origin
ends w 'done'
gate pass origin
stage_drained
same behind_since "$(stage behind_since)" 0
set_option max_behind_time 0

# 1 MiB/s, in small epochs of small pieces: 2.5 MiB take 2.5 s, and may be 0.1 s early. Before, an
# attempt that began without the limit must have failed with all its copies in flight.
origin_fails
fio --name=x --filename="$NC" --rw=write:4k --bs=4k --size=5m --direct=1 --fsync=32 >/dev/null || fail "fio"
set_option rate 1048576
stage_commit >/dev/null
stage_until retries $(($(stage retries) + 1))
before=$(stage drained_bytes) since=${EPOCHREALTIME/./}
gate pass origin
stage_until drained_bytes $((before + (5 << 19)))
span=$(((${EPOCHREALTIME/./} - since) / 1000))
((span > 2200)) || fail "2.5 MiB were drained in $span ms"
set_option rate 0
stage_drained
same state "$(stage state)" 0

# 64 KiB/s, and each epoch is drained before the next one begins: 6 times 32 KiB take 2.5 s, as the
# first copy does not wait.
set_option rate 65536
since=${EPOCHREALTIME/./}
for ((i = 0; i < 6; i++)); do
	dd if=/dev/zero of="$NC" bs=32k count=1 seek=$((100 + i)) oflag=direct 2>/dev/null || fail "dd"
	stage_drained
done
span=$(((${EPOCHREALTIME/./} - since) / 1000))
((span > 2200)) || fail "6 epochs of 32 KiB were drained in $span ms"
set_option rate 0

# An epoch with more than one descriptor has an age, too.
origin_fails
fio --name=x --filename="$NC" --rw=write:4k --bs=4k --size=2400k --direct=1 >/dev/null || fail "fio"
stage_commit >/dev/null
since=$(stage behind_since)
((since)) || fail "no age: $(dmsetup status --noflush st)"
gate pass origin
