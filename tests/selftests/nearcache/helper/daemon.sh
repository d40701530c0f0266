#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache daemon must adapt the settings of a device to its reads, within bounds, and record each
# action so that the user can revert it. A restart after SIGKILL must continue, and programs and
# devices may disappear at any moment.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh
. ./daemon_on.sh

NC=/dev/mapper/nc
CONF=$TMPDIR/conf
RECORD=/run/nearcache/actions

bad_input() {
	echo 'window = much' >"$CONF"
	bad 1 "'$CONF' line 1: window 'much': " daemon --config "$CONF"
	bad 4 "cannot open '$TMPDIR/none'" daemon --config "$TMPDIR/none"
	bad 1 "'daemon' does not take 'x'" daemon x
	bad 1 "no action 7" actions --revert 7
	bad 1 "--revert takes a number only, not 'nc'" actions nc --revert 7
	good actions
	[[ ! -e $RECORD ]] || fail "there is a record: $(<$RECORD)"
}

# begin OPTIONS...: start the daemon in the background with $setting.
begin() {
	cat >"$CONF" <<-END
		interval = 1
		settle = 1
		calm = 1
		trial = 1h
		hold = 1h
		metrics-textfile = $TMPDIR/sample.prom
		$setting
	END
	daemon_begin --config "$CONF" "$@"
}

read_ahead() {
	cat "$(sys_block $NC)/queue/read_ahead_kb"
}

# sequential: read sequentially for a while, in one process.
sequential() {
	check -s 0 -n 16384 -b 64 >/dev/null
	daemon_alive
	[[ $(read_ahead) == "$1" ]]
}

scattered() {
	check -b 8 -a 8 -r 2000 >/dev/null
	daemon_alive
	[[ $(read_ahead) == "$1" ]]
}

# The daemon must adapt the read-ahead and report why.
follows() {
	local id
	[[ $(read_ahead) == 128 ]] || fail "read-ahead of a new device: $(read_ahead)"
	begin
	wait_for 60 sequential 4096 || fail "read-ahead is $(read_ahead): $(<"$LOG")"
	# The daemon reports an action once it is recorded, and verdicts at the end of each
	# interval.
	wait_for 30 said '^nc: read-ahead 128 KiB -> 4 MiB: [0-9]+ % of [0-9]+ bytes were read by sequential streams \(action [0-9]+, done\)$' ||
		fail "no message: $(<"$LOG")"
	# A verdict on a process that has ended is not logged.
	verify_begin -s 0 -n 16384 -b 64
	wait_for 30 said "^nc: [^ ]+ \\(process $verify_pid\\) reads sequential \\(before: unknown\\) from 0 B: " || fail "no verdict: $(<"$LOG")"
	verify_end >/dev/null
	good classifier show -j
	expect state loaded
	good latency show -j
	expect state loaded
	wait_for 60 scattered 16 || fail "read-ahead is $(read_ahead): $(<"$LOG")"
	wait_for 30 said '4 MiB -> 16 KiB: .*done\)$' || fail "no message: $(<"$LOG")"
	good actions -j
	json_keys schema actions id time device setting from to state why
	[[ $out == *'"setting": "checkpoint"'*'"to": 1,'* ]] || fail "checkpoints: $out"
	good actions nc
	[[ $out == *SETTING*read-ahead*'128 KiB'*'4 MiB'*done*read-ahead*'4 MiB'*'16 KiB'*done* ]] || fail "actions: $out"
	[[ $out != *checkpoint* ]] || fail "actions of others: $out"
	# The user reverts an action; the daemon must not repeat it.
	id=$(sed -nE 's/.*4 MiB -> 16 KiB: .*\(action ([0-9]+), done\)/\1/p' "$LOG")
	good actions --revert "$id" --dry-run
	same "read-ahead" "$(read_ahead)" 16
	good actions --revert "$id" -j
	expect setting read-ahead from 16384 to 4194304
	same "read-ahead" "$(read_ahead)" 4096
	bad 5 "another change followed" actions --revert "$id"
	stays 4096
	daemon_end
}

# piece: read 4 KiB of the shard that are not cached yet.
piece() {
	check -s $((24576 + 8 * pieces++)) -n 8 -b 8 >/dev/null
}

# Read each 4 KiB of 12 MiB once, in a new order each time, and a piece of the shard.
shuffled() {
	check -s 0 -n 24576 -b 8 -o -S $((pieces + 1)) >/dev/null
	piece
	daemon_alive
	said "'s1' \(4 MiB\) was read for the first time"
}

# brought: is the whole shard cached, and has the job that loaded it ended?
brought() {
	good residency nc 12M-16M -j
	[[ $(json ratio) == 1 ]] || return
	good jobs nc -j
	[[ $(json running) == 0 ]]
}

# Shards are read in pieces: at the first touch, the daemon must load the whole shard if it fits.
touches() {
	local pieces=0 id
	good pin nc --evict-after-use --no-load --label s1 12M-16M
	good pin nc --evict-after-use --no-load --label s2 16M-60M
	run invalidate nc
	[[ $rc == 0 ]] || fail "invalidate: $err"
	# first-touch allows half of the 80 MiB of the cache.
	setting='first-touch = 50%'
	begin
	setting=
	wait_for 60 said 'looking after devices' || fail "it does not begin: $(<"$LOG")"
	wait_for 60 shuffled || fail "no shard is touched: $(<"$LOG")"
	check -s 32768 -n 64 -b 8 >/dev/null
	said "'s2'" && fail "there is no room for that one: $(<"$LOG")"
	wait_for 30 brought || fail "it is not brought: $out"
	id=$(sed -nE "s/.*prefetch none -> job [0-9]+: 's1' .* have 4 MiB \(action ([0-9]+), done\)/\1/p" "$LOG")
	bad 5 "is over" actions --revert "$id"
	daemon_end
	good unpin nc --all
}

# looked: has the daemon looked twice? It replaces the file of the metrics after each look.
looked() {
	local file
	check -b 8 -a 8 -r 1000 >/dev/null
	daemon_alive
	file=$(stat -c %i "$TMPDIR/sample.prom")
	[[ $file == "$seen" ]] || looks=$((looks + 1))
	seen=$file
	((looks > 2))
}

# stays KB: fail unless the read-ahead is still KB after the daemon has looked twice.
stays() {
	local seen='' looks=0
	wait_for 60 looked || fail "it does not look: $(<"$LOG")"
	same "read-ahead" "$(read_ahead)" "$1"
}

# With --observe the daemon must change nothing and report its intended actions; the program that it
# loads must prefetch nothing.
observes() {
	local brought
	good set nc read-ahead=128K
	good classifier unload
	run invalidate nc
	[[ $rc == 0 ]] || fail "invalidate: $err"
	look brought prefetched_bytes nc
	begin --observe
	would() {
		sequential 128 || fail "it is changed: $(read_ahead)"
		said '^nc: read-ahead 128 KiB -> 4 MiB: .*would\)$'
	}
	wait_for 60 would || fail "no message: $(<"$LOG")"
	same "reports" "$(grep -c 'read-ahead 128 KiB -> 4 MiB' "$LOG")" 1
	wait_for 30 said '^window 0 B -> 16 MiB: default of the daemon \(nearcache\.conf does not set it\) \(action [0-9]+, would\)$' || fail "no window: $(<"$LOG")"
	is prefetched_bytes "$brought" nc
	# The daemon must not unload programs that the user loaded in place of its own.
	good classifier unload
	good latency unload
	good classifier load
	good latency load
	daemon_end
	good actions -j --all
	[[ $out == *'"state": "would"'* ]] || fail "not on record: $out"
	good actions -j
	[[ $out != *'"state": "would"'* ]] || fail "not a change: $out"
}

# The daemon is killed and restarted during reads; programs are unloaded and the device is closed.
goes() {
	local i
	begin
	verify_begin -b 1:256 -a 1 -r 100
	for ((i = 0; i < $(times 1); i++)); do
		kill -9 "$daemon"
		wait "$daemon" || true
		begin
		wait_for 60 said 'looking after devices' || fail "it does not begin: $(<"$LOG")"
		good classifier unload
		good latency unload
		wait_for 60 said 'without the built-in classifier' || fail "it is not missed: $(<"$LOG")"
		good classifier load
		good latency load
		# The daemon configures the newly loaded program.
		wait_for 60 said 'checkpoint cache -> around' || fail "it is not used: $(<"$LOG")"
	done
	verify_end >/dev/null
	good close nc
	good open nc --origin "$O" --cache "$C"
	wait_for 60 sequential 4096 || true
	daemon_end
	check -b 128 >/dev/null
}

touched() {
	piece
	said "'s1' \\(4 MiB\\) was read for the first time; "
}

# Without BPF the daemon must report this and use the counters.
blind() {
	local pieces=0
	good classifier unload
	good latency unload
	at_exit eval "grep -q ' /sys/fs/bpf bpf' /proc/mounts || mount -t bpf bpf /sys/fs/bpf"
	umount /sys/fs/bpf || fail "the BPF file system is in use"
	good pin nc --evict-after-use --no-load --label s1 12M-16M
	dmsetup message nc 0 invalidate all || fail "invalidate"
	setting='first-touch = 50%'
	begin
	setting=
	wait_for 30 said 'without the built-in classifier the daemon does not know' || fail "no message: $(<"$LOG")"
	wait_for 30 touched || fail "no shard is brought: $(<"$LOG")"
	wait_for 30 brought || fail "it is not brought: $out"
	good unpin nc --all
	daemon_end
	said 'there is no BPF file system' || fail "no reason: $(<"$LOG")"
	mount -t bpf bpf /sys/fs/bpf || fail "no BPF file system"
	# The daemon must leave a user's program loaded.
	good classifier load no_scans.bpf.o
	begin
	wait_for 30 said "the loaded program 'no_scans' is not the built-in one" || fail "no message: $(<"$LOG")"
	daemon_end
	good classifier show -j
	expect program no_scans
	good classifier unload
	good latency unload
}

make_null O origin 64 completion_nsec=2000000
make_null C local 80
# One processor only, because the daemon loads programs (see "others" in common.sh).
others 0
at_exit others 1
at_exit dm_gone nc
# Remove the pins at the end: another test may use this device name.
at_exit rm -f /var/lib/nearcache/pins/nc.json
at_exit run classifier unload
at_exit run latency unload
setting=
at_exit no_daemon
./blockdata write "$O"
good create nc --origin "$O" --cache "$C" --block-size 64K
bad_input
follows
observes
touches
goes
blind
