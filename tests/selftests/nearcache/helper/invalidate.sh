#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache invalidate: it must drop the right data, print the right bytes, and refuse bad requests.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

# warned TEXT WORDS...: the command must succeed with this warning.
warned() {
	run "${@:2}"
	[[ $rc == 0 && $err == *"$1"* ]] || fail "nearcache ${*:2}: exit $rc, no '$1' in '$err'"
}

# buffered: hash of a buffered read, as most readers make it.
buffered() {
	dd if=/dev/mapper/nc bs=4096 skip=100 count=1 2>/dev/null | sha256sum
}

fresh
check
settle
full=$(field bytes_valid)

bad 1 'NAME' invalidate
bad 4 "no device 'nobody'" invalidate nobody
bad 1 "--range '4096': write it as START:LENGTH" invalidate nc --range 4096
bad 1 "'1000' is not a multiple of 512" invalidate nc --range 0:1000
bad 1 "'1' is not a multiple of 512" invalidate nc --range 1:512
bad 1 "its length is 0" invalidate nc --range 0:0
bad 4 "beyond the end of the device at 16777216" invalidate nc --range 16M:512
bad 4 "beyond the end of the device at 16777216" invalidate nc --range 8M:9M
is bytes_valid "$full"
good invalidate nc --range 0:1M --dry-run -j
expect invalidated_bytes 0 dry_run true
is bytes_valid "$full"

# A range of whole sub-blocks drops just these bytes.
good invalidate nc --range 1M:512K -j
json_keys name start length invalidated_bytes dry_run
expect start 1048576 length 524288 invalidated_bytes 524288 dry_run false
is bytes_valid $((full - 524288))
good invalidate nc --range 512:1K
[[ $out == *dropped*'4 KiB'* ]] || fail "invalidate: $out"
is bytes_valid $((full - 524288 - 4096))
good invalidate nc --range 512:1K -j
expect invalidated_bytes 0
good invalidate nc -j
expect start 0 length 16777216 invalidated_bytes $((full - 524288 - 4096))
is bytes_valid 0
check

# Invalidate during reads, in every mode.
for mode in writearound writethrough read-only; do
	good set nc "mode=$mode"
	verify_begin -b 1:64 -r 100
	for i in {1..3}; do
		warned "'nc' is open" invalidate nc
		warned "'nc' is open" invalidate nc --range "${i}M:1M"
	done
	verify_end
done

# invalidate does not drop the page cache above nc; its warning names the remedy.
exec 7</dev/mapper/nc
before=$(buffered)
./blockdata write "$O" -g 2 -s 800 -n 8
warned "blockdev --flushbufs /dev/mapper/nc" invalidate nc -j
json_keys name start length invalidated_bytes dry_run
[[ $(buffered) == "$before" ]] || fail "the warning is wrong"
blockdev --flushbufs /dev/mapper/nc
[[ $(buffered) != "$before" ]] || fail "the warning's advice does not help"
exec 7<&-
./blockdata read /dev/mapper/nc -g 2 -s 800 -n 8 >/dev/null || fail "wrong data"
good set nc mode=writethrough
mkfs.ext4 -qF /dev/mapper/nc
mkdir "$TMPDIR/mnt"
mount /dev/mapper/nc "$TMPDIR/mnt"
warned "mounted on $TMPDIR/mnt" invalidate nc
umount "$TMPDIR/mnt"

# invalidate waits for a table change to end, but not forever.
dmsetup suspend nc
bad 5 "'nc' is suspended" invalidate nc
bad 5 "'nc' is suspended" invalidate nc --dry-run
(sleep 0.1 && dmsetup resume nc) &
good invalidate nc
wait
