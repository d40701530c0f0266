# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Boot a minimal installation of a release in a guest, with a volume and an empty drive. Sourced by release.sh.
# shellcheck disable=SC2154 # set by the test and release.sh

# boot_script: print the script of the guest: two commands to a cached mount, the self-test, an upgrade with the
# device in use, and the removal of the packages, which leaves the device open.
boot_script() {
	cat <<-'END'
		#!/bin/bash
		# SPDX-License-Identifier: GPL-2.0-only
		exec >/dev/ttyS0 2>&1
		export DEBIAN_FRONTEND=noninteractive HOME=/root
		# drive SERIAL: print the path of this NVMe drive.
		drive() { lsblk -dnro NAME,SERIAL | awk -v serial="$1" '$2 == serial { print "/dev/" $1 }'; }
		sums() { (cd /mnt && sha256sum --quiet -c sums); }
		pid() { systemctl show -P MainPID nearcache-daemon; }
		# counter NAME: print a counter of the device.
		counter() { nearcache stats -j imagenet | sed -nE "s/^ *\"$1\": ([0-9]+),?$/\1/p" | head -n 1; }
		loaded() { cat /sys/module/dm_nearcache/srcversion; }
		# misses: read everything from the device, and print how many reads missed the cache.
		misses() {
			local before
			echo 3 >/proc/sys/vm/drop_caches
			before=$(counter misses)
			sums && echo $(($(counter misses) - before))
		}
		set -x
		udevadm settle
		origin=$(drive volume) cache=$(drive local)
		start=$SECONDS
		apt-get -q install /srv/old/nearcache{,-tests}_*.deb /srv/old/modules/*.deb </dev/null
		echo "INSTALLED in $((SECONDS - start)) s"
		nearcache create imagenet --origin $origin --cache $cache && mount -o ro /dev/mapper/imagenet /mnt && sums
		echo "MOUNTED $? in $((SECONDS - start)) s"
		udevadm settle
		echo "CACHE TYPE $(udevadm info -q property --property=ID_FS_TYPE --value $cache)"
		echo "DAEMON $(systemctl is-enabled nearcache-daemon) $(systemctl is-active nearcache-daemon)"
		nearcache status imagenet
		nearcache-selftest
		echo "SELFTEST $?"
		umount /mnt && nearcache close imagenet && nearcache open imagenet --origin $origin --cache $cache &&
			mount -o ro /dev/mapper/imagenet /mnt && echo OPENED
		for ((i = 0; i < 100 && $(misses) > 0; i++)); do sleep 0.1; done
		echo "WARM $(misses)"
		printf '%s\n' 'metrics-listen = 127.0.0.1:9777' 'metrics-textfile = /run/nearcache/metrics.prom' >/etc/nearcache/nearcache.conf
		systemctl enable --now nearcache-daemon
		before=$(pid) older=$(loaded)
		apt-get -q install /srv/new/nearcache{,-tests}_*.deb /srv/new/modules/*.deb </dev/null
		echo "PACKAGES UPGRADED $(systemctl is-active nearcache-daemon) $([[ $(pid) == "$before" ]] || echo restarted)"
		[[ $(loaded) == "$older" ]] && sums && echo "OLD MODULE $(cat /sys/module/dm_nearcache/version)"
		nearcache upgrade
		echo "UPGRADE $?"
		[[ $(loaded) == "$(modinfo -F srcversion dm_nearcache)" && $(loaded) != "$older" ]] && findmnt /mnt && echo "MODULE $(cat /sys/module/dm_nearcache/version)"
		echo "WARM AFTER UPGRADE $(misses)"
		systemctl show -P SystemCallFilter nearcache-daemon | tr ' ' '\n' >/tmp/calls
		grep -qx bpf /tmp/calls && ! grep -qx sched_setaffinity /tmp/calls && echo "DAEMON FILTERED"
		journalctl -qb -u nearcache-daemon -o cat >/tmp/log
		grep -q 'looking after devices' /tmp/log && echo "DAEMON REFUSED $(grep -c 'not permitted' /tmp/log)"
		exec 3<>/dev/tcp/127.0.0.1/9777 && printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3
		echo "METRICS $(grep -c '^nearcache_hits.*imagenet' <&3) $(grep -c '^nearcache_hits.*imagenet' /run/nearcache/metrics.prom)"
		kept=$(echo /var/lib/nearcache/module/*)
		[[ $kept == */"$(loaded)-$(uname -r).ko" ]] && echo KEPT
		apt-get -q purge 'nearcache*' 'python3-nearcache*' </dev/null
		echo 3 >/proc/sys/vm/drop_caches
		[[ ! $(pid) || $(pid) == 0 ]] && sums && echo "MOUNTED AFTER PURGE"
		find / -xdev -name '*nearcache*' -not -path '/proc/*' -not -path '/srv/*' -not -path '/var/log/*' -not -path '/var/cache/*'
		echo "FOUND $?"
		systemctl poweroff --force --force
	END
}

boot_timeout=${BOOT_TIMEOUT:-1200}
# What the emulator makes slow is left out, and systemd waits longer.
boot_parameters='root=PARTUUID=6e636163-01 rootwait rw init=/lib/systemd/systemd console=ttyS0 loglevel=5 panic=-1 oops=panic mitigations=off norandmaps init_on_alloc=0 no_timer_check tsc=reliable systemd.default_timeout_start_sec=600 systemd.default_device_timeout_sec=600'

# boot_root ROOT SCRIPT [PACKAGE...]: make a root file system with a kernel, these packages, and a script that runs at
# boot; the function SCRIPT prints it. What nearcache depends on is in apt's archive, and not installed.
boot_root() {
	local root=$1 script=$2 kver
	kver=$(basename "$dir"/new/modules/nearcache-modules-*.deb)
	kver=${kver#nearcache-modules-}
	kver=${kver%%_*}
	rm -rf "$root"
	chroot_unpack "$release" "$root" && cp -a "$dir/old" "$dir/new" "$root/srv/" && chroot_run "$root" apt-get -qq update &&
		chroot_run "$root" apt-get -qq install "linux-image-$kver" "${@:3}" &&
		chroot_run "$root" sh -c 'apt-get -qq --download-only install /srv/new/nearcache_*.deb /srv/new/nearcache-tests_*.deb /srv/new/modules/*.deb' || return
	"$script" >"$root/srv/first-day" && chmod 755 "$root/srv/first-day" || return
	cat >"$root/etc/systemd/system/first-day.service" <<-'END'
		# SPDX-License-Identifier: GPL-2.0-only
		[Unit]
		After=multi-user.target
		[Service]
		Type=oneshot
		ExecStart=/srv/first-day
	END
	# A getty would hang up the console.
	ln -s /dev/null "$root/etc/systemd/system/serial-getty@ttyS0.service" &&
		mkdir -p "$root/etc/systemd/system/multi-user.target.wants" && ln -sf ../first-day.service "$root/etc/systemd/system/multi-user.target.wants/"
}

# boot_drives ROOT: make the drives: the root file system, a volume with an ext4 file system, and an empty drive. The
# kernel finds them in any order, so the root file system is in a partition with a number.
boot_drives() {
	local content=$dir/content
	boot_drives_removed
	# Number of the disk; one partition of type 83 from sector 0x800 on, with 0x7ff800 sectors.
	{
		head -c 440 /dev/zero && printf 'cacn\0\0' && printf '\0\0\0\0\x83\0\0\0\0\x08\0\0\0\xf8\x7f\0' && head -c 48 /dev/zero && printf '\x55\xaa'
	} >"$dir/root.img" && truncate -s 4G "$dir/root.img" &&
		mkfs.ext4 -qF -E offset=1048576 -d "$1" "$dir/root.img" 4000M || return
	rm -rf "$content" && mkdir "$content" && head -c 20M /dev/urandom >"$content/data" && (cd "$content" && sha256sum data >sums) &&
		truncate -s 64M "$dir/volume.img" && mkfs.ext4 -qF -d "$content" "$dir/volume.img" && rm -r "$content" && truncate -s 256M "$dir/local.img"
}

boot_drives_removed() {
	rm -f "$dir"/{root,volume,local}.img
}

# boot_guest PROGRAM... OPTION...: run the emulator with these drives; PROGRAM ends before its first option.
boot_guest() {
	local program=() name drives=()
	while [[ $1 != -* ]]; do
		program+=("$1")
		shift
	done
	for name in root volume local; do
		drives+=(-drive "file=$dir/$name.img,if=none,id=$name,format=raw,cache=unsafe" -device "nvme,serial=$name,drive=$name")
	done
	"${program[@]}" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -m 2G -smp 2 -nodefaults -display none -no-reboot "${drives[@]}" "$@"
}

# boot_line FILE PATTERN: fail unless the console in FILE has a line that begins like that.
boot_line() {
	grep -aqE "^$2" "$1" || { echo "no line '$2' in $1:"; tail -n 60 "$1"; return 1; }
}

# booted: see boot_script. The installation has not started the daemon; the upgrade restarts it. The mount is there
# in at most 120 seconds.
booted() {
	local line root=$dir/guest
	boot_root "$root" boot_script && boot_drives "$root" || return
	boot_guest timeout "$boot_timeout" -kernel "$(compgen -G "$root/boot/vmlinuz-*" | head -n 1)" -append "$boot_parameters" -serial "file:$dir/console"
	boot_drives_removed
	for line in 'INSTALLED in [0-9]+ s' 'MOUNTED 0 in ([0-9]{1,2}|1[01][0-9]|120) s' 'CACHE TYPE nearcache_cache' 'DAEMON disabled inactive' 'SELFTEST 0' OPENED 'WARM 0' \
		"nearcache: module $older stays loaded" "  'nearcache upgrade' loads $version" 'PACKAGES UPGRADED active restarted' "OLD MODULE $older" \
		'UPGRADE 0' "MODULE $version" 'WARM AFTER UPGRADE 0' \
		'DAEMON FILTERED' 'DAEMON REFUSED 0' 'METRICS 1 1' KEPT 'nearcache: these devices stay open .*: imagenet' 'MOUNTED AFTER PURGE' 'FOUND 0'; do
		boot_line "$dir/console" "$line" || return
	done
	# What find prints.
	! sed -n '/^MOUNTED AFTER PURGE/,/^FOUND/p' "$dir/console" | grep -a '^/' && ! grep -aE 'WARNING:|BUG:|Oops' "$dir/console"
}
