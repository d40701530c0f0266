#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# 'make rpm' builds all packages, rpmlint finds nothing in them, and their files are in their places. Only
# nearcache-dkms is installed, on Debian: no distribution with RPM is at hand.
# when: soak
# timeout: 1800
# shellcheck disable=SC2317 # functions that check() calls
set -uo pipefail
# shellcheck source=tests/tap.sh
. "$TOP/tests/tap.sh"
# shellcheck source=tests/packages/lib/chroot.sh
. "$TOP/tests/packages/lib/chroot.sh"
# shellcheck source=tests/packages/lib/signature.sh
. "$TOP/tests/packages/lib/signature.sh"
cd "$TOP" || exit
dir=$BUILD/packages/rpm
rm -rf "$dir"
mkdir -p "$dir"
unset MAKEFLAGS MFLAGS MAKELEVEL
tests/deps --quiet --packages || { echo "1..0 # SKIP packages are missing"; exit 4; }
kver=$(releases | head -n 1)
version=$(<VERSION)
older=0.1.0
export SOURCE_DATE_EPOCH=1700000000

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
	for file in "nearcache-dkms /usr/src/nearcache-$version/dkms.conf" 'nearcache-tests /usr/sbin/nearcache-selftest' 'python3-nearcache /usr/.*/nearcache/plan.py'; do
		files "${file% *}" >"$dir/files" && grep -qx "${file#* }" "$dir/files" || { echo "$file is not in its package"; wrong=1; }
	done
	return "$wrong"
}

# signed: the prebuilt module is stripped, and its signature is the builder's.
signed() {
	local module=$dir/kmod/lib/modules/$kver/updates/dm-nearcache.ko
	mkdir -p "$dir/kmod" && rpm2cpio "$dir"/rpm/kmod-nearcache-*.rpm | cpio --quiet -idm -D "$dir/kmod" || return
	signature_checked "$module" "$dir/cert" "$dir" || return
	openssl x509 -in "$dir/cert" -outform DER | cmp - "$dir/kmod/usr/share/nearcache-modules-$kver/certificate.der" &&
		[[ $(modinfo -F signer "$module") == 'nearcache test' ]] && ! readelf -SW "$module" | grep -F .debug_info
}

# lint: rpmlint itself fails only if it finds errors.
lint() {
	rpmlint -c helper/packaging/rpm/rpmlint.toml "$dir"/rpm/*.rpm "$dir/rpm/nearcache.spec" >"$dir/lint" 2>&1
	grep -q '[^0-9]0 errors, 0 warnings' "$dir/lint" || { cat "$dir/lint"; return 1; }
}

# dated: no package was made later than the sources, and no file in them.
dated() {
	! rpm -qp --qf '[%{NAME} %{BUILDTIME} %{BUILDHOST} %{FILEMTIMES}\n]' "$dir"/rpm/*.rpm |
		awk -v time="$SOURCE_DATE_EPOCH" '$2 != time || $3 != "localhost" || $4 > time' | grep .
}

# debug_information: where rpmbuild makes packages of debug information, it also makes them with kmod-nearcache.
# Such distributions define __debug_package in front of %install.
debug_information() {
	sed '/^%prep/i %global __debug_package 1\n%{echo:%__spec_install_post}' "$dir/rpm/nearcache.spec" >"$dir/debug.spec"
	rpmspec -P --define "kver $kver" "$dir/debug.spec" >"$dir/debug" 2>&1 || { cat "$dir/debug"; return 1; }
	grep -q 'find-debuginfo' "$dir/debug" || { grep -C 3 sign-module "$dir/debug"; return 1; }
}

# dkms_upgraded: an upgrade leaves the new module, and no other, for each kernel with headers.
dkms_upgraded() {
	local root=$dir/root package kernel count=0
	rm -rf "$root"
	chroot_unpack bookworm "$root" && chroot_run "$root" apt-get -qq update &&
		chroot_run "$root" apt-get -qq install dkms rpm linux-headers-cloud-amd64 linux-headers-6.12-cloud-amd64 || return
	cp "$dir/old/rpm/nearcache-dkms-$older"-*.rpm "$dir/rpm/nearcache-dkms-$version"-*.rpm "$root/srv/"
	for package in "nearcache-dkms-$older" "nearcache-dkms-$version"; do
		chroot_run "$root" sh -c "rpm -U --nodeps /srv/$package-*.rpm" >>"$dir/upgrade.log" 2>&1 || { cat "$dir/upgrade.log"; return 1; }
	done
	for kernel in "$root"/usr/lib/modules/*; do
		[[ $(modinfo -F version "$kernel"/updates/dkms/dm-nearcache.ko*) == "$version" ]] || { tail -n 40 "$dir/upgrade.log"; return 1; }
		count=$((count + 1))
	done
	((count == 2)) && ! chroot_run "$root" dkms status | grep -F "$older"
}

openssl req -new -x509 -newkey rsa:2048 -nodes -days 30 -subj '/CN=nearcache test/' -keyout "$dir/key" -out "$dir/cert" 2>"$dir/openssl" || exit
check 'make rpm' make rpm "BUILD=$dir" "RPM_KVER=$kver" "SIGN_KEY=$dir/key" "SIGN_CERT=$dir/cert"
check 'files are in their places' placed
check 'the module is signed' signed
check 'rpmlint' lint
check 'times of the packages' dated
check 'packages of debug information' debug_information
if ((!EUID)) && chroot_base bookworm >/dev/null; then
	check "make rpm, version $older" make rpm "BUILD=$dir/old" "VERSION=$older" RPM_KVER=
	check 'upgrade of nearcache-dkms' dkms_upgraded
else
	pass_over 'upgrade of nearcache-dkms' 'no chroot here'
fi
finish
