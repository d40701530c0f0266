#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cache in each writing mode above a stage, with checksums, verify, pin, prefetch, plan and witness:
# while the origin is behind, after a close and after a power cut, all data is right and the cache warm.
# A change of the origin by another host is noticed, in the place of the log or anywhere.
# kernels: 6.12
# timeout: 400
# cpus: 1
# when: soak
. ./staged.sh

# resumed: let the origin work, if the test ended while it was suspended.
resumed() {
	dmsetup resume --noudevsync slice
}

swept() {
	(($(field intent_regions) == 0))
}

# right: each sector has the newest data, and no hit differed from the stage or from its checksum.
right() {
	check -n 8192 -g 2 >/dev/null
	check -s 8192 -n 8192 >/dev/null
	settle
	is damaged 0
}

# saved: keep the content of all devices as of this moment, at which the origin hangs.
saved() {
	local dev
	dmsetup message nc-stage 0 commit >/dev/null || fail "commit"
	dmsetup suspend --noudevsync --noflush --nolockfs slice || fail "suspend"
	for dev in "$L" "$C" "$W" "$base"; do
		dd if="$dev" of="$TMPDIR/${dev##*/}" bs=1M iflag=direct 2>/dev/null || fail "dd"
	done
	resumed
}

# cut: the power is cut at the moment of saved.
cut() {
	local dev
	staged_gone
	for dev in "$L" "$C" "$W" "$base"; do
		dd if="$TMPDIR/${dev##*/}" of="$dev" bs=1M oflag=direct conv=notrunc 2>/dev/null || fail "dd"
	done
}

# behind: the origin must lack writes.
behind() {
	good stage status nc -j
	(($(json behind_bytes) > 1 << 20)) || fail "the origin is not behind: $out"
}

# reopened: open must find the cache warm, the origin unchanged, and the pin.
reopened() {
	good open nc --cache "$C" --mode "$mode" --rate 64K --compare-at-open 64M -j
	expect content warm changed null pins 1
	right
	behind
}

# changed BYTE: another host overwrites 512 bytes of the origin.
changed() {
	head -c 512 /dev/urandom | dd of="$O" bs=512 count=1 seek=$(($1 / 512)) conv=notrunc,fsync 2>/dev/null
}

make_null W witness 8
make_staged stage-modes 16
at_exit rm -f /var/lib/nearcache/pins/nc.json
at_exit resumed
for mode in writearound writethrough; do
	./blockdata write "$O"
	good create nc --origin "$O" --cache "$C" --stage "$L" --witness "$W" --mode $mode --block-size 64K \
		--integrity crc32c --verify 1 --rate 64K --cache-timeout 0 --force
	./blockdata write /dev/mapper/nc -n 8192 -g 2
	good pin nc 0-1M --wait
	echo 4M+1M >"$TMPDIR/list"
	good prefetch nc --from "$TMPDIR/list" --wait
	good plan nc --from "$TMPDIR/list"
	right
	right
	above verified 0
	behind
	# A cut during writes to the first or last 64 KiB leaves the cache cold.
	wait_for 30 swept || fail "$(field intent_regions) regions are being written"
	written_down
	./blockdata write /dev/mapper/nc -s 4096 -n 64 -g 2
	saved
	good close nc --keep
	reopened

	cut
	reopened
	cut
	changed $((6 << 20))
	bad 4 "the cached data near byte $((6 << 20)) differs from it" \
		open nc --cache "$C" --mode $mode --compare-at-open 64M
	cut
	changed 4096
	bad 4 "another host changed it" open nc --cache "$C" --mode $mode
	cut
	reopened
	good stage rate nc 0
	good close nc
	./blockdata read "$O" -n 8192 -g 2 >/dev/null || fail "close did not drain"
	good open nc --cache "$C" --mode $mode --compare-at-open 64M -j
	expect content warm changed null pins 1
	right
	good unpin nc 0-1M
	good destroy nc
done
