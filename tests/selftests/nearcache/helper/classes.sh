#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# when: soak
# timeout: 420
# The accuracy of the classifier on streams of every kind, made by fio, tar and sample loaders, cold
# and warm, alone and beside another stream. confusion.awk compares the class of each stream with
# the expected class, at the access where the class is due.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

NC=/dev/mapper/nc
FS=/dev/mapper/fs
PINS=/sys/fs/bpf/nearcache/classifier
M=$TMPDIR/mnt
RUNS=$TMPDIR/runs
EVENTS=$TMPDIR/events
# Where the second of two parallel streams starts, in bytes.
SECOND=$((160 << 20))
groups=0

# group: make a new control group; later commands run in it.
group() {
	group=$GROUPS_AT/$((++groups))
	mkdir "$group" || fail "no control group"
}

# begin_run LABEL COMMAND...: run the command in the current control group, in the background.
begin_run() {
	labels+=("$1")
	shift
	outputs+=("$TMPDIR/output.${#labels[@]}")
	commands+=("$*")
	bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@" >"${outputs[-1]}" 2>&1 &
	pids+=($!)
}

# end_runs NAME: wait for all running commands and write a line on each for confusion.awk.
end_runs() {
	local i words
	for i in "${!pids[@]}"; do
		wait "${pids[i]}" || fail "${commands[i]}: $(<"${outputs[i]}")"
		words="0 0 0 ${pids[i]} ${pids[i]}"
		[[ ${commands[i]} != ./pattern* ]] || words=$(<"${outputs[i]}")
		echo "$1 ${labels[i]} $words ${commands[i]}" >>"$RUNS"
	done
	labels=() outputs=() commands=() pids=()
	settle
	settle fs
}

# Patterns are "LABEL COMMAND..."; LABEL is the expected class.
fio_job() {
	echo "fio --name=job --filename=$NC --ioengine=psync --thread --output-format=terse $*"
}

alone=(
	"sequential $(fio_job --rw=read --bs=4k --size=4m --direct=1)"
	"sequential $(fio_job --rw=read --bs=64k --size=32m --direct=1)"
	"sequential $(fio_job --rw=read --bs=1m --size=288m --direct=1)"
	"sequential $(fio_job --rw=read --bs=16k --size=80m --direct=0)"
	"sequential ./pattern forward $NC -n 20 -b 2097152 -d 2500000 -c 65536 -q 4"
	"sequential ./pattern forward $NC -n 24 -b 1048576 -d 5000000 -c 49152 -q 4"
	"sequential busybox tar xOf $M/big.tar"
	"sequential cat $M/shards/0 $M/shards/1 $M/shards/2 $M/shards/3 $M/shards/4 $M/shards/5"
	"sequential dd if=$M/big.tar of=/dev/null bs=100000"

	"strided $(fio_job --rw=read:240k --bs=16k --size=96m --direct=1)"
	"strided $(fio_job --rw=read --bs=8k --zonemode=strided --zonesize=16k --zonerange=256k --size=64m --direct=1)"
	"strided ./pattern forward $NC -n 600 -b 4096 -d 65536 -q 4"
	"strided ./pattern forward $NC -n 600 -b 4096 -d 200704 -q 4"
	"strided ./pattern forward $NC -n 400 -b 65536 -d 262144 -q 4"
	"strided ./pattern backward $NC -n 500 -b 16384 -d 131072 -q 4"
	"strided ./pattern forward $NC -n 500 -b 32768 -d 180224 -c 16384 -q 4"
	"strided ./pattern forward $NC -n 500 -b 16384 -d 262144 -B -q 4"

	"checkpoint $(fio_job --rw=write --bs=64k --size=24m --direct=1)"
	"checkpoint $(fio_job --rw=write --bs=256k --size=80m --direct=1)"
	"checkpoint ./pattern forward $NC -w -n 4 -b 16777216 -d 20000000 -c 131072 -q 4"
	"checkpoint ./pattern forward $NC -w -n 2 -b 67108864 -c 524288 -q 8"
	"checkpoint ./pattern forward $NC -w -n 1 -b 150994944 -c 1048576 -q 8"
	"checkpoint dd if=/dev/zero of=$M/checkpoint bs=64k count=512 oflag=direct conv=notrunc"
	"checkpoint dd if=/dev/zero of=$M/checkpoint bs=256k count=300 oflag=direct conv=notrunc"

	"shuffled ./pattern shuffled $NC -n 1000 -b 4096"
	"shuffled ./pattern shuffled $NC -n 500 -b 16384 -d 100000"
	"shuffled ./pattern shuffled $NC -n 1500 -b 65536 -p 3"
	"shuffled ./pattern shuffled $NC -n 800 -b 114660"
	"shuffled ./pattern shuffled $NC -n 800 -b 114660 -B -p 2"
	"shuffled ./pattern shuffled $NC -n 1200 -b 114660 -c 65536 -f -p 4"
	"shuffled ./pattern shuffled $NC -n 300 -b 524288 -c 131072"
	"shuffled ./pattern shuffled $NC -n 300 -b 524288 -c 65536 -p 2"
	"shuffled ./pattern shuffled $NC -n 1000 -b 16384 -f -p 8"
	"shuffled ./pattern shuffled $NC -n 2000 -b 8192 -p 2 -f"

	"looping ./pattern looping $NC -n 1000 -b 4096"
	"looping ./pattern looping $NC -n 500 -b 16384 -d 100000"
	"looping ./pattern looping $NC -n 1500 -b 65536 -p 3"
	"looping ./pattern looping $NC -n 800 -b 114660"
	"looping ./pattern looping $NC -n 800 -b 114660 -B"
	"looping ./pattern looping $NC -n 1200 -b 114660 -c 65536 -f -p 4"
	"looping ./pattern looping $NC -n 300 -b 524288 -c 131072"
	"looping ./pattern looping $NC -n 2000 -b 8192 -p 2 -f"

	"random ./pattern random $NC -n 1000 -b 4096"
	"random ./pattern random $NC -n 500 -b 16384 -d 100000"
	"random ./pattern random $NC -n 1500 -b 65536 -p 3"
	"random ./pattern random $NC -n 800 -b 114660 -B"
	"random ./pattern random $NC -n 300 -b 524288 -c 131072"
	"random ./pattern zipf $NC -n 1000 -b 16384"
	"random ./pattern zipf $NC -n 2000 -b 4096 -z 0.8 -p 2"
	"random ./pattern zipf $NC -n 500 -b 65536 -z 1.2"
	"random ./pattern zipf $NC -n 1500 -b 32768 -z 0.9 -f -p 4"
)

# Patterns of the second of two parallel streams.
beside=(
	"sequential ./pattern forward $NC -n 800 -b 131072 -q 8 -s $SECOND"
	"strided ./pattern forward $NC -n 700 -b 16384 -d 131072 -q 8 -s $SECOND"
	"checkpoint ./pattern forward $NC -w -n 400 -b 262144 -q 8 -s $SECOND"
	"shuffled ./pattern shuffled $NC -n 900 -b 32768 -s $SECOND"
	"looping ./pattern looping $NC -n 900 -b 32768 -s $SECOND"
	"random ./pattern random $NC -n 900 -b 32768 -s $SECOND"
)

# Longer patterns, to count class changes after the first pass.
steady=(
	"sequential ./pattern forward $NC -n 1000 -b 65536 -q 92"
	"strided ./pattern forward $NC -n 1000 -b 16384 -d 163840 -q 92"
	"checkpoint ./pattern forward $NC -w -n 1000 -b 65536 -q 92"
	"shuffled ./pattern shuffled $NC -n 1000 -b 4096 -q 92 -p 2"
	"looping ./pattern looping $NC -n 1000 -b 4096 -q 92 -p 2"
	"random ./pattern random $NC -n 1000 -b 4096 -q 92 -p 2"
	"random ./pattern zipf $NC -n 1000 -b 4096 -q 92"
)

# runs NAME PATTERN...: run the patterns at the same time in one control group. Each further
# scattered pattern gets its own group, because the scattered streams of a group form one set.
runs() {
	local name=$1 each words scattered=''
	shift
	group
	for each; do
		read -ra words <<<"$each"
		if [[ ${words[0]} =~ shuffled|looping|random ]]; then
			[[ ! $scattered ]] || group
			scattered=1
		fi
		begin_run "${words[@]}"
	done
	end_runs "$name"
}

# both NAME PATTERN...: run cold, then warm.
both() {
	dmsetup message nc 0 invalidate all || fail "invalidate"
	dmsetup message fs 0 invalidate all || fail "invalidate"
	echo 1 >/proc/sys/vm/drop_caches
	runs "cold-$1" "${@:2}"
	echo 1 >/proc/sys/vm/drop_caches
	runs "warm-$1" "${@:2}"
}

# seeded N PATTERN: print the pattern with the seed N.
seeded() {
	[[ $2 == *./pattern* ]] && echo "$2 -S $1" || echo "$2"
}

# files_made: create files for tar and dd, in a file system on a second cache.
files_made() {
	local i
	make_null P files 240
	make_null Q files_local 300
	mkdir "$M"
	mkfs.ext4 -qF -b 4096 -O ^has_journal -E nodiscard "$P" || fail "mkfs"
	format "$Q" "$P"
	start fs '' "$P" "$Q"
	mount $FS "$M" || fail "mount"
	at_exit umount "$M"
	mkdir "$M/shards"
	for i in 0 1 2 3 4 5; do
		dd if=/dev/zero of="$M/shards/$i" bs=1M count=8 2>/dev/null || fail "no room"
	done
	tar cf "$M/big.tar" -C "$M" shards || fail "tar"
	dd if=/dev/zero of="$M/checkpoint" bs=1M count=75 2>/dev/null || fail "no room"
	sync
}

# classified: load the classifier and record its events.
classified() {
	others 0
	good classifier load
	others 1
	./changes $PINS/changes >"$EVENTS" &
	listener=$!
}

ended() {
	[[ ! $listener ]] || kill -9 "$listener" || true
}

unload() {
	others 0
	run classifier unload
	others 1
}

no_groups() {
	rmdir "$GROUPS_AT"/*/ "$GROUPS_AT"
}

# all_runs ROUND: run each pattern alone, and every second one also beside another. 'make soak' runs
# all of them, more than 200 runs; otherwise every third pattern runs.
all_runs() {
	local i step=3
	[[ ! ${SOAK:-} ]] || step=1
	for ((i = 0; i < ${#alone[@]}; i += step)); do
		both alone "$(seeded $((1000 * $1 + i)) "${alone[i]}")"
		(((i + $1) % 2)) || both beside "$(seeded $((1000 * $1 + i + 100)) "${alone[i]}")" \
			"$(seeded $((1000 * $1 + i + 200)) "${beside[(i / 2 + $1) % ${#beside[@]}]}")"
	done
	for ((i = 0; i < ${#steady[@]}; i++)); do
		runs steady "$(seeded $((1000 * $1 + i + 300)) "${steady[i]}")"
	done
}

make_null O origin 320
make_null C local 420
MODE=writearound
format
start
files_made
mkdir "$TMPDIR/groups"
mount -t cgroup2 none "$TMPDIR/groups" || fail "no control groups"
at_exit umount "$TMPDIR/groups"
GROUPS_AT=$TMPDIR/groups/classes
mkdir "$GROUPS_AT"
at_exit no_groups
# Raise pid_max: the test identifies a process by its id, so ids must not be reused.
at_exit eval "echo $(</proc/sys/kernel/pid_max) >/proc/sys/kernel/pid_max"
echo 4194304 >/proc/sys/kernel/pid_max
labels=() outputs=() commands=() pids=()
at_exit unload
listener=
at_exit ended
classified
for ((round = 0; round < $(times 1); round++)); do
	all_runs $round
done
kill "$listener"
wait "$listener" || fail "changes: $?"
listener=
nearcache classifier show --all >"$TMPDIR/streams" || fail "no streams"
awk -f confusion.awk "$TMPDIR/streams" "$EVENTS" "$RUNS" || fail "the classifier is not right often enough"
