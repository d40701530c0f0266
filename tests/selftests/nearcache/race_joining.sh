#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# When the origin's read for a fill completes, the module copies short reads to their readers, in
# the interrupt or right after it, while other reads join. Each reader must get the right data, and
# the origin must be read once.
# kernels: 6.12
# when: soak
. ./cache.sh
. ./command.sh

# joining OPTIONS...: empty the cache, and let all threads read the same sectors at the same moment.
joining() {
	dmsetup message nc 0 invalidate all || fail "invalidate"
	origin_mark
	before=$(field fill_origin_bytes)
	timeout $((60 * ${SLOW:-1})) ./blockdata read /dev/mapper/nc -c "$@" >/dev/null ||
		fail "$nsec ns, $*: wrong data, or a reader hangs"
	settle
	delta=$(origin_delta)
	same "origin bytes of $*" "$delta" $(($(field fill_origin_bytes) - before))
}

# With two latencies of the origin, other reads come before, during and after the completion.
make_null C local 24
for nsec in 30000 120000; do
	make_null O "origin$nsec" 4 completion_nsec=$nsec
	./blockdata write "$O"
	format "$C" "$O" 512K
	start
	for threads in 2 4; do
		# Around the 32 KiB that an interrupt copies and the 128 KiB that a softirq copies;
		# then reads that overlap.
		for length in 8 64 72 256 264; do
			joining -b $length -t $threads
			same "origin bytes of $length" "$delta" $((4 << 20))
		done
		joining -b 8:64 -a 8 -r 100 -t $threads
	done
	above joins 0
	echo "$nsec ns: $(field joins) joined $(field fills) fills"
	stop
done

# Each thread reads one run of sectors. A read that is looked up again, because a fill has completed
# meanwhile, must be reported to the classifier only once, or it would begin another run.
good classifier load
at_exit run classifier unload
start
for threads in 2 4; do
	joining -b 8 -t $threads
done
run classifier show -j --all
same "runs" "$(grep -o '"runs": [0-9]*' <<<"$out" | sort | tr '\n' ' ')" '"runs": 2 "runs": 4 '
