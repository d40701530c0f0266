# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Report a test's output and exit in KTAP. Sourced by the runners.
#
# Every leaf result (a line of TAP, or the test itself if it prints no TAP) also goes to
# $CHECK_OUT/leaves, from which the last line of the summary is counted.

CHECK_OUT=${CHECK_OUT:-$(dirname "${BASH_SOURCE[0]}")/../build/check}
KTAP_SKIP=4
mkdir -p "$CHECK_OUT"

# ktap_wanted NAME: does T select this test?
ktap_wanted() {
	[[ -z ${T:-} || $1 =~ $T ]]
}

# declared FILE KEY: print the values of the lines "KEY: value" in the head comment of FILE (shell
# or C).
declared() {
	sed -nE "/^(#|\/\/|\/\*| \*|\$)/! q; s,^(#|//| \*) $2: (.*)\$,\2,p" "$1"
}

# ktap_due FILE: does the test belong to this run? A long test that seldom fails declares
# "when: soak", and runs only in 'make soak' and when T selects tests.
ktap_due() {
	[[ ${SOAK:-} || ${T:-} || $(declared "$1" when) != soak ]]
}

# seconds_since START: print the seconds with one decimal; START is EPOCHREALTIME.
seconds_since() {
	local tenths=$(((${EPOCHREALTIME/./} - ${1/./}) / 100000))
	echo "$((tenths / 10)).$((tenths % 10))"
}

# ktap_suite NAME COUNT: begin a group of COUNT tests.
ktap_suite() {
	ktap_group=$1 ktap_number=0 ktap_failed=0
	printf '    KTAP version 1\n    # Subtest: %s\n    1..%d\n' "$1" "$2"
}

leaf() {
	printf '%s\t%s\n' "$1" "$2" >>"$CHECK_OUT/leaves"
}

# ktap_results LOG: print the results of a test's own TAP as "pass|fail|skip TEXT", and its plan as
# "plan N".
ktap_results() {
	LC_ALL=C awk '
	function say(verdict, text) {
		sub(/^ *[0-9]* *-? */, "", text)
		print verdict, text
	}
	/^ok( |$)/ { say($0 ~ /# *SKIP/ ? "skip" : "pass", substr($0, 3)) }
	/^not ok( |$)/ { say($0 ~ /# *(SKIP|TODO|XFAIL)/ ? "skip" : "fail", substr($0, 7)) }
	/^1\.\.[0-9]+/ { sub(/^1\.\./, ""); sub(/ .*/, ""); print "plan", $0 }' "$1"
}

# ktap_tail LOG: print the end of a failed test's log.
ktap_tail() {
	echo "        # the end of $1:"
	tail -n "${CHECK_TAIL:-40}" "$1" | LC_ALL=C tr -cd '[:print:]\n\t' | cut -c 1-300 | sed 's/^/        # /'
}

# ktap_report NAME LOG CODE SECONDS [REASON]: report one test. With REASON it fails whatever its own
# results are.
ktap_report() {
	local name=$1 log=$2 rc=$3 seconds=$4 reason=${5:-}
	local verdict text count=0 failed=0 skipped=0 plan=''
	while read -r verdict text; do
		[[ $verdict != plan ]] || { plan=$text; continue; }
		count=$((count + 1))
		case $verdict in
		fail) failed=$((failed + 1)); echo "        not ok $count $text" ;;
		skip) skipped=$((skipped + 1)); echo "        ok $count $text" ;;
		*) echo "        ok $count $text" ;;
		esac
		leaf "$verdict" "$ktap_group/$name: $text"
	done < <(ktap_results "$log")

	if [[ -z $reason ]]; then
		if ((rc != 0 && rc != KTAP_SKIP)); then
			reason="exit code $rc"
		elif ((failed)); then
			reason="$failed of $count failed"
		elif [[ $plan ]] && ((count != plan)); then
			reason="planned $plan results, gave $count"
		fi
	fi
	ktap_number=$((ktap_number + 1))
	printf '%s\t%s\n' "$seconds" "$ktap_group/$name" >>"$CHECK_OUT/durations"
	if [[ $reason ]]; then
		ktap_failed=$((ktap_failed + 1))
		((failed)) || leaf fail "$ktap_group/$name"
		ktap_tail "$log"
		echo "    not ok $ktap_number $name # $reason ($seconds s)"
	elif ((rc == KTAP_SKIP || (count && count == skipped))) || [[ $plan == 0 ]]; then
		((count)) || leaf skip "$ktap_group/$name"
		reason=$(sed -nE 's/^(SKIP:|1\.\.0 # SKIP) *//p' "$log" | tail -n 1)
		echo "    ok $ktap_number $name # SKIP ${reason:-no reason given}"
	else
		((count)) || leaf pass "$ktap_group/$name"
		echo "    ok $ktap_number $name # $seconds s"
	fi
}

# ktap_job LOG LIMIT COMMAND...: run a test on this machine, and write its exit code and seconds to
# LOG.end. Run it in a subshell: it sets a trap.
ktap_job() {
	local log=$1 limit=$2 start=$EPOCHREALTIME rc=0 pid
	shift 2
	rm -f "$log.end"
	# timeout kills the whole process group at the limit; the trap does if the runner is
	# terminated.
	timeout -k 10 "$limit" "$@" >"$log" 2>&1 </dev/null &
	pid=$!
	trap 'kill "$pid"; exit 143' TERM
	wait "$pid" || rc=$?
	echo "$rc $(seconds_since "$start")" >"$log.end"
}

# ktap_judge NAME LOG LIMIT: report a test that ktap_job ran.
ktap_judge() {
	local rc=1 seconds=0 reason=''
	read -r rc seconds 2>/dev/null <"$2.end" || reason='the runner broke off'
	rm -f "$2.end"
	((rc != 124)) || reason="no end within $3 s"
	ktap_report "$1" "$2" "$rc" "$seconds" "$reason"
}

# ktap_run NAME LOG LIMIT COMMAND...: run a test on this machine and report it.
ktap_run() {
	local name=$1 log=$2 limit=$3
	shift 3
	mkdir -p "$(dirname "$log")"
	(ktap_job "$log" "$limit" "$@")
	ktap_judge "$name" "$log" "$limit"
}
