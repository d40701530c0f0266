#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# 'make rpm' builds all packages, rpmlint finds nothing in them, and their files are in their places. They
# are not installed: no distribution with RPM is at hand.
# when: soak
# timeout: 1200
set -uo pipefail
# shellcheck source=tests/tap.sh
# shellcheck disable=SC2317 # functions that check() calls
. "$TOP/tests/tap.sh"
cd "$TOP" || exit
dir=$BUILD/packages/rpm
rm -rf "$dir"
mkdir -p "$dir"
unset MAKEFLAGS MFLAGS MAKELEVEL
tests/deps --quiet --packages || { echo "1..0 # SKIP packages are missing"; exit 4; }
kver=$(releases | head -n 1)

# files PACKAGE: print its files.
files() {
	rpm -qlp "$dir"/rpm/"$1"-[0-9]*.rpm
}

placed() {
	local file wrong=0
	files nearcache >"$dir/files"
	for file in /usr/sbin/nearcache /usr/lib/systemd/system/nearcache@.service /usr/lib/udev/rules.d/62-nearcache.rules \
		/usr/lib/systemd/system-generators/nearcache-generator /usr/share/nearcache/nearcache-dashboard.json /etc/nearcache; do
		grep -qxF "$file" "$dir/files" || { echo "no $file"; wrong=1; }
	done
	files nearcache-dkms | grep -q "^/usr/src/nearcache-$(<VERSION)/dkms.conf$" && files nearcache-tests | grep -q selftest &&
		files python3-nearcache | grep -q 'nearcache/plan.py$' && ((!wrong))
}

# signed: the prebuilt module is stripped, and its signature is the builder's.
signed() {
	local module=$dir/kmod/lib/modules/$kver/updates/dm-nearcache.ko
	mkdir -p "$dir/kmod" && rpm2cpio "$dir"/rpm/kmod-nearcache-*.rpm | cpio --quiet -idm -D "$dir/kmod" || return
	[[ $(modinfo -F signer "$module") == 'nearcache test' ]] && ! readelf -SW "$module" | grep -F .debug_info
}

lint() {
	rpmlint -c helper/packaging/rpm/rpmlint.toml "$dir"/rpm/*.rpm "$dir/rpm/nearcache.spec"
}

openssl req -new -x509 -newkey rsa:2048 -nodes -days 30 -subj '/CN=nearcache test/' -keyout "$dir/key" -out "$dir/cert" 2>"$dir/openssl" || exit
check 'make rpm' make rpm "BUILD=$dir" "RPM_KVER=$kver" "SIGN_KEY=$dir/key" "SIGN_CERT=$dir/cert"
check 'files are in their places' placed
check 'the module is signed' signed
check 'rpmlint' lint
finish
