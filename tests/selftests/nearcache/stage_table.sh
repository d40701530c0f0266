#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Invalid table lines and messages are refused, and the kernel log names the bad value. A line that the
# target prints reloads to itself. Two stages share neither log nor origin.
# kernels: 6.12
# cpus: 1
. ./stage.sh

# refused TEXT TABLE [dmsetup options]: fail if the table is accepted, or the kernel log lacks TEXT.
refused() {
	log_mark
	! dmsetup create --noudevsync "${@:3}" bad --table "$2" 2>/dev/null || {
		dm_gone bad
		fail "accepted: $2"
	}
	log_since | grep -qF -- "$1" || fail "'$1' is not in the kernel log: $(log_since)"
}

# refused_message TEXT MESSAGE...
refused_message() {
	log_mark
	! dmsetup message st 0 "${@:2}" 2>/dev/null || fail "accepted: ${*:2}"
	log_since | grep -qF -- "$1" || fail "'$1' is not in the kernel log: $(log_since)"
}

third='' short=''
make_null O origin 8
make_null L log 20
make_null third third 20
s=$(sectors "$O")
base="0 $s nearcache-stage $L $O"
refused 'No log of nearcache-stage' "$base"
./stage_format "$L" "$s"
refused 'Expected: log, origin' "0 $s nearcache-stage $L"
refused "'/dev/none': Cannot open the log" "0 $s nearcache-stage /dev/none $O"
refused "'/dev/none': Cannot open the origin" "0 $s nearcache-stage $L /dev/none"
refused 'Log and origin are one device' "0 $(sectors "$L") nearcache-stage $L $L"
refused 'must cover the whole origin' "0 $((s - 8)) nearcache-stage $L $O"
refused 'cannot be read-only' "$base" -r
refused "'x': Number of option words" "$base x"
refused "'2': Number of option words" "$base 2 rate"
refused "'1': Number of option words" "$base 1 rate"
refused "'speed': Unknown option" "$base 2 speed 1"
refused "'rate': Option given twice" "$base 4 rate 0 rate 0"
for bad in 1 65535 1099511627777 -1 1k; do
	refused "'$bad': rate must be" "$base 2 rate $bad"
done
refused "'1048575': max_behind must be" "$base 2 max_behind 1048575"
refused "'86401': max_behind_time must be" "$base 2 max_behind_time 86401"
refused "'86401': origin_timeout must be" "$base 2 origin_timeout 86401"
refused "'1048575': map_memory must be" "$base 2 map_memory 1048575"
./stage_format "$third" $((s + 8))
refused 'Log is for a larger origin' "0 $s nearcache-stage $third $O"
make_dm short short "0 $((17 * 2048)) linear $third 0"
./stage_format "$third" "$s"
refused 'Log device is smaller than its superblock says' "0 $s nearcache-stage $short $O"
dm_remove short

at_exit stage_stop
stage_start 'rate 65536 max_behind 1048576 max_behind_time 86400 map_memory 1048576'
line=$(dmsetup table st)
same table "$line" "0 $s nearcache-stage $(number "$L") $(number "$O") 8 rate 65536 \
max_behind 1048576 max_behind_time 86400 map_memory 1048576"
dmsetup load st --table "$line" && dmsetup resume st || fail "the printed line does not reload"
same table "$(dmsetup table st)" "$line"
refused_message "'5': rate must be" set rate 5
refused_message "'map_memory': Option can only be given in the table" set map_memory 1048576
refused_message "'speed': Unknown option" set speed 1
refused_message "'now': Expected: commit" now
dmsetup message st 0 set max_behind 0 && dmsetup message st 0 set rate 0 || fail "set"
[[ $(dmsetup table st) == *' 4 max_behind_time 86400 map_memory 1048576' ]] || fail "$(dmsetup table st)"
for pair in "$L $third" "$third $O"; do
	[[ $pair == "$L"* ]] && size=$(sectors "$third") || size=$s
	! dmsetup create --noudevsync bad --table "0 $size nearcache-stage $pair" 2>/dev/null ||
		fail "a second stage uses $pair"
done
