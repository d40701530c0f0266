#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A real systemd boots with udev, a network volume and a nearcachetab: with the cache drive, then
# without the drive while the volume is written, then with the drive again. No data may be stale, no
# boot may wait for a missing device, and the pins must follow a file that moved.
# when: soak
# timeout: 900
# kernels: 6.12
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
root=$HOST_DIR/root
# shellcheck source=tests/vm/payload.sh
. "$TOP/tests/vm/payload.sh"

# programs FILE...: copy these programs of the host with their libraries, to the same paths.
programs() {
	local file
	for file; do
		[[ -e $file ]] || { echo "no '$file' on this machine" >&2; exit 4; }
		payload_binary "$file" "$file" "$root"
	done
}

# files FILE...: copy these files of the host to the same paths.
files() {
	tar -C / -cf - "${@#/}" | tar -C "$root" -xf -
}

mkdir -p "$root"
programs /lib/systemd/systemd /bin/systemctl /bin/udevadm /bin/mount /bin/umount /sbin/dmsetup \
	/lib/systemd/system-generators/systemd-fstab-generator
ln -sf /bin/udevadm "$root/lib/systemd/systemd-udevd"
unit=/lib/systemd/system
files /lib/udev/rules.d/{50-udev-default,55-dm,60-block,60-persistent-storage,60-persistent-storage-dm,80-drivers,95-dm-notify,99-systemd}.rules \
	$unit/{sysinit,basic,multi-user,local-fs,local-fs-pre,remote-fs,remote-fs-pre,network,network-online,sockets,timers,paths,slices,shutdown,umount,final,swap,time-set,emergency}.target \
	$unit/{systemd-udevd,systemd-udev-trigger}.service $unit/systemd-udevd-{control,kernel}.socket \
	$unit/blockdev@.target
make -s --no-print-directory -C "$TOP" BUILD="$BUILD" install-helper DESTDIR="$root" >/dev/null
# udev looks in /usr/lib, to which /lib is no link in the guest: move the rules there.
mkdir -p "$root/usr/lib/udev"
mv "$root/lib/udev/rules.d" "$root/usr/lib/udev/"

mkdir -p "$root"/etc/{systemd/system/multi-user.target.wants,nearcache} "$root"/{var/lib/nearcache,data}
etc=$root/etc/systemd/system
ln -s $unit/multi-user.target "$etc/default.target"
ln -s $unit/remote-fs.target "$etc/multi-user.target.wants/"
mkdir -p "$etc/sysinit.target.wants"
ln -s $unit/systemd-udevd.service $unit/systemd-udev-trigger.service "$etc/sysinit.target.wants/"
printf '[Manager]\nDefaultStandardOutput=kmsg\nDefaultTimeoutStopSec=20\n' >"$root/etc/systemd/system.conf"
cat >"$etc/vm-command.service" <<'END'
[Unit]
DefaultDependencies=no
[Service]
ExecStart=/bin/bash -c 'bash /vm/command </dev/null >/dev/vm/out 2>/dev/vm/err; exec /init --finish $$?'
Environment=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C
END
ln -s ../vm-command.service "$etc/multi-user.target.wants/"
# A first boot enables all units by preset; disable this one, so that only the generator wants it.
mkdir -p "$root/etc/systemd/system-preset"
echo 'disable nearcache-pins.service' >"$root/etc/systemd/system-preset/0.preset"
# volume.service makes the volume appear a while after the network.
cat >"$etc/volume.service" <<'END'
[Unit]
DefaultDependencies=no
After=systemd-udev-trigger.service
Before=network-online.target
[Service]
Type=oneshot
RemainAfterExit=yes
Environment=PATH=/usr/sbin:/usr/bin:/sbin:/bin SLOW=1
ExecStart=/bin/bash -c '. /vm/lib.sh; remote_up'
END
mkdir -p "$etc/network-online.target.wants"
ln -s ../volume.service "$etc/network-online.target.wants/"
volume=/dev/disk/by-id/nvme-uuid.3d0b7a52-96a1-4c08-8f0e-51a3a2b0c9d4
cat >"$root/etc/nearcache/nearcachetab" <<END
data  $volume                       /dev/disk/by-id/virtio-cache  _netdev,mode=writearound,timeout=20
# These two origins never appear.
gone  /dev/disk/by-id/nvme-nowhere  /dev/disk/by-id/virtio-cache  _netdev,timeout=1
wrong /dev/disk/by-id/nvme-nowhere
END
echo 'metrics-textfile = /run/nearcache/metrics.prom' >"$root/etc/nearcache/nearcache.conf"
cat >"$root/etc/fstab" <<'END'
/dev/disk/by-id/virtio-state /var/lib/nearcache ext4 defaults 0 0
/dev/mapper/data /data ext4 _netdev,nofail 0 0
END
truncate -s 48M "$HOST_DIR/cache.img"
truncate -s 16M "$HOST_DIR/state.img"
# No cache has a gap so far.
mkdir "$HOST_DIR/state"
echo '{ "schema": 1, "gaps": [] }' >"$HOST_DIR/state/gaps.json"
mkfs.ext4 -q -d "$HOST_DIR/state" "$HOST_DIR/state.img"

# boot NAME DRIVES [OPTIONS]: run the script on stdin, with these drives added. One processor,
# because the daemon loads programs (see "others" in common.sh).
boot() {
	local name=$1 drive options=() drives=$2
	shift 2
	for drive in $drives; do
		options+=(--qemu "-drive file=$HOST_DIR/$drive.img,if=none,id=d-$drive,format=raw,cache=unsafe"
			--qemu "-device virtio-blk-pci,drive=d-$drive,serial=$drive")
	done
	mkdir -p "$HOST_DIR/$name"
	cat >"$HOST_DIR/$name/boot.sh"
	echo "# boot: $name"
	"$TOP/tests/vm/run" --kernel "$KERNEL" --cpus 1 --quiet --timeout 300 --disk-dir "$HOST_DIR/disks" \
		--remote-size 64M --payload "$BUILD/selftests/nearcache:/selftests" --payload "$HOST_DIR/$name:/boot" \
		--payload "$root:/" "${options[@]}" "$@" -- \
		bash -c "cd /selftests && export TMPDIR=/tmp && . ./cache.sh && . ./command.sh && . /boot/boot.sh"
}

# booted: the first part of the tests that run under systemd.
booted=$(
	cat <<'END'
unset DM_DISABLE_UDEV
no_jobs() {
	[[ $(systemctl list-jobs --no-legend) == '' ]]
}
wait_for 150 no_jobs || fail "the boot does not end: $(systemctl list-jobs)"
for unit in multi-user.target remote-fs.target data.mount nearcache@data.service nearcache-daemon.service; do
	systemctl is-active --quiet "$unit" || fail "not active: $(systemctl status "$unit")"
done
! systemctl is-active --quiet nearcache@gone.service || fail "nearcache@gone without its volume"
same "failed units" "$(systemctl list-units --failed --no-legend --plain | cut -d ' ' -f 1)" nearcache@gone.service
uuid=$(blkid -p -s UUID -o value /dev/mapper/data)
same "the link by uuid" "$(readlink -f "/dev/disk/by-uuid/$uuid")" "$(readlink -f /dev/mapper/data)"
closed() {
	! dmsetup info data >/dev/null 2>&1 || { nearcache close data && ! dmsetup info data >/dev/null 2>&1; }
}
# stopped: stop the units in the order of a shutdown.
stopped() {
	systemctl stop data.mount nearcache@data.service || fail "stop: $(systemctl status nearcache@data.service)"
	# A udev probe of the written device may outlast the retries of the close by the unit.
	wait_for 30 closed ||
		fail "it is still there: $(systemctl status nearcache@data.service; dmsetup info data)"
}
END
)

boot made "cache state" <<'END'
insmod "$MODULE"
modprobe virtio_blk
O=$(remote_up) || fail "no volume"
at_exit remote_down
mkfs.ext4 -q "$O"
drive() {
	echo "/dev/$(basename "$(dirname "$(grep -l "^$1$" /sys/block/vd*/serial)")")"
}
cache=$(drive cache)
mkdir -p /var/lib/nearcache
mount "$(drive state)" /var/lib/nearcache
at_exit umount /var/lib/nearcache
good create data --origin "$O" --cache "$cache" --mode writearound
mkdir -p /data
mount /dev/mapper/data /data
yes 1 | head -c 8388608 >/data/file
yes 3 | head -c 65536 >/data/pinned
good pin data /data/pinned --no-load
umount /data
good close data
good open data --cache "$cache" --mode writearound
dd if=/dev/mapper/data of=/dev/null bs=1M iflag=direct 2>/dev/null
settle data
above bytes_valid $((8 << 20)) data
good close data
END

boot with "cache state" --init /lib/systemd/systemd <<END
$booted
above bytes_valid 8388608 data
grep -q '"gaps": \[\]' /var/lib/nearcache/gaps.json || fail "a gap"
stopped
END

boot without "state" --init /lib/systemd/systemd <<END
$booted
[[ \$(dmsetup table data) == *" linear "* ]] || fail "no pass-through: \$(dmsetup table data)"
# Overwrite the file in place, that is, the same blocks of the volume.
yes 2 | head -c 8388608 | dd of=/data/file bs=64K iflag=fullblock conv=notrunc,fsync 2>/dev/null
cp /data/pinned /data/new
mv /data/new /data/pinned
stopped
END

boot again "cache state" --init /lib/systemd/systemd <<END
$booted
[[ \$(dmsetup table data) == *" nearcache writearound "* ]] || fail "without its cache: \$(dmsetup table data)"
same "the file" "\$(sha256sum </data/file)" "\$(yes 2 | head -c 8388608 | sha256sum)"
# nearcache-pins.service must have followed the file already, so that no pin moves now.
good pin data --refresh -j
expect pins 1 moved 0
# monitored: does the daemon, with only the rights of its unit, write the metrics?
monitored() {
	grep -q '^nearcache_label_.*device="data"' /run/nearcache/metrics.prom
}
wait_for 30 monitored || fail "no labels: \$(systemctl status nearcache-daemon)"
stopped
# classified: has the daemon, which started before the module, loaded the classifier?
classified() {
	good classifier show -j
	[[ \$(json state) == loaded ]]
}
wait_for 30 classified || fail "no classifier: \$(systemctl status nearcache-daemon)"
systemctl stop nearcache-daemon.service || fail "stop: \$(systemctl status nearcache-daemon)"
good classifier unload
good latency unload
# The next start of the unit uses the cache again.
systemctl start nearcache@data.service
above bytes_valid 4194304 data
stopped
END
