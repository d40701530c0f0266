#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Writes at queue depth 32 may take at most 1.1 times as long as on the bare origin. Four origins of
# the same kind, one of them bare, are written in turns. One cache has a witness, so that each
# region is marked on the cache device, in 0.1 ms, before it is written.
#
# In virtual time the result does not depend on the load of this machine: each instruction takes 1
# ns on the only processor. This is a third of the speed of a server core, so an origin of 1 ms gets
# 3 ms.
# when: soak
# kernels: 6.12
# timeout: 300
set -euo pipefail

cat >"$HOST_DIR/measure.sh" <<'END'
insmod "$MODULE"
modes=(bare writearound writethrough marked)
declare -A devices runs

# make_cache MODE: create a device that stores its metadata and accepts data without copying, as
# hardware does. It is slow, so that a write that waits for it exceeds the limit.
make_cache() {
	local table data
	make_null table "table-$1" 4 ${2:+completion_nsec=$2}
	make_null data "data-$1" 80 completion_nsec=1500000 memory_backed=0
	make_dm cache "cache-$1" "0 $(sectors "$table") linear $table 0
$(sectors "$table") $(sectors "$data") linear $data 0"
}

# job MODE NAME [fio options]: run fio, and append the milliseconds of its writes to runs.
job() {
	local fields
	fio --name=job --filename="${devices[$1]}" --ioengine=libaio --iodepth=32 --direct=1 \
		--thread --output-format=terse --terse-version=3 "${@:3}" >"$TMPDIR/fio" ||
		fail "fio on $1: $(cat "$TMPDIR/fio")"
	IFS=';' read -ra fields < <(grep '^3;' "$TMPDIR/fio")
	# Fields 46 and 49: kilobytes written, and milliseconds.
	((fields[46] > 0 && fields[49] > 0)) || fail "fio says: ${fields[*]}"
	runs[$1,$2]+=" ${fields[49]}"
}

# ratio MODE NAME: print the median over the rounds of MODE's time divided by the bare origin's, in
# thousandths.
ratio() {
	local bare mode i
	read -ra bare <<<"${runs[bare,$2]}"
	read -ra mode <<<"${runs[$1,$2]}"
	for ((i = 0; i < ${#bare[@]}; i++)); do
		echo $((mode[i] * 1000 / bare[i]))
	done | sort -n | sed -n "$((${#bare[@]} / 2 + 1))p"
}

for mode in "${modes[@]}"; do
	make_null origin "origin-$mode" 128 completion_nsec=3000000 memory_backed=0
	devices[$mode]=$origin
	[[ $mode != bare ]] || continue
	if [[ $mode == marked ]]; then
		make_cache "$mode" 300000
		format "$cache" "$origin"
		make_null witness witness 1
		./intent "$cache" witness "$witness" 0
		MODE=writearound start "$mode" "2 witness $witness" "$origin" "$cache"
	else
		make_cache "$mode"
		format "$cache" "$origin"
		MODE=$mode start "$mode" '' "$origin" "$cache"
	fi
	devices[$mode]=/dev/mapper/$mode
	# Cache half of the data, so half of the written data is cached.
	dd if="${devices[$mode]}" of=/dev/null bs=256k count=256 iflag=direct 2>/dev/null
	settle "$mode"
done
for ((round = 0; round < $(times 3); round++)); do
	for mode in "${modes[@]}"; do
		job "$mode" random --rw=randwrite --bs=4k --size=128m --number_ios=1200 --randseed="$round"
		job "$mode" sequential --rw=write --bs=64k --size=64m --offset=$((16 + round % 2 * 32))m
	done
done
for mode in "${modes[@]:1}"; do
	for name in random sequential; do
		echo "$mode, $name: $(ratio "$mode" "$name") thousandths of the bare origin's time (ms:${runs[$mode,$name]}, bare:${runs[bare,$name]})"
	done
	dmsetup status "$mode"
done
above invalidated_bytes 0 writearound
above updates 0 writethrough
above intent_waits 0 marked
is witness 1 marked
for mode in "${modes[@]:1}"; do
	for name in random sequential; do
		(($(ratio "$mode" "$name") <= 1100)) || fail "$mode, $name: more than 1.1 times the bare origin's time"
	done
done
END

# No erms and fsrm: the kernel then copies memory by words. In virtual time "rep movsb" would take
# 1 ns per byte, far more than on a processor with these features.
"$TOP/tests/vm/run" --kernel "$KERNEL" --virtual-time --qemu '-cpu max,-erms,-fsrm' --timeout 280 \
	--payload "$BUILD/selftests/nearcache:/selftests" --payload "$HOST_DIR:/boot" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp SOAK=${SOAK:-} && . ./cache.sh && . /boot/measure.sh"
