#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# when: soak
# nearcache daemon with pin-hot must pin the region that is read most, keep this pin over a restart,
# and remove it when the region is read no more than others.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh
. ./daemon_on.sh

CONF=$TMPDIR/conf
REGION=32768

# read_region NUMBER [SECTORS]: read the region, or its first SECTORS.
read_region() {
	check -b 64 -s $(($1 * REGION)) -n "${2:-$REGION}" >/dev/null
}

# hot: read one of ten regions completely, and little of the others.
hot() {
	local i
	for ((i = 0; i < 10; i++)); do
		read_region $i $((i == 2 ? REGION : 64))
	done
	said "^nc: pin none -> at 32 MiB: it saved [0-9.]+ [MG]iB recently, the mean region "
}

# cool: read all regions except the hot one.
cool() {
	local i
	for ((i = 0; i < 10; i++)); do
		read_region $i $((i == 2 ? 64 : REGION / 4))
	done
	said '^nc: pin at 32 MiB -> none: '
}

# pinned START: has the daemon pinned the 16 MiB from START and nothing else?
pinned() {
	good ranges nc -j
	expect start "$1" length 16777216 wants pin label nearcache-hot
}

unpinned() {
	good ranges nc -j
	[[ $out != *'"start"'* ]] || fail "still pinned: $out"
}

make_null O origin 160
make_null C local 200
others 0
at_exit others 1
at_exit dm_gone nc
at_exit rm -f /var/lib/nearcache/pins/nc.json
at_exit run classifier unload
at_exit run latency unload
at_exit run heat unload
at_exit no_daemon
./blockdata write "$O"
good create nc --origin "$O" --cache "$C" --block-size 64K
printf '%s\n' 'interval = 1' 'pin-hot = 20%' 'hold = 1' >"$CONF"

daemon_begin --config "$CONF" --observe
wait_for 90 hot || fail "no message: $(<"$LOG")"
unpinned
daemon_end
daemon_begin --config "$CONF"
wait_for 90 hot || fail "nothing is pinned: $(<"$LOG")"
pinned $((32 << 20))
daemon_end
pinned $((32 << 20))
daemon_begin --config "$CONF"
wait_for 120 cool || fail "it stays pinned: $(<"$LOG")"
unpinned
daemon_end
id=$(sed -nE 's/.*pin at 32 MiB -> none: .*\(action ([0-9]+), done\)/\1/p' "$LOG")
good actions --revert "$id"
pinned $((32 << 20))
