#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A pod without hostNetwork has a network namespace of its own: the command works there with root's
# capabilities of the host. Root of a user namespace is refused, in whatever network namespace.
# cpus: 1
. ./cache.sh
. ./command.sh

# elsewhere WORDS...: as good, in a new network namespace.
elsewhere() {
	rc=0
	out=$(unshare -n nearcache "$@" 2>"$TMPDIR/err") || rc=$?
	[[ $rc == 0 && ! -s $TMPDIR/err ]] || fail "nearcache $*: exit $rc, $(<"$TMPDIR/err")"
}

at_exit rm -rf /var/lib/nearcache/pins
make_null O origin 16
make_null C local 24
good create nc --origin "$O" --cache "$C" --block-size 64K --force
at_exit nearcache close nc
elsewhere prefetch nc 0-1M
elsewhere pin nc 0-1M --label keep --no-load
for verb in metrics 'ranges nc' 'jobs nc' 'status nc' 'residency nc 0-1M' 'invalidate nc'; do
	# shellcheck disable=SC2086 # words
	elsewhere $verb
done
out=$(unshare -n ./genl invalidate name=nc) || fail "no answer to invalidate"
[[ $out == *error=0* ]] || fail "invalidate: $out"

# What "open" says is pinned must be pinned.
good close nc
elsewhere open nc --cache "$C" --origin "$O" -j
said=$(json pins)
good ranges nc -j
same "pins" "$said $(json range_count)" "1 1"

# Events are sent in the first network namespace only.
unshare -n ./genl listen 1 "$TMPDIR/elsewhere" >"$TMPDIR/heard.elsewhere" &
deaf=$!
at_exit kill $deaf
./genl listen 1 "$TMPDIR/here" >/dev/null &
both_listen() {
	[[ -e $TMPDIR/elsewhere && -e $TMPDIR/here ]]
}
wait_for 20 both_listen || fail "the listeners did not start"
dmsetup message nc 0 scrub start 0
wait $! || fail "no event"
[[ ! -s $TMPDIR/heard.elsewhere ]] || fail "an event in another network namespace"

[[ -e /proc/self/ns/user ]] || exit 0
for space in '' --net; do
	for request in 'device-set name=nc verify=1' 'range-get name=nc' '-d job-get name=nc job=id=1'; do
		# shellcheck disable=SC2086 # words
		said=$(unshare --user --map-root-user $space ./genl $request 2>&1 >/dev/null)
		[[ $said == EPERM* ]] || fail "user namespace $space: $request: '$said'"
		# shellcheck disable=SC2086 # words
		unshare --user --map-root-user $space ./genl device-get name=nc | grep -qx name=nc || fail "no device-get"
	done
done
