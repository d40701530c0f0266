#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Verbs that show or set something take the name of a cluster device and mean the cache below it; those that
# cannot are refused, and say what to do.
# kernels: 6.12
# cpus: 1
. ./two_nodes.sh

volume_made 24
head -c 2m /dev/zero >"$M/big"
(cd "$M" && sha256sum big) >"$TMPDIR/sums"
nodes_up 24
cd "$TMPDIR/a" || exit
direct big

good status a -j
expect name a-home cluster a state normal
good status a
[[ $out == a-home*"'a': see 'nearcache cluster status a'"* ]] || fail "status: $out"
good stats a -j
expect name a-home cluster a
good stats a b --watch --count 1 --interval 0.1 -j
[[ $out == *'"name":"a-home"'*'"name":"b-home"'* ]] || fail "stats: $out"
good list
[[ $out == *$'\na '*' cluster '*a-home* && $out == *$'\na-home '*normal* ]] || fail "list: $out"
good list -j
json_keys devices name state
[[ $out == *'"state": "cluster"'* ]] || fail "list: $out"

good top a -b -n 1 --interval 0.1
[[ $out == *CLUSTER*'AT PEERS/s'*$'\na '*'1 of 1'* && $out == *$'\na-home '* && $out != *$'\nb '* ]] || fail "top: $out"
good top a -b -n 1 --interval 0.1 -j
[[ $out =~ \"cluster\":\{\"name\":\"a\",.*\"here_bytes\":[1-9][0-9]*,\"peer_bytes\":[1-9][0-9]*,.*\"peers\":1,\"peers_up\":1 ]] ||
	fail "top: $out"
good heatmap a big --count 1
[[ $out == *$'\n  home here   1 |'* ]] || fail "heatmap: $out"
good heatmap a --count 1 -j
[[ $out == *'"cluster":"a"'*'"home_bytes":'* ]] || fail "heatmap: $out"
homes=$(grep -o '"home_bytes":[0-9]*' <<<"$out" | awk -F: '{ sum += $2 } END { print sum }')
all=$(($(sectors "$O") * 512))
same "bytes here" "$homes" "$(part_of a <<<"0 $all" | bytes)"
good residency a -j
expect cluster a home_bytes "$homes" target_bytes $all
[[ $(grep -A1 '"node": "b"' <<<"$out") == *"\"bytes\": $((all - homes))"* ]] || fail "residency: $out"

# Readers read at the cluster device: it has the read-ahead.
home_ahead=$(blockdev --getra /dev/mapper/a-home)
good set a read-ahead=1M origin_timeout=7 -j
expect name a-home read_ahead 1048576 origin_timeout_s 7
same "read-ahead" "$(blockdev --getra /dev/mapper/a) $(blockdev --getra /dev/mapper/a-home)" "2048 $home_ahead"
good get a -j
expect name a-home read_ahead 1048576
bad 5 "'nearcache cluster leave " set a mode=writethrough

good jobs a -j
good ranges a -j
good scrub a --wait
(cd "$TMPDIR/a" && nearcache verify a --manifest "$TMPDIR/sums" -j) >"$TMPDIR/said" || fail "verify: $(<"$TMPDIR/said")"
out=$(<"$TMPDIR/said")
expect name a-home sound 1
run invalidate a big --everywhere
[[ $rc == 0 && $err == *"the other nodes keep their cached data"* && $out == *$'\nb '*' nearcache invalidate a big' ]] ||
	fail "invalidate: $rc $err $out"
good residency a big -j
expect cached_bytes 0

for verb in close destroy resize "attach --cache $FAR"; do
	# shellcheck disable=SC2086 # several words
	bad 4 "'a' is a cluster device, not a cache: 'nearcache cluster leave a' removes it" $verb a
done
make_null C cachec 24
bad 5 "'a' is a cluster device: choose another name, or 'nearcache cluster leave a'" \
	create a --origin "$O" --cache "$C"
format "$C"
bad 5 "'a' is a cluster device" open a --origin "$O" --cache "$C"
