#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Upper limits for the cost of a hit compared with the same read through dm-linear; with SOAK=1, which
# 'make soak' sets, also with 100,000 ranges, with checksums and with BPF programs, and some epochs of a
# dataset that does not fit. The variants take turns with the same reads of the same kind of device, which completes at once.
# "make bench" measures the same for longer; this test guards against regressions.
#
# In virtual time each instruction takes 1 ns on the only processor, so results are counts of
# instructions rather than times. Checksums take about 0.13 ns per byte (one crc32 instruction for 8
# bytes).
# kernels: 6.12
# when: soak
# timeout: 300
set -euo pipefail

cat >"$HOST_DIR/measure.sh" <<'END'
# Load crc32c_intel before libcrc32c, as udev does: libcrc32c then uses the crc32 instruction.
modprobe -r libcrc32c || fail "libcrc32c is in use"
modprobe -a crc32c_intel libcrc32c || fail "no crc32c_intel"
insmod "$MODULE"
ways=(bare linear none ${SOAK:+ranges crc32c})
# Only 'make soak' measures reads of 512 bytes and of 64 KiB; most of the cost of the latter is the
# copy of the data.
sizes=(${SOAK:+512 65536} 4096)
declare -A devices runs
# Upper limits in percent of the cost of dm-linear.
declare -A limit=([none]=115 [ranges]=115)

# job WAY BYTES [READS]: run fio, append the nanoseconds per read to runs; 4096 reads are a pass.
job() {
	local fields
	fio --name=job --filename="${devices[$1]}" --ioengine=psync --direct=1 --rw=randread --bs="$2" \
		--size=16m --io_size=1g --number_ios="${3:-500}" --randseed="$round" --thread --output-format=terse \
		--terse-version=3 >"$TMPDIR/fio" || fail "fio on $1: $(cat "$TMPDIR/fio")"
	IFS=';' read -ra fields < <(grep '^3;' "$TMPDIR/fio")
	# Field 39 is the mean of the total latency in microseconds, with six digits.
	runs[$1,$2]+=" $(awk -v us="${fields[39]}" 'BEGIN { printf "%d", us * 1000 }')"
}

# median NUMBER...: print the median.
median() {
	printf '%s\n' "$@" | sort -n | sed -n "$(($# / 2 + 1))p"
}

for way in "${ways[@]}"; do
	# A large device: the policy's clock ticks once per 1/16 of the cache, and the first hit
	# of a block in a tick costs more.
	make_null device "local-$way" 512
	devices[$way]=$device
	# Write the bare devices, as null_blk reads unwritten data at lower cost; fills write the
	# caches.
	[[ $way == none || $way == ranges || $way == crc32c ]] ||
		dd if=/dev/zero of="$device" bs=1M count=24 oflag=direct 2>/dev/null
	[[ $way != bare ]] || continue
	devices[$way]=/dev/mapper/$way
	if [[ $way == linear ]]; then
		make_dm _ linear "0 $(sectors "$device") linear $device 0"
		continue
	fi
	make_null origin "origin-$way" 16
	INTEGRITY=$([[ $way == crc32c ]] && echo crc32c || echo none) format "$device" "$origin" 256K
	start "$way" '' "$origin" "$device"
	[[ $way != ranges ]] ||
		./genl range-add "name=$way" "range=25000@512,start=0,length=1024,label=one" \
			"range=25000@512,start=0,length=512,label=two" "range=25000@512,start=$((2 << 20)),length=1024,label=one" \
			"range=25000@512,start=$((2 << 20)),length=512,label=two" >/dev/null || fail "no ranges"
	dd if="${devices[$way]}" of=/dev/null bs=64k iflag=direct 2>/dev/null
	settle "$way"
done
for ((round = 0; round < $(times 3); round++)); do
	for size in "${sizes[@]}"; do
		for way in "${ways[@]}"; do
			job "$way" "$size"
		done
	done
done
for size in "${sizes[@]}"; do
	declare -A ns=()
	for way in "${ways[@]}"; do
		# shellcheck disable=SC2086 # numbers
		ns[$way]=$(median ${runs[$way,$size]})
	done
	echo "reads of $size bytes, ns: $(for way in "${ways[@]}"; do echo "$way ${ns[$way]}"; done | paste -sd' '); added to the bare device: linear $((ns[linear] - ns[bare])), a hit $((ns[none] - ns[bare]))"
	[[ ! ${SOAK:-} ]] || echo "a hit with ranges $((ns[ranges] - ns[bare])), checksums another $((ns[crc32c] - ns[none]))"
	# Results for long reads vary more: allow 2 % of the read.
	given=$((size > 4096 ? 2 * ns[bare] : 0))
	for way in none ${SOAK:+ranges}; do
		((100 * (ns[$way] - ns[bare]) <= ${limit[$way]} * (ns[linear] - ns[bare]) + given)) ||
			fail "$way: a hit adds more than ${limit[$way]} % of what dm-linear does"
	done
done
# In 'make soak' measure the cost of BPF programs: all together, and each alone. The first pass does not count: it fills
# their maps and shows the classifier the number of runs.
programs=()
[[ ! ${SOAK:-} ]] || programs=("classifier latency heat" "classifier" "latency" "heat")
grep -q " /sys/fs/bpf bpf" /proc/mounts || mount -t bpf bpf /sys/fs/bpf || fail "no BPF file system"

# measured LOADED WHEN: measure reads, and set ns[LOADED WHEN] to the nanoseconds of a read.
measured() {
	runs[with,4096]=
	# Three rounds, because the timer interrupts about every hundredth read.
	for ((round = 0; round < $(times 3); round++)); do
		job with 4096 2500
	done
	# shellcheck disable=SC2086 # numbers
	ns[$1 $2]=$(median ${runs[with,4096]})
}

devices[with]=/dev/mapper/none
for loaded in ${SOAK:+""} "${programs[@]}"; do
	for program in $loaded; do
		nearcache "$program" load >/dev/null || fail "$program"
	done
	round=7
	[[ ! $loaded ]] || job with 4096 4096
	measured "$loaded" "at first"
	if [[ $loaded == classifier* ]]; then
		# After some more passes the classifier has classified the reads.
		job with 4096 32768
		nearcache classifier show --all | grep -Eq 'shuffled|looping|random' || fail "classes: $(nearcache classifier show --all)"
		measured "$loaded" "then"
	fi
	for program in $loaded; do
		nearcache "$program" unload >/dev/null || fail "$program"
	done
done
hit=$((ns[none] - ns[bare]))
for loaded in "${programs[@]}"; do
	for when in "at first" "then"; do
		[[ ${ns[$loaded $when]:-} ]] || continue
		added=$((ns[$loaded $when] - ns[ at first]))
		echo "hits of 4096 bytes with $loaded $when: another $added instructions, $((1000 * added / ns[ at first])) per mille of the read, $((1000 * added / hit)) of what a hit adds to the bare device"
		# All programs together: 16 % of the cost of a hit; 19 % in the first passes: 331
		# and 390 instructions.
		((100 * added <= (${#when} > 4 ? 19 : 16) * hit)) || fail "$loaded takes $added instructions of $hit"
	done
done
for way in "${ways[@]:2}"; do
	dmsetup status "$way"
	is misses 256 "$way"
	is damaged 0 "$way"
	above hits $((${#sizes[@]} * 1400)) "$way"
done

# Read each block of a dataset once per epoch, in a new random order, with room for half of the
# blocks, by the functions of the benchmark "epochs".
here=/bench EPOCHS_MB=16
pair() {
	# shellcheck disable=SC2086 # one word each
	make_null O origin "$1" $3
	# shellcheck disable=SC2086
	make_null C local "$2" $4
}
pair_gone() {
	null_del origin
	null_del local
}
. /bench/targets.sh
. /bench/cold.sh
. /bench/epochs.sh
epochs=3

# row NAME VALUE...: called with the result of an epoch; fail if the hit ratio is too low.
row() {
	local -A is
	while (($#)); do
		is[$1]=$2
		shift 2
	done
	echo "epoch ${is[epoch]}: hits ${is[hit_ratio]}, at best ${is[bound]}; the origin reads ${is[origin_bytes_ratio]}"
	awk -v hits="${is[hit_ratio]}" -v origin="${is[origin_bytes_ratio]}" -v bound="${is[bound]}" '
		BEGIN { exit !(hits >= 0.98 * bound && origin <= 1 - 0.98 * bound) }' || fail "that is not 0.98 of it"
}

[[ ! ${SOAK:-} ]] || run full 50 nearcache
END

# No erms and fsrm: the kernel then copies memory by words, see writepath.sh.
"$TOP/tests/vm/run" --kernel "$KERNEL" --virtual-time --qemu '-cpu max,-erms,-fsrm' --timeout 280 \
	--payload "$BUILD/selftests/nearcache:/selftests" --payload "$HOST_DIR:/boot" \
	--payload "$TOP/tests/bench:/bench" --payload "$BUILD/bench/tools:/bench/tools" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp SOAK=${SOAK:-} && . ./cache.sh && . /boot/measure.sh"
