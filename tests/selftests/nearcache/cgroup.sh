#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# I/O accounting and limits of control groups. A writethrough write to the origin is charged to
# its writer's group; a fill is charged to no group, because it serves all readers. A limit of a
# group on origin or cache device slows this group down and blocks no other reader or writer.
# kernels: 6.1
# cpus: 1
. ./cache.sh

# bytes FIELD DEV: print FIELD of DEV in the io.stat of the group.
bytes() {
	awk -v dev="$(number "$2")" -v field="$1=" '
		$1 == dev { for (i = 2; i <= NF; i++) if (index($i, field) == 1) n = substr($i, length(field) + 1) }
		END { print n + 0 }' "$job/io.stat"
}

make_group job '+io +memory'
make_null O origin 16
make_null C local 24
./blockdata write "$O"
format
MODE=writethrough start

in_group "$job" ./blockdata read /dev/mapper/nc -n 4096 >/dev/null
settle
above fill_origin_bytes 0
same "bytes of fills" "$(bytes rbytes "$O")" 0
same "bytes of fills" "$(bytes wbytes "$C")" 0

in_group "$job" ./blockdata write /dev/mapper/nc -g 2 -n 2048
settle
is update_bytes $((2048 * 512))
same "bytes written" "$(bytes wbytes "$O")" $((2048 * 512))

for limited in "$O" "$C"; do
	echo "$(number "$limited") rbps=4194304 wbps=4194304" >"$job/io.max" || fail "io.max"
	in_group "$job" ./blockdata write /dev/mapper/nc -g 3 -s 8192 -n 2048
	in_group "$job" ./blockdata read /dev/mapper/nc -g 3 -s 8192 -n 2048 >/dev/null
	dmsetup message nc 0 invalidate all
	in_group "$job" ./blockdata read /dev/mapper/nc -g 3 -s 8192 -n 2048 >/dev/null
	echo "$(number "$limited") rbps=max wbps=max" >"$job/io.max"
done
check -s 16384
settle
is state 0
is write_errors 0
