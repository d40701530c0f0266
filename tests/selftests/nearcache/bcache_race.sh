#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A bug of bcache: a read misses and the origin answers late, after a write to the same sectors has
# completed. The data that the read returns is stale and must not be cached. Tested in both writing
# modes, with an origin that reads its data after the write and one that reads it before.
# kernels: 6.1
. ./gate.sh

# asleep DEV MS: table of a device that delays reads by MS.
asleep() {
	echo "0 $(sectors "$1") delay $1 0 $2 $1 0 0"
}

# part NAME GENERATION [DEV]: fail unless the first 128 sectors have this generation.
part() {
	./blockdata read "${3:-/dev/mapper/$1}" -g "$2" -n 128 >/dev/null ||
		fail "${3:-$1} does not have generation $2 (line ${BASH_LINENO[0]})"
}

# late NAME: make the late read. It overlaps with the write, so it may return either generation.
late() {
	dd if="/dev/mapper/$1" of="$TMPDIR/$1" bs=64K count=1 iflag=direct 2>/dev/null
}

# prepare NAME: format a cache. To look for logs, this reads the other devices, so no cache is live.
prepare() {
	local name=$1 base origin
	make_null base "origin-$name" 1
	make_null "cache_$name" "cache-$name" 8
	./blockdata write "$base"
	bases[$name]=$base
	make_dm origin "slow-$name" "$(asleep "$base" 0)"
	local -n cache=cache_$name
	format "$cache" "$origin"
	origins[$name]=$origin
}

begin() {
	local name=$1 base=${bases[$1]}
	local -n cache=cache_$name
	MODE=$name start "$name" '' "${origins[$name]}" "$cache"
	dmsetup load --noudevsync "slow-$name" --table "$(asleep "$base" 30000)"
	dmsetup resume --noudevsync "slow-$name" || fail "dm-delay"
}

# filling NAME: is the fill of the late read in flight?
filling() {
	[[ $(field fills_in_flight "$1") == 1 ]]
}

declare -A bases origins pids
for mode in writearound writethrough; do
	prepare $mode
done
for mode in writearound writethrough; do
	begin $mode
done
started=${EPOCHREALTIME/./}
for mode in "${!bases[@]}"; do
	late "$mode" & pids[$mode]=$!
	wait_for 20 filling "$mode" || fail "$mode: no fill"
	./blockdata write "/dev/mapper/$mode" -g 2 -n 128
	is fills_in_flight 1 "$mode"
	is writes 1 "$mode"
	kill -0 "${pids[$mode]}" || fail "$mode: the read ended before the write"
done
echo "written after $(((${EPOCHREALTIME/./} - started) / 1000)) ms, of 30000"
for mode in "${!bases[@]}"; do
	# A suspend lets dm-delay send its delayed reads now.
	dmsetup load --noudevsync "slow-$mode" --table "$(asleep "${bases[$mode]}" 0)"
	dmsetup resume --noudevsync "slow-$mode" || fail "dm-delay"
	wait "${pids[$mode]}" || fail "$mode: the read failed"
	settle "$mode"
	is fills_stale 1 "$mode"
	is bytes_valid 0 "$mode"
	part "$mode" 2
	settle "$mode"
	part "$mode" 2
	part "$mode" 2 "${bases[$mode]}"
	above hits 0 "$mode"
done

# The same race with an origin that reads its data before the write and answers after it.
gates 1 8
for mode in writearound writethrough; do
	between $mode
	gate mute origin read
	gate read late "$NC" 0 128
	gate held origin 1
	gate pass origin
	puts 2 0 128
	gets 0 128 2x128
	gate busy late
	gate let origin all
	ends late 1x128
	agrees 0 128 2x128
done
