#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The daemon adapts the read-ahead: a first read of shards, one after the other through the page
# cache, must be nearly as fast as with the best fixed read-ahead.
#
# In virtual time: origin 5 ms and 1 GB/s, cache device 80 us; shards of 32 MiB.
# when: soak
# kernels: 6.12
# timeout: 300
set -euo pipefail

cat >"$HOST_DIR/measure.sh" <<'END'
insmod "$MODULE"
MB=$((1 << 20))
SHARDS=8
make_null O origin 4096 memory_backed=0 irqmode=2 completion_nsec=5000000 mbps=1000 max_sectors=2048
make_null C local 4600 memory_backed=0 irqmode=2 completion_nsec=80000 max_sectors=4096
make_null meta meta 64
# Only the metadata of the cache device is stored; data goes to a device that discards it.
make_dm cache cache "0 $(sectors "$meta") linear $meta 0
$(sectors "$meta") $(($(sectors "$C") - $(sectors "$meta"))) linear $C $(sectors "$meta")"
mkdir -p /run
grep -q " /sys/fs/bpf bpf" /proc/mounts || mount -t bpf bpf /sys/fs/bpf || fail "no BPF file system"

fresh_cache() {
	[[ ! -e /dev/mapper/nc ]] || stop
	format "$cache" "$O" 256K
	start nc '' "$O" "$cache"
}

# read_shards READ_AHEAD: print the KiB/s of a process that reads the shards, 32 of each 48 MiB.
read_shards() {
	local fields
	fresh_cache
	blockdev --setra $((2 * $1)) /dev/mapper/nc
	fio --name=job --filename=/dev/mapper/nc --ioengine=psync --rw=read --bs=128k --zonemode=strided --zonesize=32m \
		--zonerange=48m --size=$((48 * SHARDS))m --io_size=$((32 * SHARDS))m --fadvise_hint=0 --thread --output-format=terse \
		--terse-version=3 >"$TMPDIR/fio" || fail "fio: $(<"$TMPDIR/fio")"
	IFS=';' read -ra fields < <(grep '^3;' "$TMPDIR/fio")
	echo "${fields[6]}"
}

best=0
for kb in 128 1024 4096 16384; do
	fixed[kb]=$(read_shards $kb)
	echo "read-ahead $kb KiB: ${fixed[kb]} KiB/s"
	((best = fixed[kb] > best ? fixed[kb] : best))
done
daemon_on
got=$(read_shards 128)
cat "$LOG"
nearcache classifier show --all
echo "with the daemon: $got KiB/s: $((got * 100 / fixed[128])) % of read-ahead 128 without, $((got * 100 / best)) % of the best; brought $(field prefetched_bytes) bytes, misses $(field misses)"
daemon_end
stop
((got >= 3 * fixed[128])) || fail "less than three times as fast as with a read-ahead of 128 KiB"
((got * 100 >= best * 90)) || fail "less than 0.9 of the best read-ahead"
END

"$TOP/tests/vm/run" --kernel "$KERNEL" --virtual-time --timeout 380 \
	--payload "$BUILD/selftests/nearcache:/selftests" --payload "$HOST_DIR:/boot" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp SOAK=${SOAK:-} && . ./cache.sh && . ./daemon_on.sh && . /boot/measure.sh"
