#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A program that reads its data once must not be called shuffled, looping or random, even after
# another program in a control group that unrelated programs share. There, siblings (the processes
# with one parent and one program name) must share one class in their second pass.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./command.sh

NC=/dev/mapper/nc
PINS=/sys/fs/bpf/nearcache/classifier
GROUPS_AT=/sys/fs/cgroup
SESSION=$GROUPS_AT/user.slice/session

# quiet COMMAND...: run the command. No stream may get a higher class than scattered, 4.
quiet() {
	local before highest
	before=$(wc -l <"$TMPDIR/events")
	"$@" >"$TMPDIR/output" 2>&1 || fail "$*: $(<"$TMPDIR/output")"
	recorded
	tail -n +$((before + 1)) "$TMPDIR/events" >"$TMPDIR/new"
	highest=$(awk '$5 > n { n = $5 } END { print n + 0 }' "$TMPDIR/new")
	((highest <= 4)) || fail "$*: class $highest: $(<"$TMPDIR/new")"
}

# once COMMAND...: as quiet, but the command reads: a stream must get a class.
once() {
	quiet "$@"
	[[ -s $TMPDIR/new ]] || fail "$*: no class"
}

# files COMMAND...: run the command in the folder of small files, none of which is in memory.
files() {
	echo 3 >/proc/sys/vm/drop_caches
	(cd "$TMPDIR/mnt" && "$@")
}

# recorded: end the listener, which prints its records, and start another one.
recorded() {
	kill "$listener"
	wait "$listener" || fail "changes: $?"
	listen
}

listen() {
	./changes $PINS/changes >>"$TMPDIR/events" &
	listener=$!
}

ended() {
	kill -9 "$listener" || true
	wait "$listener" || true
	nearcache classifier unload >/dev/null
}

# values KEY: print the values of KEY in all sets, each once.
values() {
	bpftool map dump pinned $PINS/sets | sed -nE "s/.*\"$1\": ([0-9]+).*/\1/p" | sort -u
}

make_null O origin 320
make_null C local 340
mount -t cgroup2 none $GROUPS_AT || fail "no control groups"
at_exit umount $GROUPS_AT
mkdir -p $SESSION
at_exit rmdir $SESSION ${SESSION%/*}
mkfs.ext4 -qF -b 4096 -E nodiscard "$O" 64M || fail "mkfs"
mkdir "$TMPDIR/mnt"
mount "$O" "$TMPDIR/mnt" || fail "mount"
for ((i = 0; i < 200; i++)); do
	head -c $((20000 + i * 100)) /dev/urandom >"$TMPDIR/mnt/$i"
done
(cd "$TMPDIR/mnt" && sha256sum -- [0-9]*) >"$TMPDIR/sums"
umount "$TMPDIR/mnt"
INTEGRITY=crc32c format
start
mount -o ro $NC "$TMPDIR/mnt" || fail "mount"
at_exit umount "$TMPDIR/mnt"
good classifier load
: >"$TMPDIR/events"
listen
at_exit ended

once files cat -- {0..199}
once files nearcache verify nc --manifest "$TMPDIR/sums"
once files md5sum -- {0..199}
once files cp -r . "$TMPDIR/copy"
once files tar -cf "$TMPDIR/archive" .
rm -r "$TMPDIR/copy" "$TMPDIR/archive"
quiet files nearcache residency nc .
quiet files nearcache prefetch nc . --wait
quiet nearcache scrub nc --wait
same "control group of the sets" "$(values cgroup)" 1
[[ $(values siblings) != 0 ]] || fail "sets have no siblings: $(bpftool map dump pinned $PINS/sets)"

# Two of 49,152 blocks are often equal.
once fio --name=job --filename=$NC --offset=64m --direct=1 --ioengine=psync --thread --rw=randread --norandommap \
	--bs=4k --size=192m --io_size=12m

# Other programs read the same runs in the same order: in the root group, then in that of a session.
pattern=(./pattern shuffled "$NC" -s $((256 << 20)) -n 600 -d 65536 -b 4096 -q)
once "${pattern[@]}" 4
once bash -c '"$@"; true' job "${pattern[@]}" 4
once in_group $SESSION "${pattern[@]}" 4
once in_group $SESSION bash -c '"$@"; true' job "${pattern[@]}" 4

# Three siblings, new processes in each pass, read shuffled data: before the end of the second pass
# all of them must have the class shuffled.
"${pattern[@]}" 8 -p 3 -f -S 2 >"$TMPDIR/output" || fail "pattern"
recorded
IFS=, read -ra pids < <(awk 'END { print $NF }' "$TMPDIR/output")
same "workers" ${#pids[@]} 3
for pid in "${pids[@]}"; do
	same "class of worker $pid" "$(awk -v pid="$pid" '$2 == pid { class = $5 } END { print class }' "$TMPDIR/events")" 5
done
