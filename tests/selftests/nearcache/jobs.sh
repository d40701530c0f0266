#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Prefetch jobs. The data that they fetch is right and hits, and their requests are as long as
# possible. Jobs yield to readers, end, are cancelled, fail, and race with all other operations.
# kernels: 6.1
# cpus: 1
. ./asking.sh

NC=/dev/mapper/nc
MB=$((1 << 20))

# value NAME: print the value of NAME in $out, without a process; values NAME: print all values.
value() {
	[[ $'\n'$out =~ $'\n'"$1="([^$'\n']*) ]] || return 0
	echo "${BASH_REMATCH[1]}"
}

values() {
	sed -n "s/^$1=//p" <<<"$out"
}

# submit RANGES... [job=...]: submit a job and put its number into $id.
submit() {
	ask job-submit name=nc "$@"
	id=$(value job.id)
	[[ $id ]] || fail "no id in: $out"
}

over() {
	ask job-get name=nc "job=id=${1:-$id}"
	[[ $(value job.state) == [124] ]]
}

# done_with [ID [STATE]]: wait for the end of the job, which must be "done" (1) or STATE; the answer
# is in $out.
done_with() {
	wait_for 60 over "$@" || fail "job does not end: $out"
	says job.state "${2:-1}"
	says job.flying 0
}

# waits ID: does the job wait for a slot, with no read in flight?
waits() {
	ask job-get name=nc job=id="$1"
	[[ $(value job.state) == 3 && $(value job.flying) == 0 ]]
}

cached() {
	ask residency-get name=nc start="$1" length="$2"
	says cached-bytes "$3"
}

# A job fetches all of its ranges, in long requests; then reads hit, and listeners get an event.
fetched() {
	./genl listen 1 "$TMPDIR/listening" >"$TMPDIR/heard" &
	listener=$!
	listening() {
		[[ -e $TMPDIR/listening ]]
	}
	wait_for 30 listening || fail "the listener did not start"
	origin_mark
	local stat before after
	stat=$(sys_block "$O")/stat
	read -ra before <"$stat"
	submit range=start=0,length=$((8 * MB)) job=label=first,priority=3
	done_with
	says job.label first
	# Any user sees the progress, but not the label, which may name data of others.
	ask -u 1000 job-get name=nc job=id="$id"
	says job.bytes $((8 * MB))
	[[ ! $(value job.label) ]] || fail "a label without privileges: $out"
	ask -u 1000 -d job-get name=nc
	says job.bytes $((8 * MB))
	[[ ! $(value job.label) ]] || fail "a label in a dump without privileges: $out"
	ask -s job-get name=nc job=id="$id"
	[[ ! $(value job.label) ]] || fail "a label without CAP_SYS_ADMIN: $out"
	ask job-get name=nc job=id="$id"
	says job.priority 3
	says job.bytes $((8 * MB))
	says job.fetched $((8 * MB))
	says job.present 0
	says job.left 0
	wait $listener || fail "listen"
	grep -qx "event=6" "$TMPDIR/heard" || fail "no event: $(<"$TMPDIR/heard")"
	read -ra after <"$stat"
	same "read" "$(origin_delta)" $((8 * MB))
	echo "$((after[0] - before[0])) requests for 8 MiB"
	((after[0] - before[0] <= 8)) || fail "requests are short"
	is prefetched_bytes $((8 * MB))
	is prefetched_used_bytes 0
	is misses 0
	cached 0 $((8 * MB)) $((8 * MB))
	origin_mark
	check -n 8192 >/dev/null
	same "read on demand" "$(origin_delta)" 0
	is prefetched_used_bytes $((4 * MB))
	check -n 8192 >/dev/null
	is prefetched_used_bytes $((4 * MB))
	# All data of a second job but 4 KiB is present; its ranges are rounded to sub-blocks.
	submit range=start=$((6 * MB)),length=512 range=start=512,length=$((MB - 512)) \
		range=start=$((9 * MB + 512)),length=512
	done_with
	says job.bytes $((4096 + MB + 4096))
	says job.present $((4096 + MB))
	says job.fetched 4096
	cached $((9 * MB)) 4096 4096
	ask -d job-get name=nc
	same "jobs" "$(values job.id | tr '\n' ' ')" "1 2 "
}

# brought ID BYTES: has the job fetched more than BYTES?
brought() {
	ask job-get name=nc job=id="$1"
	(($(value job.fetched) > $2))
}

# Has the job waited so long, undisturbed, that it tries again by itself only once per minute?
long_since() {
	((SECONDS >= since + 7))
}

# The cache is full, no block is idle and no reader runs: a job waits for slots, also while the test
# sends bad requests and reloads the table. A second job leaves out its data after its deadline. The
# first one goes on as soon as a reader comes.
full() {
	local big since had
	submit range=start=0,length=$((16 * MB))
	big=$id
	wait_for 60 waits "$big" || fail "does not wait: $out"
	bad_input
	reload || fail "reload"
	submit range=start=$((15 * MB)),length=$MB job=deadline=1
	done_with "$id" 4
	(($(value job.left) >= MB / 2)) || fail "$out"
	same "all of it" $(($(value job.left) + $(value job.fetched) + $(value job.present))) $MB
	since=$SECONDS
	wait_for 30 long_since
	waits "$big" || fail "does not wait any more: $out"
	says job.left 0
	had=$(value job.fetched)
	# The jobs evicted none of the blocks that they had brought.
	cached 0 $((15 * MB)) "$had"
	is prefetched_wasted_bytes 0
	check -n $((had / 512)) >/dev/null
	wait_for 30 brought "$big" "$had" || fail "a reader did not wake the job: $out"
	ask job-cancel name=nc
	wait_for 30 over "$big" || fail "not cancelled: $out"
}

# resident START: are the 64 KiB from START cached?
resident() {
	ask residency-get name=nc start="$1" length=65536
	[[ $(value cached-bytes) == 65536 ]]
}

# In a full cache, a job runs ahead of a reader in a few slots, which are reused after the reads.
in_transit() {
	local at share left first=$((12 * MB)) length=$MB before
	check -n 8192 >/dev/null
	share=$(($(field blocks) / 64 * 2 * 65536))
	ask residency-get name=nc start=0 length=$((8 * MB))
	before=$(value cached-bytes)
	left=$(field bypass_full)
	origin_mark
	submit range=start=$first,length=$length
	for ((at = first; at < first + length; at += 65536)); do
		wait_for 30 resident "$at" || fail "the block at $at was not prefetched: $out"
		check -s $((at / 512)) -n 64 -b 16 >/dev/null
		check -s $((at / 512 + 64)) -n 64 >/dev/null
	done
	done_with
	says job.fetched $length
	same "read from the origin" "$(origin_delta)" $length
	same "bypasses" "$(field bypass_full)" "$left"
	ask residency-get name=nc start=$first length=$length
	(($(value cached-bytes) <= share)) ||
		fail "more than the prefetch reserve, $share, is still cached: $out"
	ask residency-get name=nc start=0 length=$((8 * MB))
	(($(value cached-bytes) >= before - share)) ||
		fail "more than $share of $before was evicted: $out"
}

# Two jobs want the same few slots. The first job, of higher priority, wants a little of each of many
# blocks, and waits for a reader that does not come: the second job still runs ahead of its reader, and
# both keep the data that they brought.
in_parallel() {
	local at=$((13 * MB)) first second
	submit range=16@65536,start=$((14 * MB)),length=4096 job=priority=7
	first=$id
	wait_for 30 waits "$first" || fail "does not wait: $out"
	(($(value job.fetched) >= 4096)) || fail "$out"
	submit range=start=$at,length=$((MB / 2))
	second=$id
	for (( ; at < 13 * MB + MB / 2; at += 65536)); do
		wait_for 30 resident "$at" || fail "the block at $at was not prefetched: $out"
		check -s $((at / 512)) -n 128 >/dev/null
	done
	done_with "$second"
	says job.fetched $((MB / 2))
	waits "$first" || fail "does not wait any more: $out"
	cached $((14 * MB)) $MB "$(value job.fetched)"
	# A job that waits is cancelled, and the next job may use its slots.
	ask job-cancel name=nc
	wait_for 30 over "$first" || fail "not cancelled: $out"
	says job.state 2
	submit range=start=$((14 * MB + MB / 2)),length=$((MB / 2))
	wait_for 30 resident $((14 * MB + MB / 2)) || fail "not prefetched: $out"
	ask job-cancel name=nc
	wait_for 30 over || fail "not cancelled: $out"
}

# A job fetches pinned ranges even into a full cache.
pinned() {
	./genl range-add name=nc range=start=$((12 * MB)),length=$((3 * MB)),label=pin,flags=1 >/dev/null
	submit range=start=$((12 * MB)),length=$((3 * MB))
	done_with
	says job.left 0
	cached $((12 * MB)) $((3 * MB)) $((3 * MB))
	above prefetched_wasted_bytes 0
	./genl range-delete name=nc range=label=pin >/dev/null
	# A job does not fetch a bypassed range.
	./genl range-add name=nc range=start=0,length=$((4 * MB)),label=out,flags=2 >/dev/null
	dmsetup message nc 0 invalidate all
	submit range=start=0,length=$((4 * MB))
	done_with "$id" 4
	says job.left $((4 * MB))
	./genl range-delete name=nc range=label=out >/dev/null
}

# Jobs run one after the other, and each range is read after its job: all jobs must use the same few
# slots, so that blocks cached before stay.
in_turns() {
	local at share first=$((13 * MB)) before
	stop
	format
	start
	# A first job, after which the policy retains the blocks that are read first.
	submit range=start=0,length=4096
	done_with
	check >/dev/null
	share=$(($(field blocks) / 64 * 2 * 65536))
	ask residency-get name=nc start=0 length=$((8 * MB))
	before=$(value cached-bytes)
	cached $first $MB 0
	for ((at = first; at < first + MB; at += 131072)); do
		submit range=start=$at,length=131072
		done_with
		says job.fetched 131072
		check -s $((at / 512)) -n 256 >/dev/null
	done
	ask residency-get name=nc start=$first length=$MB
	(($(value cached-bytes) <= share)) ||
		fail "more than the prefetch reserve, $share, is still cached: $out"
	ask residency-get name=nc start=0 length=$((8 * MB))
	(($(value cached-bytes) >= before - share)) ||
		fail "more than $share of $before was evicted: $out"
}

# A request cancels a slow job at once; another request cancels many jobs.
cancelled() {
	local ids=() begin
	dmsetup message nc 0 invalidate all
	submit range=start=0,length=$((8 * MB)) job=bandwidth=65536
	# A later job ends while the slow job still runs.
	submit range=start=$((8 * MB)),length=$MB
	done_with
	ask job-get name=nc job=id=$((id - 1))
	says job.state 0
	begin=${EPOCHREALTIME/./}
	ask job-cancel name=nc job=id=$((id - 1))
	says count 1
	wait_for 30 over $((id - 1)) || fail "not cancelled: $out"
	says job.state 2
	echo "cancelled in $(((${EPOCHREALTIME/./} - begin) / 1000)) ms"
	refused ENOENT 'no such job' job-cancel name=nc job=id=$((id - 1))
	for ((i = 0; i < 70; i++)); do
		submit range=start=$((i * 65536)),length=$((8 * MB)) "job=bandwidth=4096,priority=$((i % 8))"
		ids+=("$id")
	done
	ask job-cancel name=nc
	says count 70
	wait_for 30 over "$id" || fail "not cancelled"
	# The module remembers the last 1024 jobs.
	for ((i = 0; i < 2; i++)); do
		ask -n 500 job-submit name=nc range=start=0,length=4096
		wait_for 60 idle || fail "jobs do not end: $out"
	done
	ask -d job-get name=nc
	same "known" "$(values job.id | wc -l)" 1024
	refused ENOENT 'no such job' job-get name=nc job=id=1
}

bad_input() {
	local piece=range=start=0,length=512
	refused EINVAL '1 to 1048576' job-submit name=nc
	refused EINVAL 'takes only start and length' job-submit name=nc range=start=0
	refused EINVAL 'takes only start and length' job-submit name=nc range=length=512
	refused EINVAL 'takes only start and length' job-submit name=nc "$piece,label=x"
	refused EINVAL 'takes only start and length' job-submit name=nc "$piece,flags=1"
	refused ERANGE 'start must be' job-submit name=nc "$piece" range=start=1,length=512
	refused ERANGE 'length must be' job-submit name=nc range=start=512,length=$((16 * MB))
	refused EINVAL 'can be set (id)' job-submit name=nc "$piece" job=id=7
	refused EINVAL 'can be set (fetched)' job-submit name=nc "$piece" job=label=x,fetched=1
	refused ERANGE '(priority)' job-submit name=nc "$piece" job=priority=8
	refused EINVAL 'only by its id' job-get name=nc
	refused EINVAL 'only by its id' job-get name=nc job=id=0
	refused EINVAL 'only by its id' job-get name=nc job=id=1,priority=1
	refused EINVAL 'only by its id' job-cancel name=nc job=label=x
	refused EINVAL 'only by its id' -d job-get name=nc job=id=1,priority=1
	refused ENOENT 'no such job' job-get name=nc job=id=99999
	refused ENODEV '' job-submit name=none "$piece"
	refused ENODEV '' job-get name=none job=id=1
	refused EPERM '' -u 1000 job-submit name=nc "$piece"
	refused EPERM '' -u 1000 job-cancel name=nc
	# The ranges of a job show which data others read.
	refused EPERM 'CAP_SYS_ADMIN' -u 1000 -d job-get name=nc job=id=1
	refused EPERM 'CAP_SYS_ADMIN' -s -d job-get name=nc job=id=1
	refused EPERM 'CAP_SYS_ADMIN' -s job-submit name=nc "$piece"
	dmsetup suspend nc
	refused EBUSY 'resume it first' job-submit name=nc "$piece"
	dmsetup resume nc
}

# 64 jobs in parallel with readers, writers and reloads. Some jobs want more than fits and would
# wait for readers: these are cancelled.
racing() {
	local i n
	MODE=writethrough reload || fail "reload"
	verify_begin -b 1:256 -a 1 -r 200 -t 2 -n 14336
	for ((i = 0; i < $(times 2); i++)); do
		dmsetup message nc 0 invalidate all
		for ((n = 0; n < 64; n++)); do
			submit "range=$((4 - i % 2))@$((2 * MB)),start=$((n * 32768)),length=$((MB + n * 512))" "job=priority=$((n % 8))"
		done
		./blockdata write "$NC" -s $((i * 4096)) -n 2048 -b 8
		reload || fail "reload"
		((i % 2)) || ask job-cancel name=nc
		wait_for 60 idle || fail "jobs do not end: $out"
	done
	verify_end >/dev/null
	check >/dev/null
	MODE=read-only reload || fail "reload"
}

idle() {
	ask -d job-get name=nc
	! values job.state | grep -qx '[03]'
}

# The origin fails: a job retries, then gives up the failing part and fetches the rest.
failing() {
	dmsetup message nc 0 invalidate all
	stop
	local bad
	make_dm bad bad "$(printf '0 8192 linear %s 0\n8192 8 error\n8200 24568 linear %s 8200' "$O" "$O")"
	format "$C" "$bad"
	start nc '' "$bad"
	submit range=start=0,length=$((6 * MB))
	done_with "$id" 4
	above fills_failed_origin 0
	(($(value job.left) >= 4096 && $(value job.left) <= MB)) || fail "$out"
	same "all of it" $(($(value job.left) + $(value job.fetched) + $(value job.present))) $((6 * MB))
	check -s 8704 -n 1024 >/dev/null
	# The device is removed while jobs run.
	for ((i = 0; i < $(times 1); i++)); do
		dmsetup message nc 0 invalidate all
		submit "range=8@$MB,start=0,length=$MB"
		submit "range=8@$MB,start=0,length=$MB" job=bandwidth=1000000
		stop
		start nc '' "$bad"
		ask -d job-get name=nc
		same "jobs of before" "$(values job.id)" ""
	done
	stop
}

make_null O origin 16 max_sectors=8192
make_null C local 24
./blockdata write "$O"
format
start
fetched
stop
make_null C small 9
format
start
full
in_transit
in_parallel
pinned
in_turns
cancelled
racing
failing
