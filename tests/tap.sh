# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# TAP for tests that run on this machine: . "$TOP/tests/tap.sh"

tap_count=0 tap_failed=0
trap 'exit 130' INT
trap 'exit 143' TERM

# check NAME COMMAND...: report one result; print the command's output if it fails.
check() {
	local name=$1 said rc=0
	shift
	said=$("$@" 2>&1) || rc=$?
	tap_count=$((tap_count + 1))
	if ((!rc)); then
		echo "ok $tap_count $name"
		return
	fi
	tap_failed=$((tap_failed + 1))
	[[ -z $said ]] || sed 's/^/# /' <<<"$said"
	echo "not ok $tap_count $name"
}

# pass_over NAME REASON: report a result as skipped.
pass_over() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count $1 # SKIP $2"
}

# finish: print the plan and exit.
finish() {
	echo "1..$tap_count"
	exit $((tap_failed > 0))
}

# releases: print the release of each kernel that the guests run, one per line.
releases() (
	# shellcheck source=tests/vm/kernel.sh
	. "$TOP/tests/vm/kernel.sh"
	for kernel in ${VM_KERNELS:-6.12 6.1}; do
		kernel_pick "$kernel" "$(kernel_root "$kernel")"
	done
)
