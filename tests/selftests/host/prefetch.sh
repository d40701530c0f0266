#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Prefetch from an origin of 1 ms and 200 MB/s: alone, it must reach nearly the origin's bandwidth;
# beside readers at queue depth 1 and 8, it may take at most a tenth of their throughput.
#
# In virtual time: the devices and the measurement use the same clock.
# when: soak
# kernels: 6.12
# timeout: 400
set -euo pipefail

cat >"$HOST_DIR/measure.sh" <<'END'
modprobe -r libcrc32c 2>/dev/null
insmod "$MODULE"
MB=$((1 << 20))
# mbps=201, not 200: null_blk grants 1/50 of the bandwidth 50 times per second, and a request that
# does not fit waits for the next grant. With 200, a grant lacks 4 bytes for four requests of 1 MiB.
make_null O origin 4096 memory_backed=0 irqmode=2 completion_nsec=1000000 mbps=201 max_sectors=2048
make_null C local 4600 memory_backed=0 irqmode=2 completion_nsec=20000 max_sectors=4096
make_null meta meta 64
# Only the metadata of the cache device is stored; data goes to a device that discards it.
make_dm cache cache "0 $(sectors "$meta") linear $meta 0
$(sectors "$meta") $(($(sectors "$C") - $(sectors "$meta"))) linear $C $(sectors "$meta")"

# rate DEVICE DEPTH OFFSET SECONDS: print the KiB/s of random reads of 128 KiB without repetition.
rate() {
	local fields
	fio --name=job --filename="$1" --ioengine=libaio --iodepth="$2" --direct=1 --rw=randread --bs=128k \
		--offset="$3m" --size=1536m --runtime="$4" --time_based --thread --output-format=terse \
		--terse-version=3 >"$TMPDIR/fio" || fail "fio on $1: $(<"$TMPDIR/fio")"
	IFS=';' read -ra fields < <(grep '^3;' "$TMPDIR/fio")
	echo "${fields[6]}"
}

# bare SIZE: print the KiB/s of sequential reads of SIZE bytes from the bare origin.
bare() {
	local fields
	fio --name=job --filename="$O" --ioengine=libaio --iodepth=32 --direct=1 --rw=read --bs="$1" --size=128m \
		--thread --output-format=terse --terse-version=3 >"$TMPDIR/fio" || fail "fio: $(<"$TMPDIR/fio")"
	IFS=';' read -ra fields < <(grep '^3;' "$TMPDIR/fio")
	echo "${fields[6]}"
}

now() {
	local up
	read -r up _ </proc/uptime
	echo $((10#${up/./} * 10))
}

submit() {
	./genl job-submit name=nc "$@" | sed -n 's/^job.id=//p'
}

is_over() {
	[[ $(./genl job-get name=nc job=id="$1" | sed -n 's/^job.state=//p') != 0 ]]
}

fresh_cache() {
	[[ ! -e /dev/mapper/nc ]] || stop
	format "$cache" "$O" 256K
	start nc '' "$O" "$cache"
}

fresh_cache
alone=$(bare 1m)
small=$(bare 128k)
((alone > small)) || alone=$small
listening() {
	[[ -e $TMPDIR/listening ]]
}
./genl listen 1 "$TMPDIR/listening" >/dev/null &
listener=$!
wait_for 10 listening || fail "genl does not listen"
begin=$(now)
id=$(submit range=start=0,length=$((128 * MB)))
wait $listener
end=$(now)
is_over "$id" || fail "it is not over"
got=$((128 * 1024 * 1000 / (end - begin)))
echo "alone: $got KiB/s, the origin by itself $alone KiB/s"
((got * 100 >= alone * 95)) || fail "less than 0.95 of the origin's bandwidth"

for depth in 1 8; do
	fresh_cache
	before=$(rate /dev/mapper/nc $depth 0 2)
	fresh_cache
	id=$(submit range=start=$((2048 * MB)),length=$((2048 * MB)))
	during=$(rate /dev/mapper/nc $depth 0 2)
	fetched=$(./genl job-get name=nc job=id="$id" | sed -n 's/^job.fetched=//p')
	./genl job-cancel name=nc >/dev/null
	echo "beside readers, depth $depth: $during KiB/s of $before KiB/s; prefetched $((fetched / 2 / 1024)) KiB/s"
	((during * 100 >= before * 90)) || failed+=" $depth"
	((fetched)) || failed+=" nothing-at-$depth"
done
[[ ! ${failed:-} ]] || fail "readers are slower by more than a tenth, or prefetch starves:$failed"
END

"$TOP/tests/vm/run" --kernel "$KERNEL" --virtual-time --timeout 380 \
	--payload "$BUILD/selftests/nearcache:/selftests" --payload "$HOST_DIR:/boot" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp SOAK=${SOAK:-} && . ./cache.sh && . /boot/measure.sh"
