#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# One of several members fails while data is read and written. No reader or writer may get an error,
# the whole cache must be bypassed, and the log must name the member. A reload takes all members
# back: warm if nothing was written during the bypass, otherwise empty.
# kernels: 6.12
# cpus: 1
. ./several.sh

# lies WHICH error|linear: let member number WHICH fail, or work again.
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

# lose WHICH: let the member fail while readers run.
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
	# Nothing is written, so the slot table on the medium stays right: a reload is warm.
	start
	check
	settle
	written_down
	dmesg -c >/dev/null
	lose $which
	# One member still fails, so after a reload the cache stays in bypass.
	reload "$OPTIONS" || fail "reload with a device that still fails"
	is state 1
	lies $which linear
	reload "$OPTIONS" || fail "reload"
	is state 0
	is blocks_warm 64
	warm
	stop
	# The origin is written while the member fails: a reload is empty.
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
