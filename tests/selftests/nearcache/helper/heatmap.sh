#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache heatmap: after reads of half of a device, it must show this half as cached and hot, and
# a file by the reads of its extents; as JSON, as lines, and as a picture, which must be written as
# a whole or not at all.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

NC=/dev/mapper/nc
M=$TMPDIR/mnt
SVG=$TMPDIR/map.svg
MB=$((1 << 20))
HALF=$((32 * MB))

# lines KEY [JSON]: print the values of KEY in JSON, by default the last output, one per line.
lines() {
	tr ',{}[]' '\n' <<<"${2-$out}" | sed -nE "s/^ *\"$1\":\"?([^\"]*)\"?\$/\1/p"
}

# total KEY [FROM TO]: print the sum of values number FROM to TO.
total() {
	lines "$1" | awk -v from="${2:-1}" -v to="${3:-999999}" \
		'NR >= from && NR <= to { n += $1 } END { printf "%.0f\n", n + 0 }'
}

# reads_of_heat: print the number of reads that 'heat' has counted.
reads_of_heat() {
	nearcache heat show -j | sed -n 's/^ *"reads": \([0-9]*\),$/\1/p' | awk '{ n += $1 } END { print n + 0 }'
}

left_behind() {
	[[ ! -e $SVG && ! -e $SVG.new ]] || fail "left behind: $(ls "$TMPDIR")"
}

bad_input() {
	bad 1 'needs NAME' heatmap
	bad 4 "no device 'nobody'" heatmap nobody -o "$SVG"
	bad 1 "--interval '0.05': give 0.1 to 86400 seconds" heatmap nc --interval 0.05
	bad 1 "--interval '86401'" heatmap nc --interval 86401
	bad 1 "--count '0': give 1 to 4294967295" heatmap nc --count 0
	bad 1 "--count '4294967296'" heatmap nc --count 4294967296
	bad 1 '--output needs a value' heatmap nc -o
	bad 1 "'' is not a file" heatmap nc --count 1 -o ''
	bad 4 "cannot write '$TMPDIR/none/map.svg.new'" heatmap nc -o "$TMPDIR/none/map.svg"
	bad 4 "'/dev/null' is not a regular file" heatmap nc -o /dev/null
	bad 4 "'$TMPDIR' is not a regular file" heatmap nc -o "$TMPDIR"
	bad 4 "'none': No such file" heatmap nc none --count 1 -o "$SVG"
	bad 4 "beyond the end of the device" heatmap nc 64M+512 --count 1 -o "$SVG"
	left_behind
	good heatmap nc --count 1 -o "$SVG" --dry-run
	left_behind
}

# Without the program "heat", the heatmap must show residency and a hint how to get reads.
not_counted() {
	good heatmap nc --count 1
	[[ $out == *"'nearcache heat load'"* && $out == *cached* ]] || fail "no hint: $out"
	same "line" "$(tail -n 1 <<<"$out")" "      0.0 s |$(printf '.%.0s' {1..66})|"
	good heatmap nc --count 1 -j
	[[ $out == *'"counted":false'* && $out != *'"reads"'* ]] || fail "reads: $out"
	good heatmap nc --count 1 -jo "$SVG"
	expect name nc file "$SVG" rows 1 counted false
	valid
	! grep -q 'reads of a cell' "$SVG" || fail "reads in the picture"
	rm "$SVG"
}

# valid: fail unless the picture is complete, and valid XML if xmllint is installed.
valid() {
	[[ $(head -c 5 "$SVG") == '<?xml' && $(tail -n 1 "$SVG") == '</svg>' ]] || fail "no SVG: $(head -c 500 "$SVG")"
	! type -P xmllint >/dev/null || xmllint --nonet --noout "$SVG" || fail "xmllint"
	[[ ! -e $SVG.new ]] || fail "$SVG.new is left"
}

# Read the first half, first as misses and then as hits.
half() {
	good heat load
	check -s 0 -n $((HALF / 512)) -b 128 >/dev/null
	settle
	check -s 0 -n $((HALF / 512)) -b 128 >/dev/null
	good heatmap nc --count 1 -j
	[[ $(wc -l <<<"$out") == 1 && $out == '{"schema":1,"name":"nc",'* ]] || fail "JSON: $out"
	same "cells" "$(lines start | wc -l)" 64
	same "length of cells" "$(lines length | sort -u)" "$MB"
	# The first value is the sum for the device.
	same "cached" "$(lines cached_bytes | head -n 1)" "$HALF"
	same "cached in the first half" "$(total cached_bytes 2 33)" "$HALF"
	same "cached in the second half" "$(total cached_bytes 34)" 0
	same "reads of the first half" "$(total reads 1 32)" "$(reads_of_heat)"
	same "reads of the second half" "$(total reads 33)" 0
	(($(total reads) > 600)) || fail "reads: $(total reads)"
	drawn
}

blocks() {
	good heatmap nc --count 1
	[[ $(tail -n 1 <<<"$out") == *'█▒·'* ]] || fail "no blocks: $out"
}

# The same as text, with blocks and without.
drawn() {
	local rows
	good heatmap nc --count 1
	same "line" "$(tail -n 1 <<<"$out")" \
		"      0.0 s |###############+...............| |++++++++++++++++...............|"
	# Draw with block characters if the guest has a UTF-8 locale.
	[[ ! -e /usr/lib/locale/C.utf8 ]] || LC_ALL=C.UTF-8 blocks
	good heatmap nc --count 1 --output "$SVG"
	[[ $out == *picture*"$SVG"* ]] || fail "picture: $out"
	valid
	# The left half must be fully cached, and read more often than a quarter of the legend's highest
	# number, a power of two: cells have one of the two darkest colours, or none.
	grep -q '<path fill="#440154" d="M0 0h250v1h-250z"/>' "$SVG" || fail "the left half is not cached"
	rows=$(grep -cE '<path fill="#(440154|472d7b)" d="M' "$SVG") || true
	((rows >= 2)) || fail "dark parts: $rows, expected two or more"
	! grep -E '<path fill="#(fde725|addc30|5ec962|28ae80|21918c|2c728e|3b528b)" d="M' "$SVG" || fail "pale cells"
	grep -q '<title>nearcache nc</title>' "$SVG" || fail "no title"
	grep -q '>64 MiB</text>' "$SVG" || fail "no scale"
	grep -q '>reads of a cell' "$SVG" || fail "no reads"
}

# The heatmap of a file, first fully cached, then not cached, and its reads since then.
files() {
	good close nc
	mkfs.ext4 -qF -b 4096 -O ^has_journal -E nodiscard "$O" 2>/dev/null || fail "mkfs.ext4"
	mount "$O" "$M" || fail "mount"
	head -c 4m /dev/urandom >"$M/a<&>.bin"
	head -c 2m /dev/urandom >"$M/b.bin"
	umount "$M"
	good create nc --origin "$O" --cache "$C" --block-size 64K --force
	mount -o ro "$NC" "$M" || fail "mount"
	dd if="$M/a<&>.bin" of=/dev/null bs=64K iflag=direct 2>/dev/null || fail "cannot read"
	settle
	good heatmap nc "$M/a<&>.bin" "$M/b.bin" 0-1M --count 1 -j
	same "names" "$(lines name | tail -n +2 | paste -sd,)" "$M/a<&>.bin,$M/b.bin,0-1M"
	same "bytes" "$(lines bytes | paste -sd,)" "$((4 * MB)),$((2 * MB)),$MB"
	same "cells" "$(lines start | wc -l)" 192
	same "cached of the first" "$(lines cached_bytes | head -n 1)" $((4 * MB))
	same "in its cells" "$(total cached_bytes 2 65)" $((4 * MB))
	same "cached of the second" "$(total cached_bytes 66 130)" 0
	good heatmap nc "$M"/*.bin --count 1 -o "$SVG"
	valid
	grep -q "$M/a&lt;&amp;&gt;.bin</text>" "$SVG" || fail "no name in the picture"
	good heatmap nc "$M"/*.bin --count 1
	[[ $out == *"   1       4 MiB  $M/a<&>.bin"* && $(tail -n 1 <<<"$out") == *'   2 |....'* ]] || fail "lines: $out"
	umount "$M"
}

samples() {
	(($(grep -c '"elapsed_ns"' "$TMPDIR/live") >= $1))
}

# Each sample counts the reads since the previous one; ^C ends the command.
live() {
	local before pid after
	before=$(reads_of_heat)
	nearcache heatmap nc -j --interval 0.1 >"$TMPDIR/live" &
	pid=$!
	at_exit eval "! kill $pid 2>/dev/null || true"
	wait_for 60 samples 1 || fail "no sample: $(<"$TMPDIR/live")"
	check -s 65536 -n 16384 -b 128 >/dev/null
	after=$(grep -c '"elapsed_ns"' "$TMPDIR/live")
	wait_for 60 samples $((after + 2)) || fail "no samples: $(<"$TMPDIR/live")"
	kill -TERM "$pid"
	wait "$pid" || fail "ended: $?"
	out=$(<"$TMPDIR/live")
	same "reads" "$(total reads)" $(($(reads_of_heat) - before))
	(($(total reads) > 100)) || fail "reads: $(total reads)"
	out=$(head -n 1 "$TMPDIR/live")
	same "reads of the first sample" "$(total reads)" 0
	good heatmap nc --count 3 --interval 0.1 -j
	same "samples" "$(wc -l <<<"$out")" 3
	same "time" "$(lines elapsed_ns | tail -n 1)" "$(total span_ns)"
}

# At ^C the command must write a picture of the samples so far; until then the old picture stays.
stopped() {
	local pid
	echo old >"$SVG"
	nearcache heatmap nc --interval 86400 -o "$SVG" >"$TMPDIR/said" &
	pid=$!
	at_exit eval "! kill $pid 2>/dev/null || true"
	waits() {
		[[ $(<"/proc/$pid/wchan") == *sigtimedwait* ]]
	}
	wait_for 60 waits || fail "it does not wait: $(<"/proc/$pid/wchan")"
	same "the old one" "$(<"$SVG")" old
	kill -TERM "$pid"
	wait "$pid" || fail "ended: $? $(<"$TMPDIR/said")"
	valid
	grep -q 'samples: 1, rows: 1<' "$SVG" || fail "samples: $(grep samples "$SVG")"
}

type -P nearcache >/dev/null || skip "the nearcache command is not built"
mkdir "$M"
make_null O origin 64
make_null C local 96
# One processor only, because the test loads a program (see "others" in common.sh).
others 0
at_exit others 1
at_exit dm_gone nc
at_exit eval "! grep -q ' $M ' /proc/mounts || umount $M"
at_exit run heat unload
./blockdata write "$O"
good create nc --origin "$O" --cache "$C" --block-size 64K
bad_input
not_counted
half
live
stopped
files
