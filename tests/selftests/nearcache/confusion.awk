# SPDX-License-Identifier: GPL-2.0-only
# Compare labelled runs with the classifier's answers and print confusion matrices.
#
#	awk -f confusion.awk STREAMS EVENTS RUNS
#
# STREAMS: output of 'nearcache classifier show'; EVENTS: lines of ./changes; RUNS: lines "NAME
# LABEL FIRST LIMIT CALLS ALL LAST COMMAND", with the last line of ./pattern in the middle. FIRST
# and LIMIT are 0 for runs without passes.
#
# A run must be classified after 256 accesses of each of its streams. The streams of a scattered run
# must have the class of its kind after 1.25 passes. If the streams of a run differ, the run counts
# as the first wrong class. Exits with 1 if less than 95 of 100 runs of a label are right, or if
# steady runs have more than one change of class in 10,000 accesses after the first pass.

BEGIN {
	split("sequential strided checkpoint scattered shuffled looping random", word, " ")
	word[0] = "unknown"
	for (i in word)
		number[word[i]] = i
	DUE = 256
}

# STREAMS: lines PID ACCESS CLASS ACCESSES ...
FILENAME == ARGV[1] {
	made[$1, $2 == "write"] += $4
	next
}

# EVENTS: lines TIME PID WRITES FROM TO ACCESSES ...
FILENAME == ARGV[2] {
	n = ++told[$2, $3]
	at[$2, $3, n] = $1
	from[$2, $3, n] = $4
	to[$2, $3, n] = $5
	accesses[$2, $3, n] = $6
	next
}

# Returns the class that a stream had after MOST accesses and at TIME; 0: no such limit.
function called(pid, writes, most, time,    i, last) {
	last = 0
	chosen = 0
	for (i = 1; i <= told[pid, writes]; i++) {
		if (most && accesses[pid, writes, i] > most || time && at[pid, writes, i] > time)
			break
		if (to[pid, writes, i] != last)
			chosen = accesses[pid, writes, i]
		last = to[pid, writes, i]
	}
	return last
}

function kind(class) {
	return class >= number["scattered"] ? number["scattered"] : class
}

{
	label = number[$2]
	writes = $2 == "checkpoint"
	broad = kind(label)
	all = split($6, pid, ",")
	most = 0
	verdict = broad
	latest = 0
	for (i = 1; i <= all; i++) {
		class = kind(called(pid[i], writes, DUE, 0))
		if (verdict == broad)
			verdict = class
		if (chosen > latest)
			latest = chosen
		most += made[pid[i], writes]
	}
	# The count at the last event before the judgement is a lower bound.
	if (most < DUE) {
		print "only " most " accesses: " $0
		bad = 1
	}
	early[broad, verdict]++
	runs[broad]++
	if (verdict == broad)
		needed[broad, ++times[broad]] = latest
	else
		print "after " DUE " accesses " word[verdict] ": " $0
	if (label > number["scattered"] && $4) {
		last = split($7, pid, ",")
		verdict = label
		for (i = 1; i <= last && verdict == label; i++)
			verdict = called(pid[i], 0, 0, $4)
		late[label, verdict]++
		set_runs[label]++
		if (verdict != label)
			print "after 1.25 passes " word[verdict] ": " $0
	}
	if ($1 == "steady") {
		all = split($6, pid, ",")
		for (i = 1; i <= all; i++)
			for (k = 1; k <= told[pid[i], writes]; k++)
				changes[label] += at[pid[i], writes, k] > $3 && from[pid[i], writes, k]
		calls[label] += $5
	}
}

# End a row with the percentage of right runs.
function row(label, right, sum,    share) {
	share = 100 * right / sum
	printf " %7.1f %%\n", share
	if (share < 95) {
		bad = 1
		print "  less than 95 % of " word[label]
	}
}

function head(text, first, last,    i) {
	printf "\n%s\n%-12s %5s", text, "label", "runs"
	for (i = first; i <= last; i++)
		printf " %10s", word[i]
	printf " %9s\n", "right"
}

# Returns the K-th percentile of needed[label].
function percentile(label, k,    i) {
	i = int((times[label] * k + 99) / 100)
	return sorted[i < 1 ? 1 : i]
}

function sort_needed(label,    i, j, value) {
	for (i = 1; i <= times[label]; i++) {
		value = needed[label, i]
		for (j = i - 1; j > 0 && sorted[j] > value; j--)
			sorted[j + 1] = sorted[j]
		sorted[j + 1] = value
	}
}

END {
	head("Called so after " DUE " accesses:", 0, 4)
	for (l = 1; l <= 4; l++) {
		printf "%-12s %5d", word[l], runs[l]
		total += runs[l]
		for (i = 0; i <= 4; i++)
			printf " %10d", early[l, i]
		row(l, early[l, l], runs[l])
	}
	head("Called so after 1.25 passes:", 0, 7)
	for (l = 5; l <= 7; l++) {
		printf "%-12s %5d", word[l], set_runs[l]
		for (i = 0; i <= 7; i++)
			printf " %10d", late[l, i]
		row(l, late[l, l], set_runs[l])
	}
	printf "\nAccesses until it was called so:\n%-12s %5s %5s %5s %5s\n", "label", "50 %", "90 %", "99 %", "100 %"
	for (l = 1; l <= 4; l++) {
		sort_needed(l)
		printf "%-12s %5d %5d %5d %5d\n", word[l], percentile(l, 50), percentile(l, 90),
		       percentile(l, 99), percentile(l, 100)
	}
	printf "\nOf steady runs after the first pass:\n%-12s %10s %8s\n", "label", "accesses", "changes"
	for (l = 1; l <= 7; l++) {
		if (!calls[l])
			continue
		printf "%-12s %10d %8d\n", word[l], calls[l], changes[l]
		if (changes[l] * 10000 > calls[l]) {
			bad = 1
			print "  more than one in 10,000"
		}
	}
	printf "\n%d labelled runs\n", total
	exit bad
}
