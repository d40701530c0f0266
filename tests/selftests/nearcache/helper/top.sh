#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache top must show the reading processes and their streams, as lines, as JSON, and on a
# terminal, which it must restore. Devices and programs may come and go.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

NC=/dev/mapper/nc
MB=$((1 << 20))
# A terminal type whose description is in the guest.
export TERM=xterm
unset COLUMNS LINES

bad_input() {
	bad 1 "-b (--batch) prints lines" top
	bad 1 "'0': give 1" top -b -n 0
	run top -j
	[[ $rc == 1 && $out == *"'top --json' needs -b (--batch)"* ]] || fail "top -j: $rc $out"
	run top nowhere -b -n 1
	[[ $rc == 4 && $err == *"there is no device 'nowhere'"* ]] || fail "nowhere: $rc $err"
}

# No program is loaded: top must print a hint and no error, and load no program.
without_programs() {
	good top -b -n 1 --interval 0.1
	[[ $out == *"1 device  each 0.1 s"*"for streams: 'nearcache classifier load'; latencies: 'nearcache latency load'"*DEVICE*nc* ]] ||
		fail "no device, or no hint: $out"
	[[ $out != *PID* && $out != *'HIT 50%'* ]] || fail "of programs that are not loaded: $out"
	[[ ! -e /sys/fs/bpf/nearcache/classifier && ! -e /sys/fs/bpf/nearcache/latency ]] || fail "it loads programs"
	good top nc -b -n 2 -j --interval 0.1
	[[ $(grep -c '^{"schema":1,"time_ns":' <<<"$out") == 2 && $(wc -l <<<"$out") == 2 ]] || fail "not two documents: $out"
	[[ $out == *'"classifies":false,"measures":false,"complete":true,'* ]] || fail "programs: $out"
}

# row FIRST: print the line of the last output that begins with FIRST.
row() {
	sed -n "/^ *$1 /{p;q;}" <<<"$out"
}

# sees_hits: does top show the device, and the process that reads cached data?
sees_hits() {
	good top nc -b -n 1
	[[ $(row nc) =~ 'nc '.*normal.*read-only.*' 100.0 %'.*' 0 B'$ ]] && [[ $(row "$verify_pid") == *blockdata*read* ]]
}

sees_class() {
	good top nc -b -n 1
	[[ $(row "$verify_pid") =~ blockdata\ +1\ +read\ +$1\ +[1-9][0-9.]*\ ([KMG]i)?B ]]
}

lines() {
	others 0
	good classifier load
	good latency load
	others 1
	check -s 0 -n 16384 -b 128 >/dev/null
	settle
	verify_begin -s 0 -n 16384 -b 128
	wait_for 60 sees_class sequential || fail "no sequential stream: $out"
	wait_for 60 sees_hits || fail "not all are hits: $out"
	[[ $out != *"load'"* ]] || fail "a hint: $out"
	[[ $out == *'HIT 50%'*' us'* || $out == *'HIT 50%'*' ms'* ]] || fail "no latencies: $out"
	verify_end >/dev/null
	ended=$verify_pid
	verify_begin -s 0 -n 16384 -b 8 -a 8 -r 1000
	wait_for 60 sees_class '(scattered|random)' || fail "no scattered stream: $out"
	[[ ! $(row "$ended") ]] || fail "a process that has ended: $out"
	good top nc -b -n 1 --all
	[[ $(row "$ended") == *sequential* ]] || fail "--all lacks it: $out"
}

# documents: while the reader continues, JSON must contain all fields.
documents() {
	good top -b -n 1 -j
	for key in time_ns classifies measures complete devices name state normal why mode span_ns hit_ratio hit_ratio_since_load \
		cache_bytes_per_s origin_bytes_per_s fill_bytes_per_s prefetch_bytes_per_s late_bytes_per_s wasted_bytes_per_s \
		write_bytes_per_s bytes_valid capacity latencies path count p50_ns p99_ns labels label ranges \
		streams pid command access class bytes_per_s accesses_per_s bytes accesses runs cgroup parent_pid ended jobs; do
		[[ $out == *"\"$key\":"* ]] || fail "no '$key': $out"
	done
	[[ $out =~ '"cache_bytes_per_s":'[1-9] && $out == *"{\"pid\":$verify_pid,\"command\":\"blockdata\",\"access\":\"read\","* ]] ||
		fail "no reader: $out"
}

# terminal COLUMNS ROWS LINE...: run nearcache top on a terminal of this size with an onpty script.
terminal() {
	printf '%s\n' "${@:3}" | ./onpty "$1" "$2" "$TMPDIR/screen" nearcache top --interval 0.2 ||
		fail "on a terminal: $(cat -v "$TMPDIR/screen" | tail -c 3000)"
	# At its end top must leave the alternate screen and show the cursor.
	[[ $(grep -aoE $'\e\\[\\?1049[hl]' "$TMPDIR/screen" | tail -n 1) == *l ]] || fail "the screen is not given back"
	[[ $(grep -aoE $'\e\\[\\?25[hl]' "$TMPDIR/screen" | tail -n 1) == *h ]] || fail "there is no cursor"
}

on_terminal() {
	terminal 80 24 'see DEVICE' 'see STATE' 'see normal' 'show COMMAND' 'see bloc' \
		'type \x0c' 'see DEVICE' 'type s' 'see bytes' 'size 60 8' 'see room' 'size 100 40' 'show COMMAND' 'type h' 'show ended processes' 'type x' 'show PROCS' 'type e' 'type p' 'type \t' 'type \e[B' 'type q' 'end 0'
	# The terminal is in raw mode, so ^C is a key; signals end top as well.
	terminal 80 24 'see DEVICE' 'type \x03' 'end 0'
	terminal 20 3 'see nearcache' 'signal 15' 'end 0'
	printf '%s\n' 'see unknown terminal' 'end 1' | TERM=nosuch ./onpty 80 24 "$TMPDIR/screen" nearcache top ||
		fail "unknown terminal type: $(<"$TMPDIR/screen")"
}

# top must always show the current devices and programs.
watched() {
	nearcache top -b -n 1000000 --interval 0.1 >>"$TMPDIR/frames" 2>&1 &
	top=$!
	at_exit top_end
	said() {
		kill -0 "$top" 2>/dev/null || fail "top has ended: $(tail -n 40 "$TMPDIR/frames")"
		# The last complete frame.
		tail -n 60 "$TMPDIR/frames" | grep -q -- "$1"
	}
	wait_for 30 said ' 1 device ' || fail "no frames: $(tail -n 40 "$TMPDIR/frames")"
	good prefetch nc "$((40 * MB))-$((60 * MB))" --bandwidth 64K --label slow
	wait_for 30 said '  slow  .* %  20 MiB ' || fail "no job: $(tail -n 40 "$TMPDIR/frames")"
	good cancel nc --all
	# End the reader before programs are unloaded (see "others" in common.sh).
	verify_end >/dev/null
	others 0
	good classifier unload
	good latency unload
	others 1
	wait_for 30 said "for streams: 'nearcache classifier load'; " || fail "no hint: $(tail -n 40 "$TMPDIR/frames")"
	good close nc
	wait_for 30 said 'no nearcache device is open' || fail "it stays: $(tail -n 40 "$TMPDIR/frames")"
	good open nc --origin "$O" --cache "$C"
	: >"$TMPDIR/frames"
	wait_for 30 said ' 1 device ' || fail "it does not come back: $(tail -n 40 "$TMPDIR/frames")"
	top_end
	! grep -a '^nearcache: ' "$TMPDIR/frames" || fail "it complains"
}

top_end() {
	[[ ! $top ]] || kill "$top" 2>/dev/null || true
	[[ ! $top ]] || wait "$top" || true
	top=
}

# top must show problems first.
wrong() {
	local data
	data=$(($(./sbset "$C" get data_offset) / 512))
	echo "+$data-$(($(sectors "$C") - 1))" >"$NULLB/local/badblocks" || fail "badblocks"
	degraded() {
		./blockdata read $NC -b 128 >/dev/null || fail "wrong data"
		good top -b -n 1 --interval 0.1
		[[ $out == *", 1 not normal"*$'\n! nc is bypass: '* ]]
	}
	wait_for 60 degraded || fail "no message: $out"
	good top -b -n 1 -j --interval 0.1
	[[ $out == *'"state":"bypass","normal":false,"why":"'* ]] || fail "no message: $out"
}

make_null O origin 64
make_null C local 80
at_exit others 1
at_exit dm_gone nc
# Remove the pins at the end: another test may use this device name.
at_exit rm -f /var/lib/nearcache/pins/nc.json
at_exit run classifier unload
at_exit run latency unload
top=
./blockdata write "$O"
good create nc --origin "$O" --cache "$C" --block-size 64K
bad_input
without_programs
good pin nc "0-$MB" --label val --no-load
lines
documents
on_terminal
watched
wrong
