#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Files that other users read must have mode 0644 under the umask 077 of a hardened root shell: the
# file for node_exporter, heat maps, the record of the daemon's actions. An existing file keeps its
# owner and mode. The record of pins is only for root.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh
. ./daemon_on.sh

# is_mode MODE OWNER FILE: fail unless the file has this mode and owner.
is_mode() {
	same "mode and owner of $3" "$(stat -c '%a %u' "$3")" "$1 $2"
}

umask 077
make_null O origin 64
make_null C local 80
at_exit dm_gone nc
good create nc --origin "$O" --cache "$C" --block-size 64K --force
good metrics --textfile "$TMPDIR/x.prom"
is_mode 644 0 "$TMPDIR/x.prom"
good heatmap nc --count 1 -o "$TMPDIR/map.svg"
is_mode 644 0 "$TMPDIR/map.svg"

chmod 640 "$TMPDIR/x.prom"
chown 1234:1235 "$TMPDIR/x.prom"
good metrics --textfile "$TMPDIR/x.prom"
is_mode 640 1234 "$TMPDIR/x.prom"
same "its group" "$(stat -c %g "$TMPDIR/x.prom")" 1235

at_exit rm -f /var/lib/nearcache/pins/nc.json
good pin nc 0-1M --no-load
is_mode 600 0 /var/lib/nearcache/pins/nc.json

# The daemon records at its start that it would set a window.
rm -rf /run/nearcache
echo 'window = 16M' >"$TMPDIR/conf"
others 0
at_exit others 1
at_exit run classifier unload
at_exit run latency unload
at_exit no_daemon
daemon_begin --config "$TMPDIR/conf" --observe
recorded() {
	[[ -s /run/nearcache/actions ]]
}
wait_for 60 recorded || fail "no action: $(<"$LOG")"
is_mode 644 0 /run/nearcache/actions
is_mode 755 0 /run/nearcache
daemon_end
