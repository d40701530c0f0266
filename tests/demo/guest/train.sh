#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# First boot: train without the cache, then with it, on the same origin.
# shellcheck source=tests/demo/guest/common.sh
. /payload/demo/common.sh

# Compute the pause per step with which the run without a cache waits for STALL_PERCENT of its time.
# A pass without pauses spends all its time waiting for data.
calibrate() {
	say "measuring the remote volume to choose the compute time per step"
	load calibration 0
	read -r _ seconds _ _ steps _ </run/result
	pause_us=$(awk "BEGIN { printf \"%d\", $seconds / $steps * 1e6 * (100 - $STALL_PERCENT) / 100 }")
	say "$steps steps in $seconds s: a step computes for $pause_us us"
	fact pause_us "$pause_us"
}

# train LABEL DEVICE: run all epochs.
train() {
	local number
	for ((number = 1; number <= EPOCHS; number++)); do
		epoch "$1" "$number" "$2" --pause-us "$pause_us" --timeline /out/timeline
	done
}

fact kernel "$(uname -r)"
fact latency_us "$LATENCY_US"
fact rate_mbps "$RATE_MBPS"
origin_up

mount -o ro -t ext4 "$origin" "$data"
calibrate
say "$EPOCHS epochs without a cache"
train uncached "$origin"
umount "$data"

say "$EPOCHS epochs with nearcache"
show nearcache create "$name" --origin "$origin" --cache "$(local_dev)" --read-only
show mount -o ro -t ext4 "$mapped" "$data"
train cached "$mapped"
say "SHA-256 of every shard, read through the cache"
epoch verify "$((EPOCHS + 1))" "$mapped" --sha256
show umount "$data"
read -r blocks block_size used < <(counter blocks block_size blocks_used)
fact blocks "$blocks"
fact block_size "$block_size"
fact blocks_used "$used"
show nearcache close "$name"
say "closed with $used of $blocks blocks used"
