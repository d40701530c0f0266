# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# The scripts build insert this file into maintainer scripts, at the line "# MODULE_FUNCTIONS".

# keep_module: keep the file of the loaded module before it is replaced or removed: if the next module
# fails, 'nearcache upgrade' loads this one again. The name is that which 'nearcache upgrade' gives.
keep_module() {
	kernel=$(uname -r) folder=/var/lib/nearcache/module
	[ -r /sys/module/dm_nearcache/srcversion ] && file=$(modinfo -k "$kernel" -n dm_nearcache 2>/dev/null) || return 0
	srcversion=$(cat /sys/module/dm_nearcache/srcversion) || return 0
	[ "$(modinfo -F srcversion "$file")" = "$srcversion" ] || return 0
	kept=$folder/$srcversion-$kernel.ko${file##*.ko}
	[ ! -e "$kept" ] || return 0
	if mkdir -p "$folder" && cat "$file" >"$folder/new" && sync "$folder/new" && mv "$folder/new" "$kept"; then
		find "$folder" -type f ! -path "$kept" -delete || true
	else
		echo "nearcache: cannot keep '$file' in $folder: the next 'nearcache upgrade' needs --force" >&2
	fi
}

# advise_upgrade: print how to load the installed module if another one is loaded.
advise_upgrade() {
	[ -r /sys/module/dm_nearcache/srcversion ] || return 0
	srcversion=$(modinfo -k "$(uname -r)" -F srcversion dm_nearcache 2>/dev/null) || return 0
	[ "$(cat /sys/module/dm_nearcache/srcversion)" != "$srcversion" ] || return 0
	echo "nearcache: module $(cat /sys/module/dm_nearcache/version) stays loaded, and devices stay open;"
	echo "  'nearcache upgrade' loads $(modinfo -k "$(uname -r)" -F version dm_nearcache) in its place, with devices in use"
}

# secure_boot: does the firmware check signatures? The variable has 4 bytes of attributes, then its value.
secure_boot() {
	for variable in /sys/firmware/efi/efivars/SecureBoot-*; do
		[ -e "$variable" ] || return 1
		[ "$(od -An -tu1 -j4 -N1 "$variable" | tr -d ' ')" = 1 ] && return
	done
	return 1
}

# enrolled CERTIFICATE: mokutil --test-key exits 1 if the key is enrolled.
enrolled() {
	command -v mokutil >/dev/null && mokutil --test-key "$1" 2>/dev/null | grep -q 'is already enrolled'
}

# advise_secure_boot CERTIFICATE: print how to enroll the key with which the module is signed.
advise_secure_boot() {
	secure_boot && ! enrolled "$1" || return 0
	echo "nearcache: Secure Boot is on, so the kernel loads only modules whose key is enrolled. Once per machine:"
	echo "  mokutil --import $1    # package mokutil; it asks for a new password"
	echo "  reboot, choose \"Enroll MOK\" in the firmware's menu, and give the password"
}
