#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The module loads, registers its target, and unloads without leaving anything behind. It has the
# version of the command.
# cpus: 1
. ./common.sh

target_known() {
	dmsetup targets | grep -q '^nearcache '
}

version=$(nearcache --version) || fail "nearcache --version"
[[ $version == "nearcache $(</sys/module/dm_nearcache/version) "* ]] ||
	fail "the module has version $(</sys/module/dm_nearcache/version), the command: $version"

# The runner has loaded the module already, so each round begins with the unload.
for ((i = 0; i < $(times 10); i++)); do
	target_known || fail "round $i: loaded, but no target 'nearcache'"
	rmmod dm-nearcache || fail "round $i: cannot be unloaded"
	! target_known || fail "round $i: unloaded, but the target is still there"
	[[ ! -e /sys/module/dm_nearcache ]] || fail "round $i: still in /sys/module"
	insmod "$MODULE" || fail "round $i: cannot be loaded"
done
