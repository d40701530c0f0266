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
	! { scripts | xargs sed -E 's/^[[:space:]]*#.*//; s/"[^"]*"//g; s/^/@/' && sed -nE '/^%(post|preun|postun)/,/^%files/s/^/@/p' rpm/nearcache.spec.in; } |
		grep -nE "@.*\<($commands)"
}

not_enabled() {
	grep -qE '^\sdh_installsystemd --no-enable -pnearcache nearcache-daemon.service$' debian/rules
}

check 'the packages need what make deps-node installs' same_needs
check 'maintainer scripts are valid' shell_syntax
check 'no maintainer script touches a device or the module' harmless
check 'an installation does not enable the daemon' not_enabled
finish
