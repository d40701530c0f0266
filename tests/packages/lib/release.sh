# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Debian packages on one release: built, installed, upgraded, removed, purged. The test sets $release, and
# the names of two packages of kernel headers, $headers and $newer_headers. Sourced.
# shellcheck disable=SC2154,SC2317 # set by the test; functions that check() calls
# shellcheck source=tests/tap.sh
. "$TOP/tests/tap.sh"
# shellcheck source=tests/packages/lib/chroot.sh
. "$TOP/tests/packages/lib/chroot.sh"
# shellcheck source=tests/packages/lib/signature.sh
. "$TOP/tests/packages/lib/signature.sh"
# shellcheck source=tests/packages/lib/boot.sh
. "$TOP/tests/packages/lib/boot.sh"
# shellcheck source=tests/packages/lib/secure_boot.sh
. "$TOP/tests/packages/lib/secure_boot.sh"
cd "$TOP" || exit
dir=$BUILD/packages/$release
root=$dir/root
version=$(<VERSION)
older=0.1.0
# Characters that sed and make know.
maintainer='Tests & Co | nearcache <tests@nearcache.example>'
unset MAKEFLAGS MFLAGS MAKELEVEL

skip_all() {
	echo "1..0 # SKIP $*"
	exit 4
}

((!EUID)) || skip_all "a chroot needs root"
tests/deps --quiet --packages || skip_all "packages are missing"

# in_root COMMAND...: run it in the node's root file system; uname there prints the node's kernel.
in_root() {
	chroot_run "$root" env PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# new_key: make the builder's key for modules.
new_key() {
	openssl req -new -x509 -newkey rsa:2048 -nodes -days 30 -subj '/CN=nearcache test/' -keyout "$dir/key" -out "$dir/cert" 2>"$dir/openssl"
}

# sources VERSION DIR: copy the sources from which packages are built. The older version has another module.
sources() {
	rm -rf "$2" && mkdir -p "$2/tests" && cp -a Makefile Kbuild COPYING VERSION README.md bpf helper kmod uapi "$2/" &&
		cp -a tests/node tests/deps "$2/tests/" || return
	[[ $1 == "$version" ]] || echo 'MODULE_INFO(test, "older");' >>"$2/kmod/main.c"
}

# this_release: does this machine run the release?
this_release() {
	[[ $(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release) == "$release" ]]
}

# build_packages VERSION OUT: build them on this machine, or, for another release, in a chroot; with a prebuilt
# module for one kernel, which has the drivers of a guest built in.
build_packages() {
	this_release || { build_in_chroot "$@"; return; }
	sources "$1" "$dir/sources" &&
		make -C "$dir/sources" deb "BUILD=$2" "VERSION=$1" "DEB_KVERS=$(releases | grep -m 1 cloud)" "SIGN_KEY=$dir/key" "SIGN_CERT=$dir/cert" \
			"MAINTAINER=$maintainer" && mv "$2"/deb/* "$2/"
}

# build_in_chroot VERSION OUT: the chroot has what 'make deps-node' installs, and debhelper. It needs much
# to download, so it is kept beside the minimal systems.
build_in_chroot() {
	local builder=$dir/builder kver
	if [[ ! -e $builder/.ready ]]; then
		rm -rf "$builder"
		chroot_unpack "$release" "$builder" &&
			chroot_run "$builder" apt-get -qq update &&
			chroot_run "$builder" apt-get -qq install build-essential debhelper dh-dkms dh-python python3 lintian "$headers" || return
		touch "$builder/.ready"
	fi
	kver=$(basename "$(compgen -G "$builder/usr/lib/modules/*" | head -n 1)")
	sources "$1" "$builder/src" && cp "$dir/key" "$dir/cert" "$builder/" &&
		chroot_run "$builder" make -C /src deps-node "KVER=$kver" &&
		chroot_run "$builder" make -C /src deb "VERSION=$1" "DEB_KVERS=$kver" SIGN_KEY=/key SIGN_CERT=/cert "MAINTAINER=$maintainer" || return
	mkdir -p "$2" && mv "$builder"/src/build/deb/* "$2/"
}

# lint: errors and warnings fail. The address is of the one who builds (MAINTAINER); the packages are not
# for Debian's archive, where a first upload closes a bug.
lint() {
	local said ignore=bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs
	if [[ -e $dir/builder ]]; then
		rm -rf "$dir/builder/lint" && cp -a "$dir/new" "$dir/builder/lint" &&
			said=$(chroot_run "$dir/builder" sh -c "lintian --allow-root --fail-on error,warning --suppress-tags $ignore /lint/*.deb /lint/modules/*.deb" 2>&1)
	else
		said=$(lintian --allow-root --fail-on error,warning --suppress-tags $ignore "$dir"/new/*.deb "$dir"/new/modules/*.deb 2>&1)
	fi || { echo "$said"; return 1; }
}

# tree: print all names of the root file system that no package manager or log owns.
tree() {
	(cd "$root" && find . \( -path ./proc -o -path ./sys -o -path ./run -o -path ./tmp -o -path ./dev -o -path ./srv -o -path ./var/log -o \
		-path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path './var/lib/dkms/mok.*' \) -prune -o -print | LC_ALL=C sort)
}

# node: make a root file system with one kernel's headers and all that the packages depend on.
node() {
	local needed
	rm -rf "$root"
	chroot_unpack "$release" "$root" && cp -a "$dir/old" "$dir/new" "$root/srv/" && in_root apt-get -qq update || return
	needed=$(in_root sh -c "apt-get -s install dkms $headers /srv/new/*.deb" | sed -nE 's/^Inst ([^ ]+) .*/\1/p' | grep -v nearcache)
	# shellcheck disable=SC2086 # one word for each package
	in_root apt-get -qq install $needed || return
	basename "$(compgen -G "$root/usr/lib/modules/*" | head -n 1)" >"$dir/first"
	# DKMS calls depmod, which writes its files also for a kernel of which only the headers are here.
	in_root depmod "$(<"$dir/first")" || return
	# The node runs this kernel.
	printf '#!/bin/sh\n[ "$*" = -r ] && echo %s || exec /usr/bin/uname "$@"\n' "$(<"$dir/first")" >"$root/usr/local/sbin/uname"
	chmod 755 "$root/usr/local/sbin/uname"
	echo 'DPkg::Path "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin";' >"$root/etc/apt/apt.conf.d/91path"
	tree >"$dir/before"
}

# install_packages FOLDER: with apt, as an administrator does. The maintainer scripts see a running systemd;
# systemctl, offline, prints each command that it would send to systemd.
install_packages() {
	in_root sh -c "mkdir -p /run/systemd/system && SYSTEMD_OFFLINE=1 apt-get -q install /srv/$1/*.deb" >"$dir/install-$1.log" 2>&1 || { tail -n 40 "$dir/install-$1.log"; return 1; }
}

# module_built KERNEL: has DKMS installed exactly the module of this version, and signed it?
module_built() {
	local files
	mapfile -t files < <(compgen -G "$root/usr/lib/modules/$1/updates/dkms/dm-nearcache.ko*")
	((${#files[@]} == 1)) || { echo "modules: ${files[*]}"; in_root dkms status; return 1; }
	[[ $(modinfo -F version "${files[0]}") == "$2" && $(modinfo -F signer "${files[0]}") ]] || { modinfo "${files[0]}"; return 1; }
}

# runs VERSION: the commands run and have this version, and the Python module loads.
runs() {
	[[ $(in_root nearcache --version) == "nearcache $1 "* && $(in_root nearcached --version) && $(in_root nearcache-top --version) ]] &&
		in_root python3 -c 'import nearcache' && module_built "$(<"$dir/first")" "$1"
}

# load_installed: from now on the installed module is the loaded one, as the scripts of the packages see it.
load_installed() {
	local field module=$root/sys/module/dm_nearcache
	mkdir -p "$module"
	for field in version srcversion; do
		modinfo -F "$field" "$root/usr/lib/modules/$(<"$dir/first")"/updates/dkms/dm-nearcache.ko* >"$module/$field" || return
	done
}

# kept_module: print the file of the loaded module that the packages have kept; fail unless it is the only one.
kept_module() {
	local files
	mapfile -t files < <(compgen -G "$root/var/lib/nearcache/module/*")
	[[ ${#files[@]} == 1 && $(modinfo -F srcversion "${files[0]}") == "$(<"$root/sys/module/dm_nearcache/srcversion")" ]] &&
		[[ ${files[0]} == */"$(<"$root/sys/module/dm_nearcache/srcversion")-$(<"$dir/first").ko"* ]] || { echo "kept: ${files[*]}"; return 1; }
}

older_installed() {
	install_packages old && runs "$older" && load_installed
}

# upgrade_aborted: an upgrade that fails before it has unpacked files leaves the module of the older version.
upgrade_aborted() {
	local package=$root/srv/failing
	mkdir -p "$package/DEBIAN"
	printf '%s\n' 'Package: nearcache-dkms' 'Version: 99' 'Architecture: all' 'Maintainer: Tests <tests@nearcache.example>' \
		'Description: package that cannot be installed' >"$package/DEBIAN/control"
	printf '#!/bin/sh\nexit 1\n' >"$package/DEBIAN/preinst" && chmod 755 "$package/DEBIAN/preinst" || return
	dpkg-deb -b "$package" "$package.deb" >/dev/null || return
	! in_root dpkg -i /srv/failing.deb >"$dir/aborted.log" 2>&1 || { echo "the upgrade did not fail"; return 1; }
	runs "$older" || { cat "$dir/aborted.log"; return 1; }
}

# state: what an administrator and the commands leave.
state() {
	mkdir -p "$root/var/lib/nearcache/settings" "$root/etc/nearcache"
	echo mode=writearound >"$root/var/lib/nearcache/settings/ffc45aad-60bf-42f0-88b9-7283dbfab37d"
	cp helper/man/nearcachetab.example "$root/etc/nearcache/nearcachetab"
	in_root systemctl enable --quiet nearcache-daemon
}

state_kept() {
	[[ -e $root/var/lib/nearcache/settings/ffc45aad-60bf-42f0-88b9-7283dbfab37d ]] &&
		cmp helper/man/nearcachetab.example "$root/etc/nearcache/nearcachetab" &&
		[[ -L $root/etc/systemd/system/multi-user.target.wants/nearcache-daemon.service ]]
}

upgraded() {
	state && install_packages new && runs "$version" && state_kept || return
	kept_module && grep -q "module $older stays loaded" "$dir/install-new.log" && grep -q "'nearcache upgrade' loads $version" "$dir/install-new.log" ||
		{ cat "$dir/install-new.log"; return 1; }
	grep -q "ignoring command 'restart'" "$dir/install-new.log" || { echo "the daemon is not restarted"; cat "$dir/install-new.log"; return 1; }
	[[ ! -e $root/usr/src/nearcache-$older && ! $(in_root dkms status | grep "$older") ]] || { in_root dkms status; return 1; }
}

# reinstalled: here the firmware has Secure Boot on, and the installation says how to enroll the key.
reinstalled() {
	local variables=$root/sys/firmware/efi/efivars rc=0
	! grep 'Secure Boot is on' "$dir/install-new.log" || return
	load_installed && mkdir -p "$variables" || return
	printf '\6\0\0\0\1' >"$variables/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
	in_root sh -c 'apt-get -q install --reinstall /srv/new/*.deb' >"$dir/reinstall.log" 2>&1 || rc=$?
	rm -r "$root/sys/firmware"
	((!rc)) && grep -q 'mokutil --import /var/lib/dkms/mok.pub' "$dir/reinstall.log" || { cat "$dir/reinstall.log"; return 1; }
	! grep 'stays loaded' "$dir/reinstall.log" && runs "$version" && kept_module && state_kept
}

placed() {
	local file wrong=0
	for file in usr/sbin/nearcache-selftest usr/lib/systemd/system-generators/nearcache-generator usr/lib/systemd/system/nearcache@.service \
		usr/lib/udev/rules.d/62-nearcache.rules usr/share/bash-completion/completions/nearcache usr/share/zsh/vendor-completions/_nearcache \
		usr/share/nearcache/nearcache-dashboard.json usr/share/nearcache/nearcache-rules.yml usr/share/doc/nearcache/README.Debian; do
		[[ -e $root/$file ]] || { echo "no $file"; wrong=1; }
	done
	# The archive's minimal system keeps no manual pages: dpkg knows them.
	in_root dpkg -L nearcache nearcache-tests >"$dir/files"
	# The changelog names the list of changes.
	file=$(dpkg-deb --fsys-tarfile "$dir/new/nearcache_$version"-1_*.deb | tar -xO ./usr/share/doc/nearcache/changelog.Debian.gz | zcat |
		grep -o '/usr/.*gz')
	grep -qxF "$file" "$dir/files" || { echo "no $file"; wrong=1; }
	[[ $(dpkg-deb -f "$dir/new/nearcache_$version"-1_*.deb Maintainer) == "$maintainer" ]] || { echo "wrong maintainer"; wrong=1; }
	for file in man8/nearcache.8 man8/nearcache-create.8 man8/nearcached.8 man8/nearcache-selftest.8 man5/nearcachetab.5; do
		grep -q "^/usr/share/man/$file.gz$" "$dir/files" || { echo "no $file"; wrong=1; }
	done
	return "$wrong"
}

units_valid() {
	in_root sh -c 'systemd-analyze verify --man=no nearcache@x.service nearcache-pins.service nearcache-daemon.service nearcache-cluster@x.service' >"$dir/verify" 2>&1 || { cat "$dir/verify"; return 1; }
	! grep nearcache "$dir/verify"
}

removed() {
	in_root sh -c 'apt-get -q remove "nearcache*" "python3-nearcache*"' || return
	state_kept && kept_module && [[ ! -e $root/usr/sbin/nearcache && ! $(compgen -G "$root/usr/lib/modules/*/updates/dkms/dm-nearcache*") ]]
}

# purged: all files of the packages are gone. Mounts and their files, records of joined clusters, and units
# with names like those of nearcache stay.
purged() {
	local units=$root/etc/systemd/system
	mkdir -p "$root/var/lib/nearcache/mounted"
	ln -s /lib/systemd/system/nearcachefs.service "$units/"
	ln -s /lib/systemd/system/nearcache-cluster@.service "$units/multi-user.target.wants/nearcache-cluster@data.service"
	in_root sh -euc '
		mkdir -p /run/nearcache/cluster
		mount -t tmpfs tmpfs /var/lib/nearcache/mounted
		mount -t tmpfs tmpfs /etc/nearcache
		touch /run/nearcache/cluster/data.joined /var/lib/nearcache/mounted/file /etc/nearcache/nearcachetab
		apt-get -q purge "nearcache*" "python3-nearcache*"
		ls /run/nearcache/cluster/data.joined /var/lib/nearcache/mounted/file
		umount /etc/nearcache
		rm -r /etc/nearcache' || return
	rm "$units/nearcachefs.service" && rmdir "$root/var/lib/nearcache/mounted" "$root/var/lib/nearcache" || return
	tree >"$dir/after"
	diff "$dir/before" "$dir/after" || return
	! in_root dpkg-query -W -f '${Package} ${Status}\n' | grep nearcache
}

# fresh: an installation enables no service, and starts none. No module is loaded.
fresh() {
	rm -r "$root/sys/module"
	install_packages new && runs "$version" && [[ ! $(find "$root/etc/systemd" -name 'nearcache*') ]] || return
	! grep 'stays loaded' "$dir/install-new.log" && [[ ! -e $root/var/lib/nearcache/module ]] || return
	grep -q 'nearcache-daemon.service is a disabled .* not starting it' "$dir/install-new.log" &&
		! grep -E "ignoring command '(re)?start'" "$dir/install-new.log" || { cat "$dir/install-new.log"; return 1; }
}

# kernel_upgraded: DKMS builds the module for a kernel that is installed later.
kernel_upgraded() {
	local newer
	in_root apt-get -q install "$newer_headers" >"$dir/newer.log" 2>&1 || { tail -n 40 "$dir/newer.log"; return 1; }
	for newer in "$root"/usr/lib/modules/*; do
		[[ $(basename "$newer") == "$(<"$dir/first")" ]] || { module_built "$(basename "$newer")" "$version"; return; }
	done
	echo "no kernel but $(<"$dir/first")"
	return 1
}

# prebuilt: the package with one kernel's module takes the place of DKMS; the signature is the builder's.
prebuilt() {
	local module kver
	kver=$(basename "$dir"/new/modules/*.deb)
	kver=${kver#nearcache-modules-}
	kver=${kver%%_*}
	in_root sh -c 'apt-get -q install /srv/new/modules/*.deb' >"$dir/prebuilt.log" 2>&1 || { tail -n 40 "$dir/prebuilt.log"; return 1; }
	module=$(in_root modinfo -k "$kver" -n dm-nearcache) && [[ $module == */"$kver"/updates/dm-nearcache.ko ]] || { echo "module: $module"; return 1; }
	signature_checked "$root/$module" "$dir/cert" "$dir" || return
	[[ $(modinfo -F signer "$root/$module") == 'nearcache test' && $(modinfo -F version "$root/$module") == "$version" &&
		! -e $root/usr/src/nearcache-$version ]] || { modinfo "$root/$module"; return 1; }
	! readelf -SW "$root/$module" | grep -F .debug_info
}

# release_checks: all of them, in this order.
release_checks() {
	mkdir -p "$dir"
	rm -rf "$dir/old" "$dir/new"
	new_key || exit
	chroot_base "$release" >/dev/null || skip_all "no packages of $release here"
	check 'packages' build_packages "$version" "$dir/new"
	check "packages of version $older" build_packages "$older" "$dir/old"
	[[ -e $dir/new/nearcache_$version-1_amd64.deb ]] || finish
	[[ $(compgen -G "$dir/new/nearcache-dbgsym_*.deb") ]] || exit
	check 'lintian' lint
	check 'a node' node
	check "an older version is installed" older_installed
	check 'an aborted upgrade' upgrade_aborted
	check 'upgrade' upgraded
	check 'reinstall, with advice for Secure Boot' reinstalled
	check 'files are in their places' placed
	check 'systemd-analyze verify' units_valid
	check 'remove keeps the configuration' removed
	check 'purge leaves nothing' purged
	check 'a fresh installation' fresh
	check 'a kernel upgrade' kernel_upgraded
	check 'a prebuilt module' prebuilt
	check 'two commands to a cached mount in a guest' booted
	check 'Secure Boot' secure_booted
	check 'Secure Boot with the key of DKMS' dkms_booted
	finish
}
