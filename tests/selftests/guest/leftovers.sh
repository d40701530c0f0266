# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Find and remove objects that a test may leave behind. Guest side.

leftovers_init() {
	cp /proc/mounts /run/mounts-before
}

# session_members SID: print "PID NAME" of each living process of the session.
session_members() {
	local file stat pid name rest
	# Usually the session is empty: find that out by one grep, with no read per process.
	grep -qsE "\) [^Z] [0-9]+ [0-9]+ $1 " /proc/[0-9]*/stat || return 0
	for file in /proc/[0-9]*/stat; do
		{ read -r stat <"$file"; } 2>/dev/null || continue
		pid=${stat%% *} name=${stat#*(} rest=${stat##*) }
		# shellcheck disable=SC2086 # fields
		set -- "$1" $rest
		# $2 to $5: state ppid pgrp session
		[[ $5 != "$1" || $2 == Z ]] || echo "$pid ${name%)*}"
	done
}

session_ended() {
	[[ -z $(session_members "$1") ]]
}

kill_session() {
	local pid
	while read -r pid _; do
		kill -KILL "$pid"
	done < <(session_members "$1")
}

# The functions below run after each test, so they start few processes.
dm_devices() {
	local name rest
	while read -r name rest; do
		[[ "$name $rest" == 'No devices found' ]] || echo "$name"
	done < <(dmsetup ls 2>/dev/null)
}

null_blk_devices() {
	local dir
	for dir in "$NULLB"/*/; do
		dir=${dir%/}
		[[ ! -d $dir ]] || echo "${dir##*/}"
	done
}

new_mounts() {
	[[ $(</proc/mounts) == "$(</run/mounts-before)" ]] ||
		grep -vxFf /run/mounts-before /proc/mounts | cut -d ' ' -f 2
}

loop_devices() {
	local file
	for file in /sys/block/loop*/loop/backing_file; do
		[[ ! -e $file ]] || cat "$file"
	done
}

# remote_volumes: print exported volumes and the network namespaces of nodes.
remote_volumes() {
	local path
	for path in "$NVMET"/subsystems/* /run/netns/*; do
		[[ ! -e $path ]] || echo "${path##*/}"
	done
}

# leftovers SESSION: print the leftovers, one line per kind.
leftovers() {
	local kind found
	wait_for 3 session_ended "$1" || echo "processes: $(session_members "$1" | tr '\n' ' ')"
	for kind in dm_devices null_blk_devices new_mounts loop_devices; do
		found=$("$kind")
		[[ -z $found ]] || echo "${kind//_/ }: ${found//$'\n'/ } "
	done
	found=$(remote_volumes)
	[[ -z $found ]] || echo "remote volumes: ${found//$'\n'/ }"
	[[ $(tc qdisc show dev lo) != *netem* ]] || echo "network: $(tc qdisc show dev lo)"
	if [[ -e /sys/module/dm_nearcache/refcnt && $(</sys/module/dm_nearcache/refcnt) != 0 ]]; then
		echo "module references: $(</sys/module/dm_nearcache/refcnt)"
	fi
}

# remove_leftovers SESSION: remove all that is possible; leftovers then prints the rest.
remove_leftovers() {
	local name
	kill_session "$1"
	wait_for 3 session_ended "$1"
	while read -r name; do
		umount "$name" || umount -l "$name"
	done < <(new_mounts | sort -r)
	remote_heal
	# Resume suspended devices first, so that their I/O ends; devices may be stacked.
	for name in $(dm_devices); do
		dmsetup resume --noudevsync "$name"
	done
	for _ in 1 2 3 4; do
		[[ -z $(dm_devices) ]] || dmsetup remove_all --force --noudevsync
	done
	find /dev/mapper -mindepth 1 ! -name control -exec rm -f {} +
	[[ ! -e $NVMET/subsystems/$REMOTE_NQN ]] || remote_down
	for name in "$NVMET/subsystems/$REMOTE_NQN"-*; do
		[[ ! -e $name ]] || node_down "${name##*-}"
	done
	rm -f /run/netns/*
	losetup -D
	for name in $(null_blk_devices); do
		null_del "$name"
	done
} 2>&1
