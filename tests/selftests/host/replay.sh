#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# 'nearcache trace' records a shuffled epoch; on an empty cache, 'trace replay' prefetches by the
# record ahead of the next run in the same order. At least 95 of 100 reads of the first epoch of
# this run must hit or join a fill in flight. The same with a cache of half of the trace, and a reader
# that starts a minute later; the origin is then read once.
#
# In virtual time: origin 5 ms and 1 GB/s, cache device 80 us; samples of 128 KiB.
# kernels: 6.12
# when: soak
# timeout: 300
set -euo pipefail

cat >"$HOST_DIR/measure.sh" <<'END'
insmod "$MODULE"
MB=$((1 << 20))
make_null O origin 4096 memory_backed=0 irqmode=2 completion_nsec=5000000 mbps=1000 max_sectors=2048
make_null C local 4600 memory_backed=0 irqmode=2 completion_nsec=80000 max_sectors=4096
make_null meta meta 64
# Only the metadata of the cache device is stored; data goes to a device that discards it.
make_dm cache cache "0 $(sectors "$meta") linear $meta 0
$(sectors "$meta") $(($(sectors "$C") - $(sectors "$meta"))) linear $C $(sectors "$meta")"

# fresh_cache [DEVICE SIZE]: start an empty cache, with blocks of this size.
fresh_cache() {
	[[ ! -e /dev/mapper/nc ]] || stop
	format "${1:-$cache}" "$O" "${2:-256K}"
	start nc '' "$O" "${1:-$cache}"
}

# epoch READERS [MB/S]: read each sample once, in the order of one seed, at this rate at most.
epoch() {
	fio --name=job --filename=/dev/mapper/nc --ioengine=libaio --iodepth="$1" --direct=1 --rw=randread --bs=128k \
		--size=192m --randseed=7 ${2:+--rate=$2m} --thread --output-format=terse --terse-version=3 \
		>"$TMPDIR/fio" || fail "fio: $(<"$TMPDIR/fio")"
	IFS=';' read -ra fields < <(grep '^3;' "$TMPDIR/fio")
}

recording() {
	grep -q recording "$TMPDIR/said"
}

read_all() {
	(($(nearcache trace show "$TMPDIR/trace" -j | sed -n 's/.*"bytes": \([0-9]*\).*/\1/p') == 192 * MB))
}

fresh_cache
nearcache trace record nc "$TMPDIR/trace" >"$TMPDIR/recorded" 2>"$TMPDIR/said" &
recorder=$!
wait_for 10 recording || fail "it does not record: $(<"$TMPDIR/said")"
epoch 4
kill $recorder
wait $recorder || fail "recording: $(<"$TMPDIR/said")"
cat "$TMPDIR/recorded"
read_all || fail "not all of it is in the trace: $(nearcache trace show "$TMPDIR/trace")"
size=$(stat -c %s "$TMPDIR/trace")
((size <= 224 + 5 * 1536)) || fail "the trace has $size bytes for 1536 samples"

# counted: wait until all fills have ended, and set $found, per mille of the reads.
counted() {
	settle
	look misses misses nc
	look hits hits nc
	look joins joins nc
	look bypassed bypass_bytes nc
	look filled fill_origin_bytes nc
	reads=$((hits + joins + misses + bypassed / (128 << 10)))
	found=$((1000 * (hits + joins) / reads))
	echo "$1: $hits hits, $joins joined, $misses misses, $bypassed bytes bypassed: $found per mille; $(((filled + bypassed) / MB)) MiB of the origin"
}

# Limit the rate of the readers to the bandwidth of the origin: no prefetch could be faster.
for readers in 1 8; do
	fresh_cache
	nearcache trace replay nc "$TMPDIR/trace" >/dev/null || fail "replay"
	epoch $readers 400
	counted "$readers readers, ${fields[6]} KiB/s"
	is bypass_bytes 0 nc
	((found >= 950)) || slow+=" $readers"
	# Only for comparison.
	if [[ ${SOAK:-} ]]; then
		fresh_cache
		epoch $readers 400
		echo "$readers readers without: ${fields[6]} KiB/s"
	fi
done

stop
make_dm half half "0 $(sectors "$meta") linear $meta 0
$(sectors "$meta") $((96 * 2048)) linear $C 0"
for rate in 20 60; do
	fresh_cache "$half" 128K
	nearcache trace replay nc "$TMPDIR/trace" >/dev/null || fail "replay"
	sleep 60
	epoch 1 $rate
	counted "half, ${fields[6]} KiB/s"
	((found >= 950 && filled + bypassed <= 196 * MB)) || slow+=" 1, half, $rate MB/s"
done
stop
[[ ! ${slow:-} ]] || fail "fewer than 95 of 100 reads found what was replayed, with readers:$slow"
END

"$TOP/tests/vm/run" --kernel "$KERNEL" --virtual-time --timeout 280 \
	--payload "$BUILD/selftests/nearcache:/selftests" --payload "$HOST_DIR:/boot" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp SOAK=${SOAK:-} && . ./cache.sh && . /boot/measure.sh"
