#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Other processes use all processors: the fill writer must still write fills to the slots after a
# limited wait. If the device and the module are removed at that time, no fill may be lost. When
# fills use all their memory, reads must not wait but bypass the cache, and be counted.
# kernels: 6.12
# when: soak
. ./cache.sh

quiet() {
	# shellcheck disable=SC2086 # pids
	[[ ! $hogs ]] || kill $hogs
	hogs=
	wait
}

# busy: run two endless loops for each processor.
busy() {
	local i
	for ((i = 0; i < 2 * $(nproc); i++)); do
		while :; do :; done &
		hogs+=" $!"
	done
}

hogs=
at_exit quiet
make_null O origin 16
make_null C local 24
./blockdata write "$O"
format
late=0
for ((i = 0; i < $(times 4); i++)); do
	start
	dmsetup message nc 0 invalidate all || fail "invalidate"
	busy
	./blockdata read /dev/mapper/nc -n 8192 -b 8 -t 2 -o >"$TMPDIR/read" || fail "wrong data"
	valid=$(field bytes_valid)
	stop
	rmmod dm-nearcache || fail "the module does not unload"
	quiet
	insmod "$MODULE" || fail "the module does not load again"
	start
	is bytes_valid $((8192 * 512))
	is slots_dropped 0
	late=$((late + (valid < 8192 * 512)))
	origin_mark
	check -n 8192
	same "origin bytes" "$(origin_delta)" 0
	stop
done
echo "$late of $i times fills were in flight when the device was removed"
((late)) || fail "no fill was in flight when the device was removed"

# With the smallest allowed fill_memory, reads bypass.
start nc '2 fill_memory 1048576'
dmsetup message nc 0 invalidate all || fail "invalidate"
busy
./blockdata read /dev/mapper/nc -b 128 -t 4 || fail "wrong data"
above bypass_memory 0
peak=$(field fill_memory_peak)
((peak <= 1048576)) || fail "the peak is $peak"
((peak > 1048576 / 2)) || fail "the peak is only $peak"
settle
is fill_memory 0
above fills 0
quiet
for _ in 1 2 3 4; do
	check -b 8 >/dev/null
	settle
done
is bytes_valid $((16 << 20))
is fill_memory 0
