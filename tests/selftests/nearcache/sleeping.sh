# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A cache that is smaller than its origin, for tests of system sleep: . ./sleeping.sh (includes
# cache.sh). Its devices are on drives: memory would be part of the image.
. ./cache.sh

MB=$((1 << 20))
HALF=$((20 * 2048)) # sectors that are cached first
[[ $(</sys/power/state) == *disk* ]] || skip "this kernel has no hibernation"
echo test_resume >/sys/power/disk || skip "this kernel cannot resume at once"
# Also without nearcache: the kernel goes on, and each process that writes to the guest's ports hangs.
[[ $(uname -r) != 7.3.* ]] || skip "virtio ports of kernel 7.3 do not work after a resume"

# begin [MODE]: create the cache, and read and commit the first half.
begin() {
	make_dm O origin "0 $((48 * 2048)) linear $(remote_backing) 0"
	make_dm C local "0 $((32 * 2048)) linear $(local_dev) 0"
	./blockdata write "$O"
	format
	# cache_timeout 0: any device is slow on a busy machine and would be bypassed.
	MODE=${1:-read-only} start nc "2 cache_timeout 0"
	again
}

# again: cache the first half, and commit it.
again() {
	check -n "$HALF"
	settle
	# A read that found no free slot was not cached.
	check -n "$HALF"
	settle
	written_down
	is bytes_valid $((HALF * 512))
	log_mark
}

# warm: fail unless the cache still has the first half.
warm() {
	origin_mark
	check -n "$HALF"
	same "origin bytes of a warm cache" "$(origin_delta)" 0
	is bytes_valid $((HALF * 512))
	! log_since | grep 'starting cold' || fail "dropped"
}

# make_swap DEV FIRST: swap to 900 MiB of DEV, from sector FIRST; an image of the memory goes there.
make_swap() {
	local swap
	make_dm swap swap "0 $((900 * 2048)) linear $1 $2"
	mkswap "$swap" >/dev/null || fail "mkswap"
	swapon "$swap" || fail "swapon"
	at_exit swapoff "$swap"
	number "$swap" >/sys/power/resume || fail "no resume device"
}

# image: hibernate without a swap device. The kernel takes an image, cannot write it, and goes on.
image() {
	local before
	before=$(images)
	! echo disk 2>/dev/null >/sys/power/state || fail "hibernated without a swap device"
	(($(images) == before + 1)) || fail "no image was taken: $(dmesg | tail -n 5)"
}

# unsaved: hibernate without a swap device, and wait until the cache works again.
unsaved() {
	image
	awake
}

# foreign: hibernate without a swap device, after another system used the cache device. Fail unless
# the cache, in a writing mode, then refuses writes, and its readers get the origin's data.
foreign() {
	image
	wait_for 60 refused || fail "writes pass: $(log_since)"
	log_since | grep -q "others used cache device.*attach another one" || fail "no message: $(log_since)"
	is state 1
	check -n "$HALF"
}

refused() {
	! ./blockdata write /dev/mapper/nc -n 8 2>/dev/null
}

# images: number of images of the memory that the kernel has taken.
images() {
	dmesg | grep -c 'hibernation: Image created'
}

# awake: wait for reads to use the cache again.
awake() {
	wait_for 120 uses_cache || fail "the cache still sleeps"
}

uses_cache() {
	local before now
	look before bypass_state
	./blockdata read /dev/mapper/nc -s 1024 -n 8 >/dev/null || fail "wrong data"
	look now bypass_state
	((now == before))
}
