#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# DKMS must accept the layout of 'make dkms-source', and the files there must be the sources of the
# module; in 'make soak' DKMS also builds the module for each kernel.
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

# The copied files are the sources of the module.
same_sources() {
	local file
	while read -r file; do
		cmp "$file" "$source/$file" || return
	done < <(compgen -G 'kmod/*.[ch]' && compgen -G 'kmod/*/*.[ch]' && compgen -G 'uapi/*.h' && printf '%s\n' Kbuild VERSION)
}

added() {
	dkms add -m nearcache -v "${source##*/nearcache-}" --dkmstree "$dir/tree" --sourcetree "$dir/root/usr/src" &&
		dkms status --dkmstree "$dir/tree" --sourcetree "$dir/root/usr/src" | grep -q '^nearcache.*: added'
}

check 'make dkms-source' make -s dkms-source "DESTDIR=$dir/root"
source=$(compgen -G "$dir/root/usr/src/nearcache-*")
check 'the sources are those of the module' same_sources
check 'dkms add' added
while read -r release; do
	check "dkms build for $release" built "$release"
done < <([[ ! ${SOAK:-} ]] || releases)
finish
