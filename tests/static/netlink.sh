#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The files generated from uapi/nearcache.yaml must be up to date, and the spec must match the
# schema of the kernel.
set -uo pipefail
# shellcheck source=tests/tap.sh
# shellcheck disable=SC2317 # functions that check() calls
. "$TOP/tests/tap.sh"
cd "$TOP" || exit
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

generated() {
	"${MAKE:-make}" -s --no-print-directory netlink BUILD="$BUILD" NETLINK_OUT="$out" &&
		for file in uapi/nearcache.h kmod/netlink/policy_gen.h kmod/netlink/policy_gen.c; do
			diff -u "$file" "$out/$file" || { echo "$file: make netlink"; return 1; }
		done
}

# in_set NAME: print the attributes of a set.
in_set() {
	awk -v set="$1" '/^    name: / { on = $2 == set } /^operations:/ { exit } on && /^        name: / { print $2 }' \
		uapi/nearcache.yaml
}

# listed: fail unless spec and headers have the same counters and status fields, in the same order.
listed() {
	diff <(sed -nE 's/^\tX\([A-Z0-9_]+, "([a-z0-9_]+)".*/\1/p' uapi/nearcache_counters.h | tr _ -) \
		<({ in_set status; in_set counter; } | grep -vx pad
		in_set label | grep -vxE 'pad|name|ranges|bytes|id') &&
		diff <(sed -n '/define NEARCACHE_STAGE_STATUS(X)/,/^$/p' uapi/nearcache_stage.h |
			grep -oE 'X\([a-z_]+\)' | tr -d 'X()' | tr _ -) <(in_set stage-status | grep -vx pad)
}

# unprivileged: print the operations that need no capability.
unprivileged() {
	awk '/^operations:/ { on = 1 } on && /^      name: / { name = $2; open = 1 }
		on && /^      flags: .*admin-perm/ { open = 0 }
		on && /^      (do|dump):/ && open { print name; open = 0 }' uapi/nearcache.yaml
}

# host_root: fail if an operation accepts root of a user namespace, or every user, except four: the
# family is visible in every network namespace.
host_root() {
	! grep -n 'uns-admin-perm' uapi/nearcache.yaml &&
		diff <(unprivileged) <(printf '%s\n' device-get job-get plan-get stage-get)
}

check 'what is committed is what the generator makes' generated
check 'all counters and fields are in the spec' listed
check 'no operation accepts root of a user namespace' host_root
finish
