# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions to run all verbs in one state of a device: . ./verbs.sh, after cache.sh, command.sh and
# shards.sh.

# verbs_ready: cache a file system with two files, mount it, and read one file; record a trace.
verbs_ready() {
	local recorder i
	mkdir "$M"
	at_exit rm -rf /var/lib/nearcache/pins
	at_exit dm_gone nc
	at_exit unmount
	mkfs.ext4 -qF -b 4096 -O ^has_journal -E nodiscard "$O" 2>/dev/null || fail "mkfs"
	mount "$O" "$M" || fail "mount"
	for i in a b; do
		head -c 128k /dev/urandom >"$TMPDIR/$i.bin"
		busybox tar -cf "$M/$i.tar" -C "$TMPDIR" "$i.bin"
	done
	sha256sum "$M"/?.tar >"$TMPDIR/sums"
	shards_cached
	cd "$NC_TOOLS" || fail "cd"
	nearcache trace record nc "$TMPDIR/tr" >"$TMPDIR/recorded" 2>"$TMPDIR/recording" &
	recorder=$!
	wait_for 30 grep -q recording "$TMPDIR/recording" || fail "no recording"
	direct "$M/a.tar"
	kill -INT $recorder
	wait $recorder || fail "record: $(<"$TMPDIR/recording")"
	settle
	written_down
}

has_ended() {
	! kill -0 "$1" 2>/dev/null
}

# verb_judge CODE TEXT WORDS...: the verb must end in time with CODE, and print TEXT.
verb_judge() {
	local code=$1 text=$2 ends=()
	shift 2
	[[ $1 != trace || $2 != record ]] || ends=(timeout -s INT 1)
	"${ends[@]}" nearcache "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null &
	if ! wait_for 20 has_ended $!; then
		dmsetup resume --noudevsync nc
		fail "nearcache $* hangs"
	fi
	rc=0
	wait $! || rc=$?
	out=$(<"$TMPDIR/out") err=$(<"$TMPDIR/err")
	[[ $rc == "$code" && "$err $out" == *"$text"* ]] ||
		differ+="nearcache $*: exit $rc instead of $code, or no '$text': $err $out"$'\n'
}

# each_verb: the input has lines "CODE|TEXT|WORDS", see verb_judge. Report all that differ.
each_verb() {
	local code text words
	differ=
	while IFS='|' read -r code text words; do
		verbs_run+=" ${words%% *} "
		# shellcheck disable=SC2086 # words
		verb_judge "$code" "$text" $words
	done
	[[ ! $differ ]] || fail "$differ"
}

# no_verb_missing: each_verb has run all verbs, except the daemon, which does not end.
no_verb_missing() {
	local verb
	for verb in $(nearcache --help | sed -n '/^Verbs/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
		[[ $verb == daemon || $verbs_run == *" $verb "* ]] || fail "no line for verb $verb"
	done
}
