#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# DKMS builds the module for each kernel from what 'make dkms-source' lays out.
# timeout: 360
set -uo pipefail
# shellcheck source=tests/tap.sh
. "$TOP/tests/tap.sh"
cd "$TOP" || exit
dir=$BUILD/static/dkms
rm -rf "$dir"
mkdir -p "$dir/tree"
unset MAKEFLAGS MFLAGS MAKELEVEL
((!EUID)) || { echo "1..0 # SKIP dkms works for root only"; exit 4; }

built() {
	local version=${source##*/nearcache-}
	dkms build -m nearcache -v "$version" -k "$1" --dkmstree "$dir/tree" --sourcetree "$dir/root/usr/src" ||
		{ cat "$dir/tree/nearcache/$version/build/make.log"; return 1; }
	[[ $(find "$dir/tree/nearcache/$version/$1" -name 'dm-nearcache.ko*') ]]
}

check 'make dkms-source' make -s dkms-source "DESTDIR=$dir/root"
source=$(compgen -G "$dir/root/usr/src/nearcache-*")
# One kernel tells what DKMS makes of the sources; static/module has them all.
while read -r release; do
	check "dkms build for $release" built "$release"
done < <(if [[ ${SOAK:-} ]]; then releases; else releases | head -n 1; fi)
finish
