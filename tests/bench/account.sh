# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Load for "account" in its guest: reads of $SIZE bytes of the target in $TARGETS, hits or, with
# $MISSES, misses, until the emulator quits.
# shellcheck disable=SC2154 # the including script sets the devices

targets=()

# reads NAME MB [fio options]: make random reads of $SIZE bytes in the first MB MiB of $device.
reads() {
	fio --name="$1" --filename="$device" --ioengine=libaio --direct=1 --rw=randread --bs="$SIZE" --size="$2m" \
		--randseed=3 --thread "${@:3}" >/dev/null || fail "fio"
}

# misses: read each block at most once; the first reads are a warm-up that is not counted.
misses() {
	# shellcheck source=tests/bench/misspath.sh
	. "$(dirname "${BASH_SOURCE[0]}")/misspath.sh"
	if [[ $DMA ]]; then
		sum=512
		pair_dma
	else
		pair 512 576 "$ORIGIN_IS" "$CACHE_IS"
		zero "$O" 512
		zero "$C" 576
	fi
	COLD=1 target_up "$1"
	quiet
	reads before 64 --iodepth="$MISSES" --number_ios=1000
	quiet
	symbols
	reads counted 448 --iodepth="$MISSES" --offset=64m &
	# Wait until the reads reach a steady state.
	nap 0.3
	echo READY
	wait
}

hits() {
	pair 64 512
	target_up "$1"
	# Warm up, so that no counted read pays for work that happens only once.
	reads before "$BENCH_MB" --io_size=1000g --number_ios=20000
	symbols
	echo READY
	reads counted "$BENCH_MB" --io_size=1000g --number_ios=100000000
}

symbols() {
	echo 0 >/proc/sys/kernel/kptr_restrict
	cp /proc/kallsyms /out
	vm-save
}

bench() {
	if [[ $MISSES ]]; then
		misses "${targets[0]}"
	else
		hits "${targets[0]}"
	fi
}
