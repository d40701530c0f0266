#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# range-replace deletes and adds ranges as one change. A refused request must change nothing. While
# requests replace a pin by an equal pin of another label, readers that evict all other blocks must
# never evict a pinned block.
# kernels: 6.12
# when: soak
. ./cache.sh

NC=/dev/mapper/nc
MB=$((1 << 20))

# replace WORDS...: send the request, which must succeed; the answer is in $out.
replace() {
	out=$(./genl range-replace name=nc "$@" 2>"$TMPDIR/err") ||
		fail "genl $*: $(<"$TMPDIR/err") (line ${BASH_LINENO[0]})"
}

# refused ERROR TEXT WORDS...: the request must fail with ERROR and a message that contains TEXT.
refused() {
	local said
	! said=$(./genl range-replace name=nc "${@:3}" 2>&1 >/dev/null) ||
		fail "genl ${*:3}: not refused (line ${BASH_LINENO[0]})"
	[[ $said == "$1:"*"$2"* ]] || fail "genl ${*:3}: '$said', not '$1: $2'"
}

# ranges: print start, length, label, flags and priority of each range, in one line.
ranges() {
	local dump
	dump=$(./genl -d range-get name=nc) || fail "genl range-get"
	awk -F = '
		/^range\.(start|length|label|flags)=/ { printf "%s ", $2 }
		/^range\.priority=/ { printf "%s,", $2 }' <<<"$dump"
}

cached() {
	out=$(./genl residency-get name=nc start="$1" length="$2") || fail "genl residency-get"
	says cached-bytes "$3"
}

lists() {
	replace range=start=0,length=8192,label=a,flags=1 range=start=8192,length=4096,label=b,flags=2
	says error 0
	says count 0
	same "added" "$(ranges)" "0 8192 a 1 0,8192 4096 b 2 0,"
	# "drop" deletes ranges inside a piece, of one label or of any; others stay.
	replace drop=start=0,length=8192,label=b drop=start=4096,length=16384,label=a \
		range=start=0,length=512,label=c,flags=1
	says count 0
	same "nothing matched" "$(ranges)" "0 8192 a 1 0,0 512 c 1 0,8192 4096 b 2 0,"
	# "keep" saves one of two ranges; a new range replaces an equal one, which is not counted.
	replace drop=start=0 keep=start=0,length=512,label=c,flags=1 \
		range=start=8192,length=4096,label=b,flags=2 range=start=0,length=8192,label=a,flags=1,priority=3
	says count 1
	same "kept" "$(ranges)" "0 512 c 1 0,0 8192 a 1 3,8192 4096 b 2 0,"
	# "keep" saves a range only if it is equal in all but the time of expiry.
	replace drop=label=c keep=start=0,length=512,label=c,flags=1,priority=1 \
		keep=start=0,length=1024,label=c,flags=1 keep=start=0,length=512,label=a,flags=1
	says count 1
	same "not kept" "$(ranges)" "0 8192 a 1 3,8192 4096 b 2 0,"
	# "drop" by flags deletes the ranges that have at least these flags.
	replace drop=flags=2
	says count 1
	same "by flags" "$(ranges)" "0 8192 a 1 3,"
	# A new range without a time replaces an equal range with one: it no longer expires.
	replace range=start=4096,length=512,label=d,expires=1000
	replace range=start=4096,length=512,label=d
	out=$(./genl -d range-get name=nc)
	[[ $out != *range.expires=[1-9]* ]] || fail "expires: $out"
	replace drop=start=0
	says count 2
	says needed 0
	same "all gone" "$(ranges)" ""
	is ranges 0
}

# Requests with an error after valid parts: each must change nothing.
bad_input() {
	local before available
	replace range=start=0,length=$MB,label=there,flags=1
	before=$(ranges)
	available=$(sed -n 's/^available=//p' <<<"$out")
	refused EINVAL '1 to 262144 ranges'
	refused EINVAL 'needs a label (range)' drop=start=0 range=start=0,length=512
	refused EINVAL 'needs a label (keep)' drop=start=0 keep=start=0,length=512
	refused EINVAL 'needs start and length (keep)' drop=start=0 keep=start=0,label=there
	refused ERANGE 'length must be' drop=start=0 range=start=512,length=$((16 * MB)),label=x
	refused ERANGE 'multiples of 512' range=start=0,length=512,label=x drop=start=1
	refused EINVAL 'cannot be selected by priority' drop=start=0,priority=1
	refused EINVAL '(flags)' drop=start=0 range=start=0,length=512,label=x,flags=8
	refused ELOOP 'More than 16' drop=start=0 range=17@0,start=0,length=512,label=x
	[[ $(./genl -u 1000 range-replace name=nc drop=start=0 2>&1) == EPERM:* ]] || fail "as another user"
	same "after errors" "$(ranges)" "$before"
	# The room for pins is checked for the state after the change: a swap of pins fits.
	replace range=start=0,length=$((available + 65536)),label=much,flags=1 drop=label=there
	says error 28
	says count 0
	says needed $((available + 65536))
	same "after a refusal" "$(ranges)" "$before"
	replace range=start=$MB,length="$available",label=much,flags=1 drop=label=there
	says error 0
	says count 1
	replace range=start=0,length="$available",label=much,flags=1 drop=label=much
	says error 0
	is ranges 1
	dmsetup suspend nc
	refused EBUSY 'resume it first' drop=start=0
	dmsetup resume nc
	# Refused ranges leave no label behind.
	out=$(./genl label-get name=nc)
	says count 1
	replace drop=start=0
}

# swap_pins: pin the same bytes by two labels in turn, until $TMPDIR/enough exists.
swap_pins() {
	local i=0
	until [[ -e $TMPDIR/enough ]]; do
		./genl range-replace name=nc drop=label=pin$((i % 2)) \
			range=start=0,length=$MB,label=pin$(((i + 1) % 2)),flags=1,priority=$((i % 8)) >/dev/null ||
			{ echo "swap $i" >"$TMPDIR/swap_failed"; return; }
		echo $((++i)) >"$TMPDIR/swaps"
	done
}

# While requests replace the pin, readers evict all other blocks, and dumps look at the ranges.
atomic() {
	local i k seen
	local rest="$((2 * MB)) $((14 * MB)) once 4 0,"
	# The rest of the origin has evict-after-use, so that each read of the rest evicts.
	replace range=start=0,length=$MB,label=pin0,flags=1 \
		range=start=$((2 * MB)),length=$((14 * MB)),label=once,flags=4
	check -n 2048 -b 128 >/dev/null
	settle
	cached 0 $MB $MB
	swap_pins &
	for ((i = 0; i < $(times 12); i++)); do
		check -s $((2 * MB / 512)) -b 128 -t 2 >/dev/null
		seen=$(ranges)
		[[ $seen =~ ^"0 $MB pin"[01]" 1 "[0-7],"$rest"$ ]] || fail "ranges during a change: $seen"
		for ((k = 0; k < 20; k++)); do
			is blocks_reserved 16
			is blocks_pinned 16
		done
	done
	touch "$TMPDIR/enough"
	wait $!
	[[ ! -e $TMPDIR/swap_failed ]] || fail "$(<"$TMPDIR/swap_failed")"
	echo "$(<"$TMPDIR/swaps") changes, $(field evictions) evictions"
	(($(<"$TMPDIR/swaps") > 20)) || fail "only $(<"$TMPDIR/swaps") changes"
	above evictions 50
	# No block of the pin was evicted: reads of the pinned bytes must not reach the origin.
	is blocks_pinned 16
	origin_mark
	check -n 2048 -b 128 >/dev/null
	same "reads of the origin" "$(origin_delta)" 0
	replace drop=start=0
}

# A request with many ranges is one change, and must not take quadratic time.
many() {
	local begin
	begin=${EPOCHREALTIME/./}
	replace "range=30000@512,start=0,length=512,label=old,flags=4"
	replace drop=label=old "keep=10000@512,start=0,length=512,label=old,flags=4" \
		"range=25000@512,start=$((2 * MB)),length=512,label=new,flags=2"
	says count 20000
	is ranges 35000
	((${EPOCHREALTIME/./} - begin < 120000000 * ${SLOW:-1})) || fail "it took too long"
	replace drop=start=0
	says count 35000
}

fresh 16 9
lists
bad_input
atomic
many
check
