# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The kernel's fault injection, with 'make check-debug' only: . ./faults.sh, after cache.sh.
FAULTS=/sys/kernel/debug
# Number of faults allowed, more than a test needs: the rest of it shows how many happened.
FAULTS_MOST=1000000
faults_sum=0

# set_fault NAME FILE VALUE: set a parameter of the fault NAME.
set_fault() {
	echo "$3" >"$FAULTS/$1/$2" || fail "$1/$2 refuses $3"
}

# faults PERCENT NAME...: inject these faults from now on.
faults() {
	local name
	for name in "${@:2}"; do
		set_fault "$name" times $FAULTS_MOST
		set_fault "$name" probability "$1"
	done
}

faults_off() {
	local name
	for name in failslab fail_page_alloc fail_make_request; do
		set_fault $name probability 0
	done
}

# faults_end NAME...: stop; fail if no fault was injected; add their number to faults_sum.
faults_end() {
	local name count
	faults_off
	for name; do
		count=$((FAULTS_MOST - $(<"$FAULTS/$name/times")))
		echo "$name: $count faults"
		((count > 0)) || fail "$name: there was no fault"
		faults_sum=$((faults_sum + count))
	done
}

# function_ranges: print START END START END, sorted: the address range of the function by which
# kmemleak allocates its own records, and the range of the module's functions.
function_ranges() {
	awk '
	after { print "0x" at, "0x" $1; after = 0 }
	$3 == "__alloc_object" { at = $1; after = 1 }
	$4 == "[dm_nearcache]" && $2 ~ /[tT]/ {
		if (!first || $1 "" < first)
			first = $1 ""
		if ($1 "" > last)
			last = $1 ""
	}
	# The end of the last function is unknown: take the end of its page.
	END { print "0x" first, "0x" substr(last, 1, length(last) - 3) "fff" }' /proc/kallsyms | sort
}

# faults_of_module: from now on only allocations with a function of the module in their backtrace
# fail, including those that may sleep.
faults_of_module() {
	local name start end watch watch_end
	[[ -d $FAULTS/failslab && -d $FAULTS/fail_page_alloc ]] || skip "no faults are injected"
	grep -qw no_hash_pointers /proc/cmdline || skip "the addresses of functions are hidden"
	{
		read -r watch watch_end
		read -r start end
	} < <(function_ranges)
	[[ ${start:-0x} != 0x ]] || fail "the functions were not found"
	at_exit faults_anywhere
	for name in failslab fail_page_alloc; do
		set_fault $name verbose 0
		set_fault $name stacktrace-depth 32
		set_fault $name require-start "$start"
		set_fault $name require-end "$end"
		set_fault $name reject-start "$watch"
		set_fault $name reject-end "$watch_end"
		set_fault $name ignore-gfp-wait N
	done
	set_fault fail_page_alloc min-order 0
	set_fault fail_page_alloc ignore-gfp-highmem N
}

faults_anywhere() {
	local name
	faults_off
	for name in failslab fail_page_alloc; do
		set_fault $name times -1
		set_fault $name require-start 0
		set_fault $name require-end 0xffffffffffffffff
		set_fault $name reject-start 0
		set_fault $name reject-end 0
		set_fault $name ignore-gfp-wait Y
	done
}

# failing DEV: requests to DEV fail while faults of fail_make_request are on.
failing() {
	[[ -d $FAULTS/fail_make_request ]] || skip "no faults are injected"
	set_fault fail_make_request verbose 0
	echo 1 >"$(sys_block "$1")/make-it-fail" || fail "$1 cannot be made to fail"
	at_exit faults_off
}

healthy() {
	echo 0 >"$(sys_block "$1")/make-it-fail"
}
