# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What "account" looks at, in its guest: hits of 4 KiB of the one target of $TARGETS, until the
# emulator ends.
# shellcheck disable=SC2154 # devices are set by who includes this

targets=()

# reads NAME COUNT
reads() {
	fio --name="$1" --filename="$device" --ioengine=libaio --direct=1 --rw=randread --bs=4k --size="${BENCH_MB}m" \
		--io_size=1000g --randseed=3 --thread --number_ios="$2" >/dev/null || fail "fio"
}

bench() {
	pair 64 512
	target_up "${targets[0]}"
	# Reads that were before: no part of what is counted is done for the first time.
	reads before 20000
	echo 0 >/proc/sys/kernel/kptr_restrict
	cp /proc/kallsyms /out
	vm-save
	echo READY
	reads counted 100000000
}
