#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The Ansible role writes files that the generator and the daemon accept, formats only drives without a
# cache, changes nothing in a second run, and refuses a wrong device. ansible-lint has no complaint.
# The role installs no package and starts no unit here.
set -uo pipefail
# shellcheck source=tests/tap.sh
# shellcheck disable=SC2317 # functions that check() calls
. "$TOP/tests/tap.sh"
type -P ansible-playbook >/dev/null || { echo '1..0 # SKIP no ansible-playbook: install ansible-core'; exit 4; }
cd "$TOP/helper/packaging/ansible" || exit
dir=$BUILD/static/ansible
rm -rf "$dir"
mkdir -p "$dir/bin" "$dir/units"
export PATH=$dir/bin:$PATH ANSIBLE_LOCAL_TEMP=$dir/temp ANSIBLE_REMOTE_TEMP=$dir/temp ANSIBLE_NOCOLOR=1

# A drive carries a cache once this program has formatted it.
cat >"$dir/bin/nearcache" <<'END'
#!/bin/sh
cd "${0%/*}/.." && case $1 in
super) grep -qxF "$3" formatted || exit 4 ;;
create) [ "$5" = --cache ] && echo "$6" >>formatted && echo "$*" >>created ;;
*) exit 99 ;;
esac
END
chmod +x "$dir/bin/nearcache"
: >"$dir/formatted"
cat >"$dir/vars.yml" <<END
nearcache_packages: []
nearcache_services: false
nearcache_folder: $dir/etc
nearcache_settings: {window: 4M, read-ahead: "no"}
nearcache_devices:
  - {name: imagenet, origin: /dev/disk/by-id/o, cache: /dev/disk/by-partlabel/c, options: "_netdev,timeout=7", create: true}
  - {name: two words, origin: /dev/o, cache: /dev/c}
END
sed 's/two words/a-b/; s,/dev/o,/dev/o p,' "$dir/vars.yml" >"$dir/right.yml"
printf '[training]\nlocalhost ansible_connection=local ansible_python_interpreter=/usr/bin/python3\n' >"$dir/hosts"

# play VARS: run the example with these variables in place of its own.
play() {
	ansible-playbook -i "$dir/hosts" -e "@$1" nodes.yml >"$dir/log" 2>&1 || { cat "$dir/log"; return 1; }
}

files() {
	local generator=$BUILD/helper/nearcache-generator said
	diff -u - <(grep -v '^#' "$dir/etc/nearcachetab") <<-'END' || return
		imagenet /dev/disk/by-id/o /dev/disk/by-partlabel/c _netdev,timeout=7
		a-b /dev/o\040p /dev/c defaults
	END
	said=$("$generator" "$dir/units" "$dir/units" "$dir/units" "$dir/etc/nearcachetab" /dev/null 2>&1) &&
		[[ -z $said && -e $dir/units/nearcache@imagenet.service.d && -e $dir/units/nearcache@a\\x2db.service.d ]] ||
		{ echo "$said"; return 1; }
	echo 'last = 1' | cat "$dir/etc/nearcache.conf" - >"$dir/conf"
	said=$(timeout 60 "$BUILD/helper/nearcached" --config "$dir/conf" 2>&1)
	[[ $said == *"line 5: 'last' is not a setting"* ]] || { echo "$said"; return 1; }
}

formats() {
	diff -u - "$dir/created" <<<'create imagenet --origin /dev/disk/by-id/o --cache /dev/disk/by-partlabel/c --format-only'
}

same_again() {
	play "$dir/right.yml" && grep -qE 'changed=0 .*failed=0' "$dir/log" && formats
}

refused() {
	rm -r "${dir:?}/etc"
	! play "$dir/vars.yml" && grep -q "'two words': give a name without blanks" "$dir/log" && [[ ! -e $dir/etc ]]
}

lint() {
	ansible-lint --offline --nocolor -q nodes.yml roles/nearcache
}

check 'the role runs' play "$dir/right.yml"
check 'its files are valid' files
check 'a drive without a cache is formatted' formats
check 'a second run changes nothing' same_again
check 'a wrong device is refused before any change' refused
if type -P ansible-lint >/dev/null; then
	check 'ansible-lint' lint
else
	pass_over 'ansible-lint' 'install ansible-lint'
fi
finish
