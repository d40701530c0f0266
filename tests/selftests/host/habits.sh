#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# With the daemon, reads of shuffled samples must cause hardly more reads of the origin than
# requested, and a checkpoint must be written as fast as without prefetch and evict no cached data.
#
# In virtual time: origin 5 ms and 1 GB/s, cache device 80 us; samples of 114,660 bytes through the
# page cache.
# when: soak
# kernels: 6.12
# timeout: 300
set -euo pipefail

cat >"$HOST_DIR/measure.sh" <<'END'
insmod "$MODULE"
MB=$((1 << 20))
make_null O origin 4096 memory_backed=0 irqmode=2 completion_nsec=5000000 mbps=1000 max_sectors=2048
make_null C local 512 memory_backed=0 irqmode=2 completion_nsec=80000 max_sectors=4096
make_null meta meta 64
# Only the metadata of the cache device is stored; data goes to a device that discards it.
make_dm cache cache "0 $(sectors "$meta") linear $meta 0
$(sectors "$meta") $(($(sectors "$C") - $(sectors "$meta"))) linear $C $(sectors "$meta")"
grep -q " /sys/fs/bpf bpf" /proc/mounts || mount -t bpf bpf /sys/fs/bpf || fail "no BPF file system"
mkdir -p /run

fresh_cache() {
	[[ ! -e /dev/mapper/nc ]] || stop
	format "$cache" "$O" 256K
	MODE=writethrough start nc '' "$O" "$cache"
}

job() {
	fio --name=job --filename=/dev/mapper/nc --thread --output-format=terse --terse-version=3 "$@" >"$TMPDIR/fio" ||
		fail "fio: $(<"$TMPDIR/fio")"
	IFS=';' read -ra fields < <(grep '^3;' "$TMPDIR/fio")
}

daemon_off() {
	daemon_end
	nearcache classifier unload >/dev/null
	nearcache latency unload >/dev/null
}

# samples: print the bytes read from the origin, per mille of the requested bytes.
samples() {
	local asked
	fresh_cache
	blockdev --setra 256 /dev/mapper/nc
	job --ioengine=psync --rw=randread --bs=114660 --size=256m --fadvise_hint=0 --randseed=3
	settle
	asked=$(awk -v samples=$((256 * MB / 114660)) 'BEGIN {
		for (i = 0; i < samples; i++)
			units += int(((i + 1) * 114660 + 4095) / 4096) - int(i * 114660 / 4096)
		print units * 4096
	}')
	above misses 1000 nc
	echo $((1000 * ($(field fill_origin_bytes) + $(field bypass_bytes)) / asked))
}

echo "samples without daemon: $(samples) per mille of what was asked for"
daemon_on
got=$(samples)
echo "samples with it: $got per mille"
cat "$LOG"
daemon_off
((got <= 1050)) || fail "more than 1.05 times what was asked for comes from the origin"

# checkpoint: write 25 % of the cache's size to an unread range while a dataset is cached; sets $ms.
checkpoint() {
	job --ioengine=psync --direct=1 --rw=write --bs=1m --offset=3g --size=128m
	ms=${fields[49]}
}

# Cache 435 of 512 MB with a dataset.
dataset() {
	fresh_cache
	job --ioengine=psync --direct=1 --rw=read --bs=1m --size=435m
	settle
	cached=$(nearcache residency nc 0-435M -j | sed -n 's/^  "cached_bytes": \([0-9]*\).*/\1/p')
	((cached == 435 * MB)) || fail "only $cached bytes of the dataset are cached"
}

dataset
checkpoint
off=$ms
echo "checkpoint without daemon: $off ms, $(field evictions) evictions"
daemon_on
dataset
before=$(field evictions)
nearcache prefetch nc 1G-1056M >/dev/null || fail "prefetch"
checkpoint
echo "checkpoint with it, beside a prefetch: $ms ms, $(($(field evictions) - before)) evictions, prefetched $(field prefetched_bytes)"
nearcache actions
grep 'writes checkpoint' "$LOG" || true
same "evictions" "$(field evictions)" "$before"
cached=$(nearcache residency nc 0-435M -j | sed -n 's/^  "cached_bytes": \([0-9]*\).*/\1/p')
same "bytes of the dataset that are cached" "$cached" $((435 * MB))
daemon_off
((ms * 100 <= off * 105)) || fail "the checkpoint takes more than 1.05 times as long"
stop
END

"$TOP/tests/vm/run" --kernel "$KERNEL" --virtual-time --timeout 280 \
	--payload "$BUILD/selftests/nearcache:/selftests" --payload "$HOST_DIR:/boot" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp SOAK=${SOAK:-} && . ./cache.sh && . ./daemon_on.sh && . /boot/measure.sh"
