#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The packages need what 'make deps-node' installs, have all programs and units of 'make install', and no
# maintainer script closes a device, unloads the module, or enables the daemon.
set -uo pipefail
# shellcheck source=tests/tap.sh
# shellcheck disable=SC2317 # functions that check() calls
. "$TOP/tests/tap.sh"
cd "$TOP/helper/packaging" || exit
export LC_ALL=C

# The packages of tests/deps that any build on Debian has, and those that depend on the kernel.
same_needs() {
	diff -u <("$TOP/tests/deps" --list --node | awk '{ print $1 }' |
		grep -vxE 'make|gcc|libc6-dev|pahole|pkg-config|nvme-cli|linux-headers-.*' | sort) \
		<(sed -n '/^Build-Depends:/,/^[A-Z]/s/^ \([a-z0-9-]*\),\{0,1\}$/\1/p' debian/control.in |
			grep -vxE 'python3|dh-.*' | sort)
}

# scripts: print the maintainer scripts of Debian.
scripts() {
	compgen -G 'debian/*.postinst*' && compgen -G 'debian/*.postrm*' && compgen -G 'debian/*.prerm*'
}

# inserted: the packages have the functions of module_functions.sh in place of the line.
inserted() {
	local file
	mkdir -p "$BUILD/static"
	bash -euc 'cd ../..; die() { echo "$*"; exit 1; }; . helper/packaging/signing.sh; sed "${module_functions[@]}" helper/packaging/rpm/nearcache.spec.in' >"$BUILD/static/spec" || return
	[[ $(grep -c '^keep_module() {' "$BUILD/static/spec") == 4 ]] && ! grep -x "# MODULE_FUNCTIONS" "$BUILD/static/spec" &&
		for file in debian/nearcache-dkms.{prerm,postinst} debian/modules.{prerm,postinst}.in; do
			grep -qx '# MODULE_FUNCTIONS' "$file" || { echo "$file"; return 1; }
		done
}

shell_syntax() {
	local file wrong=0
	while read -r file; do
		sh -n "$file" && grep -qx 'set -e' "$file" && grep -qx '#DEBHELPER#' "$file" || { echo "$file"; wrong=1; }
	done < <(scripts)
	return "$wrong"
}

# What a script prints in quotes, or says in a comment, is no command.
harmless() {
	local commands='rmmod|modprobe|dmsetup (remove|suspend|reload)|nearcache +(close|destroy|open|upgrade)|systemctl|umount'
	! { { scripts && echo module_functions.sh; } | xargs sed -E 's/^[[:space:]]*#.*//; s/"[^"]*"//g; s/^/@/' && sed -nE '/^%(post|preun|postun)/,/^%files/s/^/@/p' rpm/nearcache.spec.in; } |
		grep -nE "@.*\<($commands)"
}

# maintainer_kept: characters that sed knows are only characters.
maintainer_kept() {
	local said
	said=$(MAINTAINER='A & B | C \ D <a@b.c>' bash -euc 'die() { echo "$*"; exit 1; }; . ./signing.sh; sed "s|@|$maintainer_sed|" <<<@') || return
	[[ $said == 'A & B | C \ D <a@b.c>' ]] || { echo "$said"; return 1; }
}

# headers: a kernel without CONFIG_MODULE_SIG has no sign-file, which only a signature needs.
headers() {
	local dir=$BUILD/static/packages said
	mkdir -p "$dir"
	: >"$dir/Makefile"
	need='die() { echo "$*"; exit 1; }; . ./signing.sh; need_headers 6.1.0'
	KDIR=$dir bash -euc "$need" && ! said=$(KDIR=$dir SIGN_KEY=$dir/Makefile SIGN_CERT=$dir/Makefile bash -euc "$need") &&
		[[ $said == *'no scripts/sign-file'* ]] && ! said=$(KDIR=$dir/none bash -euc "$need") && [[ $said == "no headers for '6.1.0'"* ]] || { echo "$said"; return 1; }
}

release_name() {
	local said
	! said=$(KDIR=/ debian/build "$BUILD/static/packages/deb" 0.2.0 6.1.0_x 2>&1) && [[ $said == *"kernel release '6.1.0_x'"* ]] || { echo "$said"; return 1; }
}

not_enabled() {
	grep -qE '^\sdh_installsystemd --no-enable -pnearcache nearcache-daemon.service$' debian/rules
}

check 'the packages need what make deps-node installs' same_needs
check 'maintainer scripts are valid' shell_syntax
check 'maintainer scripts keep the loaded module' inserted
check 'the name of the builder' maintainer_kept
check 'headers that can build and sign' headers
check 'a release that is no package name' release_name
check 'no maintainer script touches a device or the module' harmless
check 'an installation does not enable the daemon' not_enabled
finish
