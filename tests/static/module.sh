#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The module compiles for each kernel and for Debian's newest with W=1 and no warning, and sparse
# reports nothing: for 6.12, in 'make soak' for each kernel. The guests run the resulting modules.
# timeout: 480
set -uo pipefail
# shellcheck source=tests/tap.sh
. "$TOP/tests/tap.sh"
# shellcheck source=tests/vm/kernel.sh
. "$TOP/tests/vm/kernel.sh"
cd "$TOP" || exit
newest=trixie-backports

unset MAKEFLAGS MFLAGS MAKELEVEL

# Keep the objects, so that make compiles only changes; C=2 checks everything. make would accept an
# existing module without a check. The build with sparse takes longer than the others, so each build
# may use all processors.
build() {
	local release
	release=$(kernel_pick "$1" "$(kernel_root "$1")") || return
	rm -f "$BUILD/module/$release/dm-nearcache.ko"
	make -j"$(nproc)" --no-print-directory module "BUILD=$BUILD" "KVER=$release" "KDIR=$(kernel_headers "$1")" W=1 \
		"C=$(sparse "$1" && echo 2 || echo 0)" CHECK=sparse
}

# Sparse of Debian 12 is older than the newest kernel's headers.
sparse() {
	[[ $1 != "$newest" && (${SOAK:-} || $1 == 6.12*) ]]
}

# Ignore the generated netlink policies, which are const only since 6.3.
sparse_silent() {
	! grep -E 'warning:|error:' "$BUILD/static/module-$1.log" |
		grep -v 'kmod/netlink/policy_gen.c.*: warning: incorrect type in initializer (different modifiers)$'
}

mkdir -p "$BUILD/static"
exec {lock}>"$BUILD/static/module.lock"
flock "$lock"
pids=() reason=''
read -ra kernels <<<"${VM_KERNELS:-6.12 6.1}"
if [[ " ${kernels[*]} " != *" $newest "* ]]; then
	if reason=$(tests/kernels/get "$newest" headers 2>&1) || (($? != 4)); then
		reason=''
		kernels+=("$newest")
	fi
fi
for kernel in "${kernels[@]}"; do
	build "$kernel" >"$BUILD/static/module-$kernel.log" 2>&1 &
	pids+=($!)
done
for i in "${!kernels[@]}"; do
	rc=0
	wait "${pids[i]}" || rc=$?
	log=$BUILD/static/module-${kernels[i]}.log
	check "${kernels[i]} compiles with W=1" bash -c "((!$rc)) || { cat '$log'; exit 1; }"
	! sparse "${kernels[i]}" || check "${kernels[i]} sparse" sparse_silent "${kernels[i]}"
done
[[ ! $reason ]] || pass_over "$newest compiles with W=1" "$(sed -n 's/^kernels: no /no /p' <<<"$reason")"
finish
