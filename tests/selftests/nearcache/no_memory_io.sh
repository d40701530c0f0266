#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Read, write and scrub while a third of the module's allocations fail, in each mode, with and
# without checksums. All data must be right, no request may get an error, and no failure may count
# as an error of a device.
# kernels: debug
# timeout: 600
# allow-log: kmemleak: Cannot allocate a scan area, scanning the full object
. ./cache.sh
. ./faults.sh

begin() {
	faults 33 failslab fail_page_alloc
}

# end: fail unless there were faults whose only effect is that less was cached.
end() {
	faults_end failslab fail_page_alloc
	settle
	is state 0
	for name in hit_errors fills_failed_cache fills_failed_origin write_errors damaged; do
		is $name 0
	done
}

no_scrub() {
	[[ $(field scrub_left) == 0 ]]
}

read_only() {
	local options
	./blockdata write "$O"
	format
	start nc '2 verify 10'
	begin
	for options in '-b 8 -t 4' '-b 1:200 -a 1 -r 200 -t 4' '-b 64 -B' '-b 64 -w' '-b 2048' \
		'-b 8 -t 2 -c -n 8192'; do
		# shellcheck disable=SC2086 # words
		check $options
	done
	dmsetup message nc 0 scrub start 0 origin || fail "no scrub starts"
	wait_for 60 no_scrub || fail "the scrub does not end"
	end
	above bypass_memory 0
	above fills 0
	above hits 0
	above scrubs 0
	check
	stop
}

# writing MODE: the same with writers in a writing mode.
writing() {
	MODE=$1
	./stress init "$O" "$TMPDIR/model"
	format
	start
	begin
	./stress run /dev/mapper/nc "$TMPDIR/model" -s 15 || fail "wrong"
	end
	above fills 0
	above bypass_memory 0
	if [[ $1 == writethrough ]]; then
		above updates 0
		above updates_skipped 0
	fi
	stop
	./stress verify "$O" "$TMPDIR/model" ||
		fail "the origin differs from the data that was read"
	start
	./stress verify /dev/mapper/nc "$TMPDIR/model" || fail "wrong after the restart"
	stop
}

make_null O origin 16
make_null C local 6
# Write the null_blk device, so that it allocates its memory before faults are injected.
dd if=/dev/zero of="$C" bs=1M count=6 oflag=direct status=none
faults_of_module
for INTEGRITY in none crc32c; do
	echo "checksums: $INTEGRITY"
	MODE=read-only
	read_only
	writing writearound
	writing writethrough
done
echo "{\"faults_injected\": $faults_sum}"
