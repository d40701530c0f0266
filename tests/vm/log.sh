# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The guest's kernel log: convert it to text, check that it is complete, look for problems.

# Patterns that never occur in the log of a healthy kernel.
LOG_BAD='WARNING:|\bBUG\b|\bOops\b|KASAN:|KCSAN:|KFENCE:|UBSAN:|kmemleak: [0-9]+ new'
LOG_BAD+='|possible (circular|recursive|irq lock inversion)|inconsistent lock state|suspicious RCU'
LOG_BAD+='|turning off the locking correctness validator|kmemleak: .*(disabled|Cannot allocate)'
LOG_BAD+='|bad unlock balance|held lock freed|DEBUG_LOCKS_WARN|INFO: (possible|suspicious|trying to)'
LOG_BAD+='|detected stalls|self-detected stall|rcu_.*stall|kthread starved|blocked for more than'
LOG_BAD+='|soft lockup|[Hh]ard LOCKUP|general protection|refcount_t|Kernel panic'
LOG_BAD+='|unregister_netdevice|[Uu]nable to handle|sleeping function called'
LOG_BAD+='|scheduling while atomic|list_(add|del) corruption|invalid opcode|double fault'
LOG_BAD+='|stack-protector|slab.*(corruption|Objects remaining)|Bad page (state|map)'
LOG_BAD+='|page allocation failure|Out of memory: Killed|segfault at|nearcache-vm: FAIL'

# log_text RAW: print records of /dev/kmsg ("prio,sequence,microseconds,flags;text") as plain lines.
# A gap in the sequence numbers becomes a line that LOG_BAD matches.
log_text() {
	# Drop an incomplete last record, which a killed guest may leave.
	LC_ALL=C sed '$ { /;/! d }' "$1" | LC_ALL=C awk '
	/^[0-9]+,[0-9]+,[0-9]+,[^;]*;/ {
		head = substr($0, 1, index($0, ";") - 1)
		split(head, field, ",")
		if (field[2] != wanted)
			printf "nearcache-vm: FAIL: log records %d to %d are lost\n", wanted, field[2] - 1
		wanted = field[2] + 1
		printf "[%5d.%06d] %s\n", field[3] / 1000000, field[3] % 1000000, substr($0, length(head) + 2)
		next
	}
	/^ / { next }	# properties of the device that the record is about
	{ print "nearcache-vm: FAIL: unreadable record: " $0 }'
}

# log_complete TEXT START_ONLY: fail unless the log has the markers that the guest's init writes.
log_complete() {
	if ! grep -q 'nearcache-vm: log starts' "$1"; then
		echo "vm: FAIL: the guest's kernel log could not be read (no start marker)"
		return 1
	fi
	[[ $2 ]] && return
	if ! grep -q 'nearcache-vm: log ends' "$1"; then
		echo "vm: FAIL: the guest's kernel log is not complete (no end marker)"
		return 1
	fi
}

# log_scan EXPECT ALLOW FILE...: fail and print the lines if a file has a bad one. EXPECT and ALLOW
# are newline-separated patterns of harmless lines; each pattern of EXPECT must also occur.
log_scan() {
	local expect=$1 allow=$2 pattern file hits rc
	local -x LC_ALL=C
	shift 2
	for file; do
		[[ -r $file ]] || { echo "vm: FAIL: cannot read $file"; return 1; }
	done
	while IFS= read -r pattern; do
		# grep exits with 2 for a bad pattern, which must not count as "nothing found".
		rc=0
		grep -Eqe "$pattern" /dev/null || rc=$?
		((rc < 2)) || { echo "vm: FAIL: bad pattern '$pattern'"; return 1; }
	done <<<"$expect"$'\n'"$allow"
	rc=0
	while IFS= read -r pattern; do
		[[ -z $pattern ]] || grep -aEqe "$pattern" "$@" || {
			echo "vm: FAIL: the kernel log lacks the expected line: $pattern"
			rc=1
		}
	done <<<"$expect"
	hits=$(grep -ahEe "$LOG_BAD" "$@" | tr -d '\r' | awk '!seen[$0]++' || true)
	while IFS= read -r pattern; do
		[[ -z $pattern ]] || hits=$(grep -avEe "$pattern" <<<"$hits" || true)
	done <<<"$expect"$'\n'"$allow"
	if [[ $hits ]]; then
		echo "vm: FAIL: the guest's kernel log says:"
		head -n 40 <<<"$hits" | sed 's/^/vm:   /'
		rc=1
	fi
	return $rc
}
