#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Plans: the hits must come close to Belady's MIN; a plan may arrive in parts, and ends; invalid
# plans are refused; and plans race with all other operations.
# kernels: 6.1
# cpus: 1
. ./planned.sh

BLOCK=65536

# Each epoch reads a random half of the blocks. The cache is first full of another dataset.
as_foretold() {
	local starts slots best hits
	mapfile -t starts < <(order 4 7)
	slots=$(field blocks)
	# Fill the cache with blocks that the plan does not contain.
	check -n $((slots * 128)) >/dev/null
	settle
	dmsetup message nc 0 invalidate all
	# MIN gets fewer slots: a plan keeps some slots free, see nc_belady_enough().
	best=$(min_hits $((slots - (slots < 128 ? slots / 4 : 32))) "${starts[@]}")
	alone=no-prefetch
	plan_of "${starts[@]}"
	says state 1
	says visits 512
	says position 0
	(($(value memory) < 64 * 512 + 65536)) || fail "memory: $out"
	hits=$(field hits)
	visit "${starts[@]}"
	wait_for 30 state_is 2 || fail "the plan did not end: $out"
	hits=$(($(field hits) - hits))
	echo "$hits hits in $slots slots, MIN has $best of 512; $(value refused) were refused"
	says hits "$hits"
	says misses $((512 - hits))
	says skipped 0
	says astray 0
	says memory 0
	((hits * 100 >= best * 98)) || fail "$hits hits, MIN has $best: $out"
	check >/dev/null
}

# Each epoch reads the same blocks in the same order. MIN keeps those that it has and refuses the
# others, as each would evict a block that is read sooner. Blocks that are pinned and not in the plan
# are read meanwhile: reclaim cannot evict them, so they are no reason to admit more.
in_order() {
	local all=() pinned=() i fills
	mapfile -t all < <(seq 0 $BLOCK $((199 * BLOCK)))
	mapfile -t pinned < <(seq $((200 * BLOCK)) $BLOCK $((219 * BLOCK)))
	dmsetup message nc 0 invalidate all
	plan_of "${all[@]}" "${all[@]}" "${all[@]}"
	ask range-add name=nc range=start=$((200 * BLOCK)),length=$((20 * BLOCK)),label=pinned,flags=1
	fills=$(field fills)
	visit "${all[@]}"
	for ((i = 0; i < 400; i += 20)); do
		visit "${pinned[i / 20]}" "${all[@]:i % 200:20}"
	done
	fills=$(($(field fills) - fills))
	get
	echo "$fills fills, $(value refused) refused, $(value hits) hits"
	# The cache has 122 slots, and the module fills each about once. If the plan admitted blocks and
	# evicted them again before their next read, there would be more than 300 fills.
	((fills <= 130)) || fail "$fills fills: $out"
	# Pinned blocks have 20 slots, and up to a quarter of the slots is free.
	(($(value hits) >= 2 * ($(field blocks) * 3 / 4 - 20))) || fail "$(value hits) hits: $out"
	ask range-delete name=nc range=start=0,length=$((16 * MB)),label=pinned
	ask plan-clear name=nc
	alone=
}

# A plan takes effect with its last part; until then the old plan is active. Bad parts are refused.
in_parts() {
	plan_of $BLOCK $((2 * BLOCK)) 0
	says visits 3
	ask plan-submit name=nc range=start=0,length=$((4 * BLOCK)) "range=start=$((4 * BLOCK)),length=512"
	says at 2
	says visits 3
	refused ERANGE 'length must be' plan-submit name=nc range=start=0,length=512 \
		range=start=512,length=$((16 * MB)) plan=at=2
	get
	says at 2
	ask plan-submit name=nc range=start=$((4 * BLOCK + 512)),length=512 plan=at=2
	says at 3
	refused ESTALE 'start again with at 0 (at)' plan-submit name=nc range=start=0,length=512 plan=at=2
	ask plan-submit name=nc plan=at=3,commit=1
	says at 0
	says state 1
	says ranges 3
	says visits 5
	says blocks 5
	visit 0 $BLOCK
	get
	says position 2
	[[ $out != *no-prefetch* ]] || fail "no-prefetch is set, but no request had it: $out"
	ask plan-submit name=nc range=start=0,length=512 plan=commit=1,no-prefetch=1
	# A flag has no value.
	says no-prefetch 0
	ask plan-clear name=nc
	says_cleared 1
	# Without a plan in force there is none to continue.
	ask plan-submit name=nc range=start=0,length=$((2 * BLOCK)) plan=commit=1,append=1
	says state 1
	says visits 2
	visit 0
	# plan-clear also clears a plan whose last part has not arrived.
	ask plan-submit name=nc range=start=0,length=512
	ask plan-clear name=nc
	says_cleared 1
	get
	says at 0
	says state 4
	says position 1
	says memory 0
	ask plan-clear name=nc
	says_cleared 0
}

bad_input() {
	local piece=range=start=0,length=512 long
	refused EINVAL 'at least one range' plan-submit name=nc plan=commit=1
	refused EINVAL 'takes only start and length' plan-submit name=nc range=start=0
	refused EINVAL 'takes only start and length' plan-submit name=nc range=length=512
	refused EINVAL 'takes only start and length' plan-submit name=nc "$piece,label=x"
	refused ERANGE 'start must be' plan-submit name=nc "$piece" range=start=1,length=512
	refused EINVAL 'append, no-prefetch (position)' plan-submit name=nc "$piece" plan=position=7
	refused EINVAL 'go with commit (plan)' plan-submit name=nc "$piece" plan=append=1
	refused EINVAL 'go with commit (plan)' plan-submit name=nc "$piece" plan=no-prefetch=1
	refused ESTALE '(at)' plan-submit name=nc "$piece" plan=at=7
	refused ENODEV '' plan-submit name=none "$piece"
	refused ENODEV '' plan-get name=none
	refused ENODEV '' plan-clear name=none
	refused EPERM '' -u 1000 plan-submit name=nc "$piece"
	refused EPERM '' -u 1000 plan-clear name=nc
	refused EPERM 'CAP_SYS_ADMIN' -s plan-submit name=nc "$piece"
	ask -u 1000 plan-get name=nc
	dmsetup suspend nc
	refused EBUSY 'resume it first' plan-submit name=nc "$piece"
	dmsetup resume nc
	# More visits than a plan may have: 16,384 ranges of 256 visits, and then more.
	long=range=length=$((16 * MB)),start=0
	ask plan-submit name=nc "range=16384@0,${long#*=}"
	says at 16384
	refused E2BIG 'Limit of 4194304 visits of blocks' plan-submit name=nc "$piece" "$piece" plan=at=16384
	ask plan-submit name=nc plan=at=16384,commit=1
	says visits 4194304
	(($(value memory) <= 24 * 4194304)) || fail "memory: $out"
	ask plan-clear name=nc
}

# Readers leave the order of the plan: the module must find their new place, or call the plan lost.
elsewhere() {
	local big starts i
	stop
	make_null big big 64
	format "$C" "$big"
	start nc '' "$big"
	mapfile -t starts < <(seq 0 $BLOCK $((64 * MB - BLOCK)) | awk '{ print ($1 * 389) % (64 * 1024 * 1024) }')
	plan_of "${starts[@]}"
	for ((i = 0; i < 20; i++)); do
		empty "${starts[i]}"
	done
	get
	says position 20
	for ((i = 600; i < 660; i++)); do
		empty "${starts[i]}"
	done
	wait_for 30 found || fail "the place in the plan was not found: $out"
	empty "${starts[@]:660:20}"
	get
	says sought 1
	echo "found, at $(value position) now"
	# The plan waits for a skipped visit until 160 more visits have passed.
	(($(value position) >= 680 - 160 && $(value position) <= 680)) || fail "$out"
	plan_of 0
	empty 0
	wait_for 30 state_is 2 || fail "the plan did not end: $out"
	plan_of $((63 * MB))
	dd if=$NC of=/dev/null bs=4K count=3000 iflag=direct 2>/dev/null || fail "cannot read"
	wait_for 30 state_is 3 || fail "the plan did not become lost: $out"
	stop
	format
	start
}

found() {
	get
	[[ $(value sought) == 1 ]]
}

# empty STARTS...: read these blocks of an origin that was never written.
empty() {
	local start
	for start; do
		dd if=$NC of=/dev/null bs=$BLOCK count=1 skip=$((start / BLOCK)) iflag=direct 2>/dev/null ||
			fail "cannot read at $start"
	done
}

# A plan survives reloads and suspends, not the removal of the device. New plans come at any time.
racing() {
	local i starts
	mapfile -t starts < <(order 2 11)
	MODE=writethrough reload || fail "reload"
	verify_begin -b 1:256 -a 1 -r 200 -t 2 -n 14336
	for ((i = 0; i < $(times 2); i++)); do
		plan_of "${starts[@]:i:200}"
		./blockdata write "$NC" -s $((i * 4096 % 16384)) -n 2048 -b 8
		dmsetup suspend nc
		# The plan may be "lost" after fast writers, but it must still exist.
		get
		[[ $(value state) != 0 ]] || fail "the plan is gone: $out"
		dmsetup resume nc
		visit "${starts[@]:i:20}"
		reload || fail "reload"
		((i % 2)) || ask plan-clear name=nc
		[[ $((i % 4)) != 1 ]] || dmsetup message nc 0 invalidate all
	done
	verify_end >/dev/null
	check >/dev/null
	MODE=read-only reload || fail "reload"
	for ((i = 0; i < $(times 1); i++)); do
		plan_of "${starts[@]:0:200}"
		ask plan-submit name=nc "range=start=0,length=$MB"
		visit "${starts[@]:0:10}"
		stop
		start
		get
		says state 0
		says at 0
	done
}

# Plans arrive while reclaim scans the slots. Reclaim must evict all blocks that the last plan does
# not need, also blocks that earlier plans needed.
committed() {
	local i starts
	mapfile -t starts < <(seq 0 $BLOCK $((79 * BLOCK)) | shuf)
	for ((i = 0; i < $(times 1); i++)); do
		dmsetup message nc 0 invalidate all
		# Fill the cache with blocks that no plan contains.
		./blockdata read "$NC" -s 16384 -n 16384 -b 8 >/dev/null || fail "cannot fill the cache"
		settle
		plan_of "${starts[@]}" "${starts[@]}"
		while [[ ! -e $TMPDIR/enough ]]; do visit "${starts[@]:$((RANDOM % 70)):10}"; done &
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			plan_of "${starts[@]}" "${starts[@]}"
		done
		touch "$TMPDIR/enough"
		wait $!
		rm "$TMPDIR/enough"
		plan_of "${starts[@]}" "${starts[@]}"
		visit "${starts[@]}"
		settle
		visit "${starts[@]}"
		wait_for 10 state_is 2 || fail "the plan did not end: $out"
		(($(value hits) >= 76)) || fail "$(value hits) hits: $out"
	done
}

make_null O origin 16
make_null C small 9
./blockdata write "$O"
format
start
as_foretold
in_order
in_parts
bad_input
elsewhere
committed
racing
stop
