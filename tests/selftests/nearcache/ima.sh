#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's measurement of a table (IMA) must name all cache devices, for a cache on one device
# and for a cache on several.
# cpus: 1
. ./several.sh
SECURITY=/sys/kernel/security

# measured: print the measured tables as text.
measured() {
	awk '$5 == "dm_table_load" { print $6 }' $SECURITY/ima/ascii_runtime_measurements |
		while read -r hex; do
			echo "$hex" | xxd -r -p
			echo
		done
}

# names MEMBERS...: fail unless the last measurement names just these members, in this order.
names() {
	local text expected='' i
	text=$(measured | tail -n 1)
	expected="mode=read-only,origin=$(number "$O"),cache=$(number "$C")"
	for ((i = 0; i < $#; i++)); do
		expected+=",member_$((i + 1))=$(number "${@:i+1:1}")"
	done
	[[ $text == *"name=nc,"*"target_name=nearcache,target_version="*",$expected;" ]] ||
		fail "'$text', expected '$expected'"
}

[[ -e $SECURITY/ima || -d $SECURITY ]] || skip "no securityfs"
if [[ ! -e $SECURITY/ima ]]; then
	mount -t securityfs none $SECURITY || skip "no securityfs"
	at_exit umount $SECURITY
fi
[[ -e $SECURITY/ima ]] || skip "the kernel does not measure (CONFIG_IMA)"
# The kernel accepts a policy once in a boot.
[[ ! -e $SECURITY/ima/policy ]] ||
	echo 'measure func=CRITICAL_DATA label=device-mapper' >$SECURITY/ima/policy ||
		skip "the kernel has another policy already"
make_null O origin 4
./blockdata write "$O"
several 4 4 4
format_several
start
names "${members[@]:1}"
stop
behind
format
start
names
