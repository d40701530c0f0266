# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions that export a cache and connect to it, in one guest: . ./fabric.sh (includes cache.sh).
# The node exports $D as $NQN; the hosts that may connect are $ME and sometimes $OTHER.
. ./cache.sh

CONFIG=/sys/kernel/config/nvmet
UUIDS=nqn.2014-08.org.nvmexpress:uuid
NQN=$UUIDS:11111111-2222-5333-8444-555555555555
ME_ID=aaaaaaaa-0000-5000-8000-000000000001 OTHER_ID=aaaaaaaa-0000-5000-8000-000000000002
ME=$UUIDS:$ME_ID OTHER=$UUIDS:$OTHER_ID
UUID=cccccccc-0000-5000-8000-000000000001
D=/dev/mapper/nc
export SECRET

# fabric WORDS...: run ./fabric; sets $rc, $out and $err.
fabric() {
	local run=(env -u SECRET ./fabric)
	[[ ! $SECRET ]] || run=(./fabric)
	rc=0
	out=$("${run[@]}" "$@" 2>"$TMPDIR/err") || rc=$?
	err=$(<"$TMPDIR/err")
}

# good WORDS...: ./fabric must succeed. bad CODE TEXT WORDS...: it must fail with this code and text.
good() {
	fabric "$@"
	[[ $rc == 0 && ! $err ]] || fail "fabric $*: exit $rc, $err"
}

bad() {
	fabric "${@:3}"
	[[ $rc == "$1" && $err == *"$2"* ]] || fail "fabric ${*:3}: exit $rc instead of $1, '$err' without '$2'"
}

# served HOST...: export $D to these hosts. link HOST ID: the words of a connection.
served() {
	good apply "$NQN" "$D" "$UUID" 127.0.0.1 4420 "$@"
}

link() {
	echo "$NQN $1 $2 127.0.0.1 4420"
}

# connected: connect as $ME; sets $dev, $uuid, $controller.
connected() {
	# shellcheck disable=SC2046 # several words
	good connect $(link "$ME" "$ME_ID")
	read -r dev uuid controller _ <<<"$out"
	[[ -b $dev ]] || fail "no block device: $out"
}

# config: print everything in nvmet's configfs that somebody created, one path in a line.
config() {
	[[ ! -d $CONFIG ]] || find "$CONFIG"/{hosts,subsystems,ports} -mindepth 1 | sort
}

away() {
	local each
	for each in "$NQN" "$OTHER"; do
		./fabric disconnect "$each" && ./fabric remove "$each" || return
	done
	[[ ! $(config) ]]
}

# fresh_export: create a filled cache.
fresh_export() {
	fresh 4 24
	check -n 8192
	settle
	at_exit away
}
