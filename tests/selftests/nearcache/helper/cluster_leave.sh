#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A node leaves while another one reads at it: no read waits for fast-io-fail, because the namespace is
# withdrawn before the connections end. Several peers are disconnected at the same time.
# kernels: 6.12
# cpus: 1
. ./joining.sh

make_null O origin 16
./blockdata write "$O"
CONF=$'fast-io-fail = 60s\nkeep-alive = 60s' conf a:4421 b:4422
node_cache a
node_cache b
joins b
joins a
await a b up
reader_begins a
reads() {
	run cluster status a -j
	(($(json peer_bytes) > ${1:-0}))
}
wait_for 20 reads || fail "no reads at b: $out"
good cluster leave b
run cluster status a -j
left=$(json here_bytes)
goes_on() {
	run cluster status a -j
	(($(json here_bytes) > left + (8 << 20)))
}
wait_for 40 goes_on || fail "readers stand still"
reader_ends
longest=$(sed -n 's/.* longest \([0-9]*\).*/\1/p' "$TMPDIR/log" | sort -n | tail -n 1)
echo "# longest read: $longest ms"
((longest < 30000)) || fail "a read took $longest ms"
good cluster leave a
alone
