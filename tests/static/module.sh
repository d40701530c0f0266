#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The module compiles for each kernel with the additional warnings of W=1, all of
# them errors, and sparse has nothing to say about it.
# timeout: 180
set -uo pipefail
# shellcheck source=tests/tap.sh
. "$TOP/tests/tap.sh"
cd "$TOP" || exit

# Objects stay, so that only what changed is compiled; C=2 checks everything.
build() {
	local dir=$BUILD/static/$1
	mkdir -p "$dir" && cp -pu --parents Kbuild kmod/*.[ch] uapi/*.h "$dir" &&
		make -s -C "/lib/modules/$1/build" "M=$dir" W=1 C=2 CHECK=sparse modules >"$dir/log" 2>&1
}

# But for what the generator of the netlink interface takes for constants; before 6.3 it is not.
sparse_silent() {
	! grep -E 'warning:|error:' "$BUILD/static/$1/log" |
		grep -v 'kmod/netlink_gen.c.*: warning: incorrect type in initializer (different modifiers)$'
}

pids=()
mapfile -t kernels < <(releases)
for release in "${kernels[@]}"; do
	build "$release" &
	pids+=($!)
done
for i in "${!kernels[@]}"; do
	rc=0
	wait "${pids[i]}" || rc=$?
	log=$BUILD/static/${kernels[i]}/log
	check "${kernels[i]} compiles with W=1" bash -c "((!$rc)) || { cat '$log'; exit 1; }"
	check "${kernels[i]} sparse" sparse_silent "${kernels[i]}"
done
finish
