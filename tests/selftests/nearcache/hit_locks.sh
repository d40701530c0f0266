#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A hit takes no lock of the module: the kernel of 'make check-debug' counts lock acquisitions. The
# test finds the module's lock classes by their addresses, so it covers future locks as well.
# kernels: debug
. ./cache.sh
STAT=/proc/lock_stat

# own_classes: print the names of the lock classes whose keys lie in the module's data.
own_classes() {
	awk '
	FNR == NR {
		if ($2 ~ /[bBdD]/ && $4 == "[dm_nearcache]") {
			if (!first || $1 "" < first)
				first = $1 ""
			if ($1 "" > last)
				last = $1 ""
		}
		next
	}
	/^[0-9a-f]+ FD:/ && $1 "" >= first && $1 "" <= last {
		sub(/^[0-9a-f]+ FD: *[0-9]+ BD: *[0-9]+ [^ ]+: /, "")
		print
	}' /proc/kallsyms /proc/lockdep
}

# taken: print "COUNT NAME" of each of these classes since the last clear.
taken() {
	own_classes | awk '
	NR == FNR { own[$0]; next }
	match($0, /: +[0-9]+ /) {
		name = substr($0, 1, RSTART - 1)
		gsub(/^ +|-[RW]$/, "", name)
		split(substr($0, RSTART + 1), word, " ")
		if (name in own)
			count[name] += word[8]
	}
	END { for (name in count) print count[name], name }' - "$STAT" | sort -rn
}

clear() {
	echo 0 >"$STAT"
}

# lock_free: fail if hits take a lock, or if misses do not: then locks would not be counted.
lock_free() {
	local before misses hits i start
	clear
	check -b 8
	settle
	misses=$(field misses)
	taken >"$TMPDIR/misses"
	echo "$misses misses:" && cat "$TMPDIR/misses"
	((misses > 1000)) || fail "$misses misses"
	awk -v n="$misses" '/bucket_locks/ { sum += $1 } END { exit sum < n }' "$TMPDIR/misses" ||
		fail "$misses misses took the bucket locks less often"
	before=$(field hits)
	start=$SECONDS
	clear
	for ((i = 0; i < $(times 2); i++)); do
		check -b 8 -t 2
	done
	taken >"$TMPDIR/hits"
	hits=$(($(field hits) - before))
	echo "$hits hits:" && cat "$TMPDIR/hits"
	((hits > 5000)) || fail "$hits hits"
	# Allow a few locks per second: timers, such as the watch over hanging hits, take them. A hit on a
	# sampled block tries the policy's lock, and does not wait for it: one hit of eight does here.
	awk -v n=$((hits / 100 + 20 * (SECONDS - start + 1))) -v tried=$((hits / 2)) \
		'$1 >= (/policy\.lock/ ? tried : n) { print; bad = 1 } END { exit bad }' "$TMPDIR/hits" ||
		fail "locks taken while there were $hits hits"
}

[[ -e $STAT ]] || skip "no statistics of locks"
grep -qw no_hash_pointers /proc/cmdline || skip "the addresses of lock classes are hidden"
echo 1 >/proc/sys/kernel/lock_stat
fresh
lock_free
stop
echo "with checksums, and writable:"
# shellcheck disable=SC2034 # for format
INTEGRITY=crc32c
# shellcheck disable=SC2034 # for line
MODE=writethrough
format
start
lock_free
