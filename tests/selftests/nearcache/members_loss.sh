#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# One of several cache devices fails while data is read and written: no error reaches anybody, the
# cache is bypassed as a whole, and the log says which device it was. A new table takes all of
# them back: warm if nothing was written meanwhile, else empty.
# kernels: 6.12
# cpus: 1
. ./several.sh

# lies WHICH ERROR|LINEAR: what is under that device now.
lies() {
	local size under=${below[$1]}
	size=$(sectors "$under")
	if [[ $2 == error ]]; then
		echo "0 $size error"
	else
		echo "0 $size linear $under 0"
	fi >"$TMPDIR/table"
	dmsetup load --noudevsync "slice$1" "$TMPDIR/table" &&
		dmsetup resume --noudevsync "slice$1" || fail "slice$1 becomes $2"
}

bypassed() {
	check -b 8 -g "$generation" >/dev/null
	[[ $(field state) == 1 ]]
}

# lose WHICH: while somebody reads.
lose() {
	verify_begin -b 8 -a 1 -t 2 -g "$generation"
	lies "$1" error
	wait_for 30 bypassed || fail "not bypassed without device $1"
	verify_end
	dmesg | grep -q "cache device $(number "${members[$1]}") is bypassed" || fail "the log does not name device $1"
}

make_null O origin 4
several 4 4 4
below=("${members[@]}")
members=()
for i in 0 1 2; do
	make_dm device "slice$i" "0 $(sectors "${below[i]}") linear ${below[i]} 0"
	members+=("$device")
done
C=${members[0]}
behind "${members[@]:1}"
for which in 0 1 2; do
	generation=1
	./blockdata write "$O"
	format_several
	# Nothing is written: what the medium says stays true.
	start
	check
	settle
	written_down
	dmesg -c >/dev/null
	lose $which
	# It is no better: the others do not help.
	reload "$OPTIONS" || fail "reload of what still fails"
	is state 1
	lies $which linear
	reload "$OPTIONS" || fail "reload"
	is state 0
	is blocks_warm 64
	warm
	stop
	# Written while it is away.
	for MODE in writearound writethrough; do
		start
		is blocks_warm 64
		dmesg -c >/dev/null
		lose $which
		generation=$((generation + 1))
		./blockdata write /dev/mapper/nc -g $generation || fail "write in $MODE without device $which"
		check -g $generation
		lies $which linear
		reload "$OPTIONS" || fail "reload in $MODE"
		is state 0
		is blocks_warm 0
		check -g $generation
		settle
		check -g $generation
		stop
	done
	unset MODE
done
