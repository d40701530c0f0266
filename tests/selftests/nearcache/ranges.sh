#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Ranges: pinned blocks must get slots and stay, bypassed ranges must not be cached, blocks with the
# flag evict-after-use must be evicted first, and labels must count their I/O. Also many ranges,
# ranges that expire, reloads, and refused requests, which must change nothing.
# kernels: 6.1
# cpus: 1
. ./asking.sh

NC=/dev/mapper/nc
MB=$((1 << 20))

# add RANGE...: these ranges must be accepted.
add() {
	ask range-add name=nc "${@/#/range=}"
	says error 0
}

delete() {
	ask range-delete name=nc "${@/#/range=}"
}

value() {
	sed -n "s/^$1=//p" <<<"$out"
}

# list: print start, length, label and flags of each range.
list() {
	ask -d range-get name=nc
	paste -d ' ' <(value range.start) <(value range.length) <(value range.label) <(value range.flags)
}

# counts LABEL NAME VALUE [NAME VALUE]...: fail unless the label has these counters.
counts() {
	local one
	ask -d label-get name=nc
	one=$(sed -n "/^label.name=$1\$/,/^label\$/p" <<<"$out")
	set -- "$1" "${@:2}"
	while (($# > 1)); do
		grep -qxF -- "label.$2=$3" <<<"$one" || fail "$1: no $2=$3 (line ${BASH_LINENO[0]}) in: $one"
		set -- "$1" "${@:4}"
	done
}

# cached START LENGTH BYTES: fail unless BYTES of this part are cached.
cached() {
	ask residency-get name=nc start="$1" length="$2"
	says cached-bytes "$3"
}

# bring START LENGTH [TRIES]: read a pinned range until it is cached, since a read does not wait for
# a free slot.
bring() {
	local tries
	for ((tries = 0; tries < ${3:-100}; tries++)); do
		check -s $(($1 / 512)) -n $(($2 / 512)) -b 128 >/dev/null
		settle
		ask residency-get name=nc start="$1" length="$2"
		[[ $(value cached-bytes) != "$2" ]] || return 0
	done
	fail "the range was not cached: $out"
}

# pressure: read all of the origin, often enough to evict idle blocks.
pressure() {
	for _ in 1 2 3 4; do
		check -s $((2 * MB / 512)) -b 128 -t 4 >/dev/null
		settle
	done
}

everything() {
	delete flags=0
	is ranges 0
	is blocks_reserved 0
	is blocks_pinned 0
}

# A label counts its reads; a read across two labels counts for each label with its part.
labels() {
	add start=0,length=$((96 << 10)),label=a start=$((96 << 10)),length=$((32 << 10)),label=b \
		start=$((512 << 10)),length=512,label=a
	same "ranges" "$(list | tr '\n' ',')" "0 98304 a 0,98304 32768 b 0,524288 512 a 0,"
	check -n 256 -b 64 >/dev/null
	settle
	counts a ranges 2 bytes $((98304 + 512)) hits 0 misses 3 miss_bytes 98304 origin_bytes 98304
	counts b ranges 1 bytes 32768 misses 1 miss_bytes 32768 origin_bytes 32768
	check -n 256 -b 64 >/dev/null
	counts a hits 3 hit_bytes 98304 misses 3
	counts b hits 1 hit_bytes 32768 misses 1
	ask label-get name=nc
	says count 2
	# Adding a range of a label again keeps the counters; after a delete they start at 0.
	add start=0,length=512,label=a,priority=3
	counts a hits 3
	delete label=a
	says count 3
	add start=0,length=512,label=a
	counts a ranges 1 bytes 512 hits 0 misses 0
	# Of overlapping ranges, the highest priority counts; of equal priorities, the later range.
	add start=0,length=4096,label=low,priority=1 start=0,length=4096,label=high,priority=2
	check -n 8 >/dev/null
	counts high hits 1
	counts low hits 0
	counts a hits 0
	everything
	ask label-get name=nc
	says count 0
}

# Pinned blocks get slots and stay, whatever else is read. A pin that does not fit is refused.
pins() {
	local blocks available
	blocks=$(field blocks)
	ask range-get name=nc
	available=$(value available)
	((available < blocks * 65536 && available > blocks * 65536 * 8 / 10)) || fail "available: $out"
	ask range-add name=nc range="start=0,length=$((available + 512)),label=much,flags=1"
	says error 28
	says needed $((available + 65536))
	is ranges 0
	ask label-get name=nc
	says count 0
	add start=0,length=$((2 * MB)),label=kept,flags=1
	says needed $((2 * MB))
	is blocks_reserved 32
	pressure
	bring 0 $((2 * MB))
	is blocks_pinned 32
	pressure
	cached 0 $((2 * MB)) $((2 * MB))
	above evictions 0
	# In a cache full of other blocks, pin as much as is allowed: all pinned blocks get slots.
	add start=$((2 * MB)),length=$((available - 2 * MB)),label=all,flags=1
	bring 0 "$available"
	is blocks_pinned $((available / 65536))
	# Other blocks get only slots that are free, so reads of pinned data still hit.
	origin_mark
	check -n $((available / 512)) -b 128 >/dev/null
	same "reads of what is pinned" "$(origin_delta)" 0
	# A block that is pinned in part stays as a whole block.
	delete label=all
	delete label=kept,flags=1
	says needed 0
	add start=512,length=512,label=part,flags=1
	is blocks_reserved 1
	is blocks_pinned 1
	everything
	pressure
	check -s $((2 * MB / 512)) >/dev/null
}

# All cached blocks are in use and not idle: a pinned range must get slots nevertheless, at once.
room() {
	pressure
	check -s $((8 * MB / 512)) -b 128 >/dev/null
	cached 0 $((MB / 2)) 0
	add start=0,length=$((MB / 2)),label=kept,flags=1
	# Reads of the pinned range get a few slots at a time.
	bring 0 $((MB / 2)) 10
	is blocks_pinned 8
	everything
}

# A bypassed range must not be cached, except where it is also pinned.
bypassed() {
	dmsetup message nc 0 invalidate all
	add start=0,length=$MB,label=out,flags=2 start=$((128 << 10)),length=4096,label=in,flags=1
	bring $((128 << 10)) 4096
	bring $MB $MB
	check -n 4096 -b 1:300 -a 1 >/dev/null
	settle
	cached 0 $((128 << 10)) 0
	cached $((128 << 10)) 4096 4096
	cached $(((128 << 10) + 4096)) $((MB - (132 << 10))) 0
	cached $MB $MB $MB
	above bypass_range 0
	counts out hits 0 origin_bytes $((MB - 4096))
	delete label=out
	delete label=in
	# Only whole sub-blocks are bypassed; the last sub-block of the origin may be shorter.
	dmsetup message nc 0 invalidate all
	add start=1024,length=8192,label=out,flags=2
	bring 0 4096
	check -n 64 -b 64 >/dev/null
	settle
	cached 4096 4096 0
	cached 8192 4096 4096
	# Blocks that are already cached are still hits.
	add start=0,length=32768,label=out,flags=2
	origin_mark
	check -n 8 >/dev/null
	same "reads" "$(origin_delta)" 0
	everything
}

# Blocks with the flag evict-after-use are evicted first, once they were read.
after_use() {
	local evictions
	dmsetup message nc 0 invalidate all
	add start=0,length=$((3 * MB)),label=once,flags=4
	check -n 6144 -b 128 >/dev/null
	settle
	# Other data fills the rest of the cache, then replaces the blocks read once.
	check -s $((4 * MB / 512)) -b 128 >/dev/null
	settle
	evictions=$(field evictions)
	check -s $((4 * MB / 512)) -b 128 >/dev/null
	settle
	ask residency-get name=nc start=0 length=$((3 * MB))
	(($(value cached-bytes) < 2 * MB)) ||
		fail "used blocks are still cached: $out, $evictions evictions"
	everything
}

# A write does not cache a bypassed range.
written() {
	MODE=writethrough reload || fail "reload"
	dmsetup message nc 0 invalidate all
	add start=0,length=$MB,label=out,flags=2
	bring $MB $MB
	./blockdata write "$NC" -n 4096
	settle
	cached 0 $MB 0
	cached $MB $MB $MB
	check -n 4096 >/dev/null
	everything
	MODE=read-only reload || fail "reload"
}

gone() {
	[[ $(field ranges) == 1 ]]
}

# A range expires after its time, and listeners get an event.
lease() {
	./genl listen 2 "$TMPDIR/listening" >"$TMPDIR/heard" &
	listener=$!
	listening() {
		[[ -e $TMPDIR/listening ]]
	}
	wait_for 10 listening || fail "the listener did not start"
	add start=0,length=512,label=stays start=$MB,length=512,label=goes,flags=1,expires=6
	is ranges 2
	is blocks_reserved 1
	wait_for 40 gone || fail "the range did not expire: $(list)"
	same "what is left" "$(list)" "0 512 stays 0"
	is blocks_reserved 0
	wait $listener || fail "listen"
	grep -qx "event=5" "$TMPDIR/heard" || fail "no event: $(<"$TMPDIR/heard")"
	everything
}

# Many ranges in one request.
many() {
	local begin end
	begin=${EPOCHREALTIME/./}
	add "25000@512,start=0,length=1024,label=many,flags=4" \
		"25000@512,start=$MB,length=1024,label=more" "100@512,start=0,length=512,label=pin,flags=1" \
		"25000@512,start=$((2 * MB)),length=1024,label=many,flags=2" \
		"25000@512,start=$((3 * MB)),length=512,label=many,priority=3"
	end=${EPOCHREALTIME/./}
	echo "$(field ranges) ranges added in $(((end - begin) / 1000)) ms"
	# A search through all ranges for each new one would take hours.
	((end - begin < 180000000 * ${SLOW:-1})) || fail "it took $((end - begin)) us"
	check -n 4096 >/dev/null
	same "dumped" "$(./genl -d range-get name=nc | grep -c '^range.start=')" "$(field ranges)"
	begin=${EPOCHREALTIME/./}
	delete label=many label=more label=pin
	end=${EPOCHREALTIME/./}
	echo "deleted in $(((end - begin) / 1000)) ms"
	is ranges 0
}

bad_input() {
	local n labels=()
	add start=0,length=512,label=there
	refused EINVAL '1 to 262144 ranges' range-add name=nc
	refused EINVAL 'needs start and length (range)' range-add name=nc range=start=0,label=x
	refused EINVAL 'needs a label (range)' range-add name=nc range=start=0,length=512
	refused EINVAL 'must not be empty (label)' range-add name=nc range=start=0,length=512,label=
	refused ERANGE 'start must be' range-add name=nc range=start=1,length=512,label=x
	refused ERANGE 'length must be' range-add name=nc range=start=0,length=511,label=x
	refused ERANGE 'start must be' range-add name=nc range=start=$((16 * MB)),length=512,label=x
	refused ERANGE 'length must be' range-add name=nc range=start=512,length=$((16 * MB)),label=x
	refused ERANGE 'length must be' range-add name=nc range=start=512,length=$(((1 << 63) - 512)),label=x
	refused ERANGE '(length)' range-add name=nc range=start=0,length=0,label=x
	refused EINVAL '(flags)' range-add name=nc range=start=0,length=512,label=x,flags=8
	refused ERANGE '(priority)' range-add name=nc range=start=0,length=512,label=x,priority=8
	refused EINVAL '(label)' range-add name=nc range=start=0,length=512,label="$(printf '%0129d' 0)"
	refused ELOOP 'More than 16' range-add name=nc range=17@0,start=0,length=512,label=x
	refused EINVAL '1 to 1024' range-delete name=nc
	refused EINVAL '1 to 1024' range-delete name=nc range=1025@0,start=0,length=512,label=x
	refused EINVAL 'cannot be selected by priority' range-delete name=nc range=priority=1
	refused ENODEV '' range-get name=none
	refused ENODEV '' -d label-get name=none
	refused EPERM '' -u 1000 range-add name=nc range=start=0,length=512,label=x
	refused EPERM '' -u 1000 range-delete name=nc range=start=0
	refused EPERM '' -u 1000 range-get name=nc
	refused EPERM '' -u 1000 -d range-get name=nc
	refused EPERM '' -u 1000 -d label-get name=nc
	refused EPERM 'CAP_SYS_ADMIN' -s range-add name=nc range=start=0,length=512,label=x
	# A request with one wrong range, the last, must change nothing.
	refused ERANGE 'start must be' range-add name=nc range=9@512,start=0,length=512,label=y \
		range=start=$((16 * MB)),length=512,label=z
	delete label=none
	says count 0
	same "ranges" "$(list)" "0 512 there 0"
	ask label-get name=nc
	says count 1
	for ((n = 1; n < 4095; n++)); do
		labels+=("range=start=$((n * 512)),length=512,label=l$n")
	done
	ask range-add name=nc "${labels[@]}"
	says error 0
	ask -d label-get name=nc
	same "labels" "$(value label.name | sort -u | wc -l)" 4095
	refused EMLINK '4095 labels' range-add name=nc range=start=0,length=512,label=more
	add start=0,length=512,label=l7
	everything
	dmsetup suspend nc
	refused EBUSY 'resume it first' range-add name=nc range=start=0,length=512,label=x
	dmsetup resume nc
}

# Ranges are added and deleted while readers run; a block that stays pinned must stay cached.
racing() {
	local i
	add start=0,length=$MB,label=kept,flags=1
	check -n 2048 -b 128 >/dev/null
	settle
	verify_begin -b 1:256 -a 1 -r 400 -t 2
	for ((i = 0; i < $(times 8); i++)); do
		add "64@65536,start=$((2 * MB + i * 4096)),length=65536,label=a,flags=$((i % 8))" \
			"16@4096,start=$((i * 512)),length=2048,label=b,flags=$((i % 8 & 6))"
		((i % 5)) || { reload || fail "reload"; }
		delete label=a label=b
	done
	verify_end >/dev/null
	settle
	same "ranges" "$(list)" "0 $MB kept 1"
	cached 0 $MB $MB
	is blocks_pinned 16
	is blocks_reserved 16
	# A reload keeps the ranges; a new cache starts without.
	reload || fail "reload"
	is blocks_pinned 16
	stop
	start
	is ranges 0
	is blocks_pinned 0
	add start=0,length=$MB,label=kept,flags=1
	is blocks_pinned 16
	everything
}

fresh 16 9
labels
pins
room
bypassed
after_use
written
lease
many
bad_input
racing
check
