#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# While 'nearcache upgrade' replaces the module, a read or a write may wait at most 100 ms longer than
# a load of its table takes. A reader and a writer go on meanwhile, each with a file system.
#
# In virtual time the result does not depend on the load of this machine: each instruction takes 1 ns
# on the only processor. This is a third of the speed of a server core, so all times are three times
# as long: the limit is 300 ms, origins of 0.2 ms have 0.6 ms, cache devices of 0.08 ms 0.24 ms.
# when: soak
# kernels: 6.12
# timeout: 600
set -euo pipefail

cat >"$HOST_DIR/measure.sh" <<'END'
insmod "$MODULE"
DELAY=600000
LIMIT=300000
SUMS=0
upgrade_devices ext4 64

# table_load NAME: print the microseconds from the load of the device's table to its start.
table_load() {
	local line begin end
	line=$(dmsetup table "$1")
	sync
	begin=$EPOCHREALTIME
	dmsetup load "$1" --table "$line" && dmsetup resume "$1" || fail "load"
	end=$EPOCHREALTIME
	echo $((${end/./} - ${begin/./}))
}

loads=
for name in nc wr nc wr; do
	loads+=" $(table_load $name)"
done
echo "load of the table of nc, wr, nc, wr, us:$loads"
load=$(tr ' ' '\n' <<<"$loads" | sort -n | tail -1)
load_begin
for ((i = 0; i < 5; i++)); do
	swapped
done
load_end
for name in nc wr; do
	((stalls[$name] <= LIMIT + load)) || slow+=" $name: ${stalls[$name]} us"
done
[[ ! ${slow:-} ]] || fail "limit $((LIMIT + load)) us:$slow"
END

"$TOP/tests/vm/run" --kernel "$KERNEL" --virtual-time --timeout 580 \
	--payload "$BUILD/selftests/nearcache:/selftests" --payload "$HOST_DIR:/boot" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp SOAK=${SOAK:-} && . ./cache.sh && . ./command.sh && . ./upgrading.sh && . /boot/measure.sh"
