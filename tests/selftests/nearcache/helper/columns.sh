#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Tables with chosen columns, without heading and for programs: list, jobs, ranges, residency, stats and the
# maps of BPF programs. The values of --raw are those of JSON.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

# all_columns WORDS...: the heading of the table has the default columns of the help, and each further column
# of the help is accepted.
all_columns() {
	local default more
	default=$(nearcache help "$1" | sed -nE "/^Columns${with:-}/,/^\$/s/^  ([A-Z].*)  .*/\1/p" | awk '{ print $1 }')
	more=$(nearcache help "$1" | sed -nE "/^More columns for -o${with:-}:/,/^\$/s/^  ([A-Z].*)  .*/\1/p" | awk '{ print $1 }')
	good "$@" --raw
	same "columns of $*" "$(head -n 1 <<<"$out" | tr ' ' '\n')" "$default"
	good "$@" -o "$(paste -sd , <<<"$default${more:+$'\n'$more}")" --noheadings
	bad 1 "it is not a column of '$1'; its columns are ${default%%$'\n'*}" "$@" -o nosuch
}

make_null O origin 64
make_null C local 80
at_exit dm_gone nc
at_exit rm -f /var/lib/nearcache/pins/nc.json
./blockdata write "$O"
good create nc --origin "$O" --cache "$C" --block-size 64K
good pin nc 0+1M --label 'a b' --priority 3 --wait
good prefetch nc 8M+1M --label train --wait
./blockdata read /dev/mapper/nc -b 128 >/dev/null || fail "read"

all_columns list
all_columns jobs nc
with=' without --labels' all_columns ranges nc
with=' with --labels' all_columns ranges nc --labels
all_columns residency nc 0+1M
all_columns stats --watch --count 1 --interval 0.1
good list -j
uuid=$(json uuid)
size=$(json size)
valid=$(json bytes_valid)
good list -o uuid,NAME,Size,valid --raw --noheadings
same "list --raw" "$out" "$uuid nc $size $valid"
good ranges nc --raw --noheadings -o start,length,wants,priority,label
same "ranges --raw" "$out" '0 1048576 pin 3 a\x20b'
good jobs nc -o label,done --noheadings --raw
same "jobs --raw" "$out" $'a\\x20b 1\ntrain 1'
good residency nc 0+1M -o ratio,cached --noheadings
same "residency" "$(tr -d ' ' <<<"$out")" "100.0%1MiB"
bad 1 'go with TARGETs' residency nc --raw
bad 1 'go with --watch' stats nc --raw
run list -j --raw
[[ $rc == 1 && $out == *'leave out --columns, --noheadings and --raw'* ]] || fail "list -j --raw: exit $rc, $out"
bad 1 "'--raw' is not an option of 'status'" status --raw
bad 1 'leave out --all' list --all -o name
good close nc
