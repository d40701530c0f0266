#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A job reads a set of 1.5 times the size of the cache repeatedly, in one random order. The daemon
# records the first pass and prefetches by this record: in the next two passes 99 of 100 reads must
# hit or join, a read must take at most half the time, and the origin may be read at most 12 % more
# (then 8 %). The daemon must record the action; to revert it must end the replay.
#
# In virtual time: origin 5 ms and 1 GB/s, cache device 80 us; samples of 128 KiB.
# when: soak
# kernels: 6.12
# timeout: 500
set -euo pipefail

cat >"$HOST_DIR/measure.sh" <<'END'
. ./command.sh
insmod "$MODULE"
MB=$((1 << 20))
make_null O origin 4096 memory_backed=0 irqmode=2 completion_nsec=5000000 mbps=1000 max_sectors=2048
make_null C local 776 memory_backed=0 irqmode=2 completion_nsec=80000 max_sectors=4096
make_null meta meta 64
# Only the metadata of the cache device is stored; data goes to a device that discards it.
make_dm cache cache "0 $(sectors "$meta") linear $meta 0
$(sectors "$meta") $(($(sectors "$C") - $(sectors "$meta"))) linear $C $(sectors "$meta")"
grep -q " /sys/fs/bpf bpf" /proc/mounts || mount -t bpf bpf /sys/fs/bpf || fail "no BPF file system"
mkdir -p /run

fresh_cache() {
	[[ ! -e /dev/mapper/nc ]] || stop
	format "$cache" "$O" 128K
	start nc '' "$O" "$cache"
}

# counts: set $hits, $joins, $misses and $origin from the counters.
counts() {
	look hits hits nc
	look joins joins nc
	look misses misses nc
	look bypasses bypass_bytes nc
	look fills fill_origin_bytes nc
	origin=$((bypasses + fills))
}

# pass: read each sample once, in the order of one seed, at 60 MB/s at most. Sets $found (per mille
# of reads), $us (per read) and $got (MiB from the origin).
pass() {
	local h m g
	counts
	h=$((hits + joins)) g=$origin
	fio --name=job --filename=/dev/mapper/nc --ioengine=psync --direct=1 --rw=randread --bs=128k \
		--size=1152m --randseed=7 --rate=60m --thread --output-format=terse --terse-version=3 >"$TMPDIR/fio" ||
		fail "fio: $(<"$TMPDIR/fio")"
	IFS=';' read -ra fields < <(grep '^3;' "$TMPDIR/fio")
	settle
	counts
	found=$((1000 * (hits + joins - h) / 9216))
	us=${fields[39]%.*}
	got=$(((origin - g) / MB))
	echo "$1: $found per mille found, $us us, $got MiB of the origin, ${fields[6]} KiB/s"
}

replays() {
	said 'replay 0 B -> '
}

runs() {
	nearcache jobs nc | grep -qE ' (running|waiting) .* nearcache-loop$'
}

none_runs() {
	! runs
}

fresh_cache
pass "without daemon, pass 1"
pass "without daemon, pass 2"
off_found=$found off_us=$us off_got=$got

fresh_cache
daemon_on
for ((i = 1; i <= 6; i++)); do
	pass "with it, pass $i"
	! replays || break
done
replays || fail "it is not replayed: $(<"$LOG")"
for i in 1 2; do
	pass "replayed, pass $i"
	((found >= 990)) || slow+=" $i: $found per mille"
	((us * 2 <= off_us)) || slow+=" $i: $us us"
	# The first replayed pass includes data prefetched for positions that the reader had already
	# passed.
	((got * 100 <= off_got * (i == 1 ? 112 : 108))) || slow+=" $i: $got MiB of the origin"
done
nearcache jobs nc | tail -n 6
echo "prefetched $(field prefetched_bytes) used $(field prefetched_used_bytes) wasted $(field prefetched_wasted_bytes)"
cat "$LOG"
[[ ! ${slow:-} ]] || fail "it helps too little, without it $off_found per mille, $off_us us, $off_got MiB; with it, pass$slow"
grep -q 'replay 1.1 GiB -> 1.1 GiB: .*, kept)' "$LOG" || fail "it is not judged"

# Reverting the action ends the replay, and the daemon does not repeat it.
id=$(sed -nE 's/.*replay 0 B -> .*\(action ([0-9]+), done\)/\1/p' "$LOG")
good actions nc
[[ $out == *replay*'0 B'*'1.1 GiB'*done* ]] || fail "actions: $out"
pass "taken back meanwhile" &
reader=$!
wait_for 60 runs || fail "no job: $(nearcache jobs nc)"
good actions --revert "$id" --dry-run
good actions --revert "$id" -j
expect setting replay to 0
wait_for 10 none_runs || fail "its job goes on: $(nearcache jobs nc)"
bad 5 "no trace is replayed on 'nc'" actions --revert "$id"
wait $reader || fail "the reader"
pass "taken back"
((1000 - found > (1000 - off_found) / 2)) || fail "it is replayed still"
same "starts of the replay" "$(grep -c 'replay 0 B -> ' "$LOG")" 1
daemon_end
stop
END

"$TOP/tests/vm/run" --kernel "$KERNEL" --virtual-time --timeout 480 \
	--payload "$BUILD/selftests/nearcache:/selftests" --payload "$HOST_DIR:/boot" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp SOAK=${SOAK:-} && . ./cache.sh && . ./daemon_on.sh && . /boot/measure.sh"
