#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The target constructor refuses each bad table line, the kernel log names the bad value, and no
# device stays open. In the lines below, @C stands for the cache device and @O for the origin.
# kernels: 6.1
# cpus: 1
. ./cache.sh

refusals=0
# refused TEXT WORDS...: the constructor refuses this target line; the kernel log contains TEXT.
refused() {
	no_table "$1" "0 $S nearcache ${*:2}"
}

# no_table TEXT TABLE: the kernel refuses the whole table; the kernel log contains TEXT.
no_table() {
	local says=${1//@O/$O} table=${2//@O/$O}
	table=${table//@C/$C}
	refusals=$((refusals + 1))
	log_mark
	if dmsetup create --noudevsync bad --table "$table" 2>/dev/null; then
		dmsetup remove --noudevsync bad
		fail "accepted: $table"
	fi
	said=$(log_since)
	[[ $said == *"$says"* ]] || fail "'$says' is not in the log of '$table': $said"
	[[ ! $said =~ 'call missing'|'not in table' ]] || fail "'$table': $said"
	closed
}

# closed: fail if a process or the kernel still holds a device open, or the module is in use.
closed() {
	local dev
	for dev in "$O" "$C"; do
		# An exclusive open fails while another holder exists.
		./blockdata exclusive "$dev" || fail "$dev is still held"
	done
	[[ $(</sys/module/dm_nearcache/refcnt) == 0 ]] || fail "the module is still held"
}

make_null O origin 8
make_null C local 16
make_null E empty 16
./blockdata write "$O"
S=$(sectors "$O")
refused 'not a nearcache device' read-only @O @C
format

refused 'Expected'
refused read-only read-only
refused 'Expected' read-only @O
refused writeback writeback @O @C
refused READ-ONLY READ-ONLY @O @C
refused /dev/nothing read-only /dev/nothing @C
refused /dev/nothing read-only @O /dev/nothing
refused 250:99 read-only 250:99 @C
refused /proc/version read-only /proc/version @C
refused /dev/null read-only @O /dev/null
refused 'are the same device' read-only @C @C
refused 'are the same device' read-only "$(number "$C")" @C
refused 'not a nearcache device' read-only @O "$E"
refused "'x'" read-only @O @C x
refused "'-1'" read-only @O @C -1
refused "'1'" read-only @O @C 1
refused "'2'" read-only @O @C 2 fill_memory
refused "'1'" read-only @O @C 1 fill_memory
refused "'0'" read-only @O @C 0 fill_memory 1048576
refused "'4'" read-only @O @C 4 fill_memory 1048576
refused "'99999999999'" read-only @O @C 99999999999 fill_memory 1048576
refused "'memory'" read-only @O @C 2 memory 1048576
refused "'fill_memory'" read-only @O @C 4 fill_memory 1048576 fill_memory 1048576
for value in 1048575 0 -1 1099511627777 18446744073709551616 1M 0x100000 many; do
	refused "'$value'" read-only @O @C 2 fill_memory $value
done
for length in $((S - 8)) $((S - 1)) $((S + 8)) 8; do
	no_table 'nearcache' "0 $length nearcache read-only @O @C"
done
no_table 'Gap' "8 $((S - 8)) nearcache read-only @O @C"
# The target must be the only one of its table: with a second target the table is refused.
no_table 'must appear alone' "0 $S nearcache read-only @O @C
$S 8 linear $E 0"
no_table 'must appear alone' "0 8 linear $E 0
8 $S nearcache read-only @O @C"
make_null smaller smaller 4
no_table 'origin_size' "0 $(sectors "$smaller") nearcache read-only $smaller @C"
no_table 'origin_size' "0 $S nearcache read-only $smaller @C"
# On an origin that has grown, a table may have the old or the new size; a longer one is refused.
make_null larger larger 12
no_table 'table covers' "0 $((S + 8)) nearcache read-only $larger @C"
for mode in writearound writethrough; do
	refused "'x'" $mode @O @C x
done
# A writing mode is refused in a read-only table, on a read-only device and on a zoned device.
log_mark
if ! echo "0 $S nearcache writearound $O $C" | dmsetup create --readonly nc 2>/dev/null; then
	log_since | grep -q "'writearound': A table loaded read-only" || fail "refused without a reason"
else
	fail "a writing mode in a read-only table"
fi
blockdev --setro "$O"
refused 'use mode read-only' writearound @O @C
blockdev --setrw "$O"
# After all refusals a valid line still works: the devices were not left claimed.
start
check
echo "$refusals lines refused"
