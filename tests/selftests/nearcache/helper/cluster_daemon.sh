#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The daemon connects a node that was absent, connects one again that was refused for a while, and
# applies a change of cluster.conf. It says each state once.
# kernels: 6.12
# when: soak
# cpus: 1
. ./joining.sh
. ./daemon_on.sh

at_exit rm -f /run/nearcache/actions
at_exit others 1
at_exit run classifier unload
at_exit run latency unload
at_exit others 0
at_exit no_daemon
make_null O origin 16
./blockdata write "$O"
conf a:4421 b:4422
node_cache a
node_cache b
joins a
same "state of b" "$(state a b)" absent
echo "interval = 5m" >"$TMPDIR/daemon"
daemon_on --config "$TMPDIR/daemon"
wait_for 40 said "cluster device 'a': .*node 'b' at 127.0.0.1:4422 is absent" || fail "$(<"$LOG")"
joins b
await a b up
wait_for 40 said "cluster device 'a': all nodes are connected" || fail "$(<"$LOG")"
good cluster leave b
right a
await a b failed
joins b
await a b up
exec {open}</dev/mapper/a
sed -i 's/:4422/& 3/' "$TMPDIR/conf"
weight_applies() {
	dmsetup table a | grep -q ' b 3 '
}
wait_for 40 weight_applies || fail "the daemon applies no change: $(dmsetup table a)"
right a
exec {open}<&-
daemon_end
(($(grep -c "is absent" "$LOG") < 5)) || fail "said too often: $(<"$LOG")"
good cluster leave a
good cluster leave b
alone
