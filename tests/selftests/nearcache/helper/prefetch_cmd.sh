#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache prefetch, jobs and cancel: prefetched data must be read without the origin; the shares
# of nodes must be disjoint and cover the list. A command must be able to await, cancel and
# interrupt a job, also when the origin hangs, or when the kernel has forgotten the job.
# kernels: 6.1
# cpus: 1
. ./cache.sh
. ./command.sh

M=$TMPDIR/mnt
GENL=$PWD/genl
pid=""

unmount() {
	cd /
	! grep -q " $M " /proc/mounts || umount "$M"
}

# If the test fails, end a command that is stopped or that waits for the origin.
end_waiting() {
	dmsetup resume slow
	[[ ! $pid ]] || kill -KILL "$pid" 2>/dev/null || true
}

direct() {
	local file
	for file; do
		dd if="$file" of=/dev/null bs=1M iflag=direct 2>/dev/null || fail "cannot read $file"
	done
	settle
}

cold() {
	run invalidate nc
	[[ $rc == 0 ]] || fail "invalidate: $err"
}

fetched() {
	good prefetch nc s[0-7].tar --wait --bandwidth 8Gb/s --priority 2 --deadline 1m -j
	json_keys schema name shard_count listed bytes dry_run load job state 'done' bytes fetched_bytes present_bytes \
		left_bytes flying_bytes priority deadline_s bandwidth label shards bytes name
	expect shard_count 8 bytes $((4 << 20)) state 'done' left_bytes 0 priority 2 \
		bandwidth 1000000000 label mnt
	origin_mark
	direct s[0-7].tar
	same "bytes from the origin" "$(origin_delta)" 0
	good prefetch nc s0.tar --wait
	[[ $out =~ present\ +512\ KiB ]] || fail "again: $out"
	good jobs nc -j
	json_keys schema name jobs job state 'done' bytes fetched_bytes present_bytes left_bytes priority bandwidth label running
	expect job 1 state 'done' running 0
	good jobs nc
	[[ $out == *'JOB'*'STATE'*'done'*'100.0 %'* ]] || fail "jobs: $out"
	# Prefetch the files of a list, without waiting.
	cold
	printf '%s\n' s1.tar s2.tar | nearcache prefetch nc --from - -j >"$TMPDIR/out" || fail "--from -"
	out=$(<"$TMPDIR/out")
	expect shard_count 2 job 3
	over() {
		run jobs nc -j
		[[ $rc == 0 && $(json running) == 0 ]]
	}
	wait_for 20 over || fail "jobs: $out"
	origin_mark
	direct s1.tar s2.tar
	same "bytes from the origin" "$(origin_delta)" 0
}

# names WORDS...: print the shards in the order of prefetching.
names() {
	good prefetch nc "$@" --dry-run -j
	sed -n 's/^ *"name": "\(s..*\)".*/\1/p' <<<"$out"
}

shared() {
	local how rank all epoch0 epoch1 i crc
	for how in strided blocked; do
		all=$(for rank in 0 1 2; do
			names s*.tar --rank $rank --world-size 3 --seed 7 --epoch 1 --split $how
		done)
		same "$how: shards" "$(wc -l <<<"$all")" 8
		same "$how: shards of their own" "$(sort -u <<<"$all" | wc -l)" 8
	done
	epoch0=$(names s*.tar --rank 0 --world-size 1 --seed 7)
	epoch1=$(names s*.tar --rank 0 --world-size 1 --seed 7 --epoch 1)
	[[ $epoch0 != "$epoch1" ]] || fail "epochs have one order: $epoch0"
	# The order of the arguments must not matter.
	same "order" "$(names s7.tar s[0-6].tar --rank 0 --world-size 1 --seed 7 | tr '\n' ' ')" \
		"$(names s*.tar --rank 0 --world-size 1 --seed 7 | tr '\n' ' ')"
	same "without a seed" "$(names s3.tar s1.tar s2.tar --rank 1 --world-size 2 | tr '\n' ' ')" "s2.tar "
	# The checksum of the list, as gzip computes it.
	crc=$(for i in {0..7}; do
		printf 's%d.tar\0%d\n' "$i" $((512 << 10))
	done | gzip -c | tail -c 8 | od -An -tx4 -N4)
	cold
	origin_mark
	good prefetch nc s7.tar s[0-6].tar --rank 1 --world-size 2 --seed 7 --wait -j
	json_keys shard_count listed list_checksum bytes
	expect shard_count 4 listed 8 list_checksum "${crc// /}"
	same "half of it" "$(origin_delta)" $((2 << 20))
	good prefetch nc s1.tar --rank 3 --world-size 4 --wait -j
	expect shard_count 0
}

interrupted() {
	cold
	good prefetch nc s*.tar --bandwidth 64K -j
	job=$(json job)
	good cancel nc "$job" -j
	json_keys schema name cancelled dry_run
	expect cancelled 1
	bad 4 "no such job, or it is over" cancel nc "$job"
	good prefetch nc s*.tar --bandwidth 64K
	good prefetch nc s*.tar --bandwidth 64K
	good cancel nc --all --dry-run -j
	expect cancelled 0
	good cancel nc --all -j
	expect cancelled 2
	# ^C interrupts a waiting command.
	nearcache prefetch nc s*.tar --bandwidth 64K --wait -j >"$TMPDIR/out" 2>&1 &
	pid=$!
	runs() {
		run jobs nc -j
		[[ $(json running) == 1 ]]
	}
	wait_for 20 runs || fail "does not run: $out"
	kill -TERM $pid
	rc=0
	wait $pid || rc=$?
	out=$(<"$TMPDIR/out")
	[[ $rc == 4 && $out == *"was cancelled: "*" of 4 MiB are cached"* ]] || fail "interrupted: $rc $out"
	expect state cancelled
	good jobs nc -j
	expect running 0
}

# jobs_are PATTERN: does the JSON list of jobs match?
jobs_are() {
	run jobs nc -j
	[[ $rc == 0 && $out =~ $1 ]]
}

# After a second ^C the command must not wait for reads that hang.
hanging() {
	cold
	dmsetup suspend --noflush --nolockfs slow
	nearcache prefetch nc s*.tar --wait >"$TMPDIR/out" 2>&1 &
	pid=$!
	wait_for 20 jobs_are '"flying_bytes": [1-9]' || fail "does not run: $out"
	kill -TERM $pid
	wait_for 20 jobs_are '"running": 0' || fail "not cancelled: $out"
	kill -TERM $pid
	rc=0
	wait $pid || rc=$?
	[[ $rc == 4 && $(<"$TMPDIR/out") == *"was cancelled: "*" of 4 MiB are cached, still in flight: "* ]] ||
		fail "interrupted twice: $rc $(<"$TMPDIR/out")"
	dmsetup resume slow
	settle
}

# While the command is stopped, more jobs end than the kernel remembers: the command must not fail,
# nor take another job for its own.
forgotten() {
	# The reads that hung have completed and are cached: start cold again.
	cold
	nearcache prefetch nc s*.tar --bandwidth 64K --wait >"$TMPDIR/out" 2>&1 &
	pid=$!
	wait_for 20 jobs_are '"running": 1' || fail "does not run: $out"
	kill -STOP $pid
	good cancel nc --all
	wait_for 20 jobs_are '"running": 0' || fail "not cancelled: $out"
	"$GENL" -n 1024 job-submit name=nc range=start=0,length=4096 >/dev/null || fail "submit"
	wait_for 20 jobs_are '"running": 0' || fail "jobs do not end: $out"
	kill -CONT $pid
	rc=0
	wait $pid || rc=$?
	[[ $rc == 0 && $(<"$TMPDIR/out") == *"has ended and the kernel has dropped its result"* ]] || fail "forgotten: $rc $(<"$TMPDIR/out")"
}

bad_input() {
	bad 1 "no TARGET given" prefetch nc
	bad 1 "go together" prefetch nc s1.tar --rank 1
	bad 1 "--rank 2: the last of 2 nodes has rank 1" prefetch nc s1.tar --rank 2 --world-size 2
	bad 1 "--world-size '0': give 1" prefetch nc s1.tar --rank 0 --world-size 0
	bad 1 "--epoch goes with --seed" prefetch nc s1.tar --rank 0 --world-size 1 --epoch 3
	bad 1 "go with --rank" prefetch nc s1.tar --seed 3
	bad 1 "give strided or blocked" prefetch nc s1.tar --split half
	bad 1 "--bandwidth '4Qb/s': its unit must be" prefetch nc s1.tar --bandwidth 4Qb/s
	bad 1 "--deadline '0': it must not be 0" prefetch nc s1.tar --deadline 0
	bad 4 "no device 'nobody'" prefetch nobody s1.tar
	bad 4 "'none': No such file" prefetch nc none
	bad 4 "no device 'nobody'" jobs nobody
	bad 1 "no job given" cancel nc
	bad 1 "'x' is not the number of a job" cancel nc 1 x
	bad 1 "--all takes no job numbers" cancel nc 1 --all
	bad 4 "no such job" cancel nc 999
}

mkdir "$M"
make_null O origin 16
make_null C local 12
make_dm slow slow "0 $(sectors "$O") linear $O 0"
at_exit dm_gone nc
at_exit unmount
at_exit end_waiting
mkfs.ext4 -qF -b 4096 -O ^has_journal -E nodiscard "$slow" 2>/dev/null && mount "$slow" "$M" || fail "mkfs"
rmdir "$M/lost+found"
for i in {0..7}; do
	head -c 512k /dev/urandom >"$M/s$i.tar"
done
umount "$M"
good create nc --origin "$slow" --cache "$C" --block-size 64K
mount -o ro /dev/mapper/nc "$M" && cd "$M" || fail "mount"
fetched
shared
interrupted
hanging
forgotten
bad_input
