# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The mirrors of Debian that this machine uses, for packages of other releases. Sourced.

# mirrors: print the address and the release of each source of Debian that this machine uses.
mirrors() {
	# shellcheck disable=SC2016 # apt replaces these
	env -u APT_CONFIG apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
		sed -nE 's,^([^ ]*/debian(-security)?/) ([a-z]+)$,\1 \3,p; s,^([^ ]*/debian-security/) .*,\1 security,p'
}

# mirror_main: print the address of its main archive.
mirror_main() {
	mirrors | awk '$2 != "security" { print $1; exit }'
}

# mirror_security: print the address of its archive of security updates.
mirror_security() {
	mirrors | awk '$2 == "security" { print $1; exit }'
}
