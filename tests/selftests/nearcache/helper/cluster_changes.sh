#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Changes of cluster.conf apply to a device in use, a node of another volume is refused by name, and
# 'check' names differences.
# kernels: 6.12
# cpus: 1
. ./joining.sh

make_null O origin 16
./blockdata write "$O"
make_null other other 16
conf a:4421 b:4422
node_cache a
node_cache b
node_cache c "$other"
joins a
joins b
joins a
await a b up
exec {open}</dev/mapper/a

# Another volume: refused by both sides, which go on without it.
conf a:4421 b:4422 c:4423
run cluster check a
[[ $rc == 1 && $out == *"c "*"node of the device"* ]] || fail "check: $rc $out"
problem a "it is new in '$TMPDIR/conf'"
joins a
joins c
[[ $err == *"node 'a' at 127.0.0.1:4421 is refused: "*"it serves another volume"* ]] || fail "not refused: $err"
joins a
[[ $err == *"node 'c' at 127.0.0.1:4423 is refused: "*"it serves another volume"* ]] || fail "not refused: $err"
same "state of c" "$(state a c)" absent
right a
good cluster leave c

# A node that is taken out, and another weight.
conf a:4421 b:4422
sed -i 's/:4422/& 3/' "$TMPDIR/conf"
run cluster check a
[[ $rc == 1 && $out == *weight* ]] || fail "check: $rc $out"
joins a -j
expect changed true
same "state of c" "$(state a c)" ""
right a
joins a -j
expect changed false
good cluster check a

# Options, and a connection that somebody else ended.
CONF=$'stall-timeout = 300ms\nbandwidth = 8Gb/s' conf a:4421 b:4422
problem a "has another stall-timeout or bandwidth"
joins a
[[ $(dmsetup table a) == *" 4 stall_timeout 300 bandwidth 1000000000" ]] || fail "options: $(dmsetup table a)"
run cluster status a -j
nvme disconnect -n "$(sed -n 's/.*"nqn": "\(.*\)".*/\1/p' <<<"$out" | tail -n 1)" >/dev/null || fail "nvme disconnect"
right a
problem a "it is not connected"
joins a
await a b up
right a
run invalidate a-home
[[ $err == *"the other nodes keep their cached data"* ]] || fail "invalidate: $err"
# Nodes whose content differs refuse each other, until both have the new one.
joins a
[[ $err == *"nodes that have the old content are refused"*"node 'b' at 127.0.0.1:4422 is refused"* ]] || fail "join: $err"
same "state of b" "$(state a b)" absent
right a
run invalidate b-home
# Killed when the record names the new volume: the next run makes all connections again.
if type -P strace >/dev/null; then
	strace -qq -o "$TMPDIR/trace" -e trace=fsync -e inject=fsync:signal=KILL:when=2 nearcache cluster join b 2>/dev/null || :
	grep -q '^keep-alive = *$' /run/nearcache/cluster/b.joined || fail "record: $(</run/nearcache/cluster/b.joined)"
fi
joins b
joins a
await a b up
right a
CONF='replicas = 2' conf a:4421 b:4422
bad 5 "has replicas 1, but '$TMPDIR/conf' says 2" cluster join a
exec {open}<&-

# What an interrupted run left: the record alone.
dmsetup remove a
bad 5 "is exported to the nodes of cluster 'test'" close a-home
good cluster leave a
good cluster leave b
alone
