#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# TLS: an export that asks for it accepts nothing else, and a host without a TLS key says so. A kernel
# without TLS refuses it on both sides. The handshake needs tlshd (ktls-utils), which Debian 12 does not
# have; its kernel 6.12 has the rest.
. ./fabric.sh

fresh_export
if ! grep -qw tls /dev/nvme-fabrics; then
	TLS=1 bad 4 "has no TLS" apply "$NQN" "$D" "$UUID" 127.0.0.1 4420 "$ME"
	same "configfs" "$(config)" ""
	served "$ME"
	TLS=1 bad 4 "cannot connect over TLS" connect "$NQN" "$ME" "$ME_ID" 127.0.0.1 4420
	DIGEST=1 connected
	./blockdata read "$dev" || fail "wrong data with digests"
	exit 0
fi
TLS=1 served "$ME"
same "security" "$(<"$CONFIG/ports/1/addr_tsas")" tls1.3
same "TLS" "$(<"$CONFIG/ports/1/addr_treq")" required
TLS=1 bad 2 "no TLS key" connect "$NQN" "$ME" "$ME_ID" 127.0.0.1 4420
bad 4 "cannot connect to the node at 127.0.0.1:4420" connect "$NQN" "$ME" "$ME_ID" 127.0.0.1 4420
# Without TLS again, and with digests.
served "$ME"
same "security" "$(<"$CONFIG/ports/1/addr_tsas")" none
DIGEST=1 connected
./blockdata read "$dev" || fail "wrong data with digests"
