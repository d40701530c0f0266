#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Settings of the connections in the file of a running device: join applies them to the connections
# that exist, or refuses them by name and changes nothing. A node whose name does not resolve keeps no
# other node from the cluster, and the names are resolved before the locks are taken. Nodes notice each
# other's extent and replicas.
# kernels: 6.12
# cpus: 1
. ./joining.sh

# link_of NODE PEER: print the controller of NODE's connection to PEER.
link_of() {
	nearcache cluster status "$1" -j | tr -d '\n' | grep -o "\"name\": \"$2\", [^}]*" | sed -n 's/.*"controller": "\([^"]*\)".*/\1/p'
}

attribute() {
	cat "/sys/class/nvme/$(link_of a b)/$1"
}

make_null O origin 16
./blockdata write "$O"
conf a:4421 b:4422
node_cache a
node_cache b
joins b
joins a
await a b up
same "keep-alive time" "$(attribute kato)" 3

# Refused by name: everything stays.
record=$(</run/nearcache/cluster/a.joined)
CONF='tls = yes' conf a:4421 b:4422
bad 5 "has tls = no, but '$TMPDIR/conf' says yes" cluster join a
CONF='transport = rdma' conf a:4421 b:4422
bad 5 "has transport = tcp, but '$TMPDIR/conf' says rdma" cluster join a
nvme gen-dhchap-key -m 0 -n nqn.2014-08.org.example:n | tail -n 1 >"$TMPDIR/secret"
chmod 600 "$TMPDIR/secret"
CONF="secret-file = $TMPDIR/secret" conf a:4421 b:4422
bad 5 "has authentication by secret-file = no, but '$TMPDIR/conf' says yes" cluster join a
same "record" "$(</run/nearcache/cluster/a.joined)" "$record"
same "state of b" "$(state a b)" up
right a

# Applied to the connection that exists.
CONF=$'keep-alive = 10s\nfast-io-fail = 3s\ndata-digest = yes' conf a:4421 b:4422
joins a
same "keep-alive time" "$(attribute kato)" 6
same "fast_io_fail" "$(attribute fast_io_fail_tmo)" 3
await a b up
right a
before=$(link_of a b)
joins a
same "controller" "$(link_of a b)" "$before"
# A record of a run that was killed while it changed them, and one of an older version.
conf a:4421 b:4422
sed -i 's/^keep-alive.*/keep-alive =/; s/^fast-io-fail.*/fast-io-fail = 2s/; s/^data-digest.*/data-digest = no/' \
	/run/nearcache/cluster/a.joined
joins a
same "keep-alive time" "$(attribute kato)" 3
sed -i '/^transport\|^tls\|^secret\|^keep\|^fast\|^data/d' /run/nearcache/cluster/a.joined
before=$(stat -c %i "/sys/class/nvme/$(link_of a b)/")
joins a
same "connection" "$(stat -c %i "/sys/class/nvme/$(link_of a b)/")" "$before"
CONF='keep-alive = 10s' conf a:4421 b:4422
sed -i '/^transport\|^tls\|^secret\|^keep\|^fast\|^data/d' /run/nearcache/cluster/a.joined
joins a
same "keep-alive time" "$(attribute kato)" 6
good cluster check a
conf a:4421 b:4422
joins a
# Timers that another program set.
echo 9 >"/sys/class/nvme/$(link_of a b)/fast_io_fail_tmo"
run cluster check a
[[ $rc == 1 && $out == *fast-io-fail* ]] || fail "check: $rc $out"
joins a
good cluster check a

# The daemon's run after an upgrade: an older version had another default, and the kernel the same time.
before=$(stat -c %i "/sys/class/nvme/$(link_of a b)/")
sed -i 's/^keep-alive.*/keep-alive = 5s/' /run/nearcache/cluster/a.joined
NEARCACHE_CLUSTER_AGAIN=1 joins a
same "connection" "$(stat -c %i "/sys/class/nvme/$(link_of a b)/")" "$before"
[[ $(</run/nearcache/cluster/a.joined) == *"keep-alive = 6s"* ]] || fail "the record has the old time"

# Another address of a peer that still answers at the old one.
port=$(grep -lx 4422 /sys/kernel/config/nvmet/ports/*/addr_trsvcid)
nqn=$(ls "${port%/*}/subsystems")
second=/sys/kernel/config/nvmet/ports/99
mkdir "$second"
echo tcp >"$second/addr_trtype"
echo ipv4 >"$second/addr_adrfam"
echo 127.0.0.2 >"$second/addr_traddr"
echo 4422 >"$second/addr_trsvcid"
ln -s "/sys/kernel/config/nvmet/subsystems/$nqn" "$second/subsystems/$nqn"
sed -i 's/127.0.0.1:4422/127.0.0.2:4422/' "$TMPDIR/conf"
problem a "gives it another address"
joins a
[[ $(attribute address) == *traddr=127.0.0.2,* ]] || fail "not moved: $(attribute address)"
await a b up
right a
good cluster leave b

# A node that joins with another extent: both sides say so.
conf a:4421 b:4422
joins a
same "state of b" "$(state a b)" absent
sed -i 's/extent = 64K/extent = 128K/' "$TMPDIR/conf"
joins b
[[ $err == *"node 'a' at 127.0.0.1:4421 has other settings: it joined with extent=64K replicas=1, this node has extent=128K"* ]] ||
	fail "join: $err"
conf a:4421 b:4422
joins a
[[ $err == *"node 'b' at 127.0.0.1:4422 has other settings: it joined with extent=128K"* ]] || fail "join: $err"
await a b up
problem a "it joined with extent=128K replicas=1, this node has extent=64K"
run cluster check a
[[ $out == *"nearcache extent=128K"* ]] || fail "check: $out"
right a
good cluster leave b

# A name without an address.
echo "node = c nowhere.invalid" >>"$TMPDIR/conf"
joins b
[[ $err == *"node 'c' at nowhere.invalid:4420 is absent: its address 'nowhere.invalid' cannot be resolved"* ]] ||
	fail "join: $err"
if type -P strace >/dev/null; then
	strace -qq -f -o "$TMPDIR/trace" -e trace=openat,fcntl nearcache cluster join b --config "$TMPDIR/conf" --self b 2>/dev/null
	grep -n 'hosts\|F_OFD_SETLKW' "$TMPDIR/trace" | head -n 1 | grep -q hosts || fail "locked first: $(<"$TMPDIR/trace")"
fi
right b
joins a
good cluster leave a
good cluster leave b
alone
