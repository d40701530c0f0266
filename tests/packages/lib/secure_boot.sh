# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Boot a release with Secure Boot: OVMF with the keys of Microsoft, Debian's shim, GRUB and kernel as they are
# signed, and a key that is enrolled as an administrator does it. Sourced by release.sh, after boot.sh.
# shellcheck disable=SC2154 # set by the test and release.sh

# secure_script: print the script of the guest. At the first boot the builder's key is not enrolled.
secure_script() {
	cat <<-'END'
		#!/bin/bash
		# SPDX-License-Identifier: GPL-2.0-only
		exec >/dev/ttyS0 2>&1
		export DEBIAN_FRONTEND=noninteractive HOME=/root
		drive() { lsblk -dnro NAME,SERIAL | awk -v serial="$1" '$2 == serial { print "/dev/" $1 }'; }
		certificate=$(echo /usr/share/nearcache-modules-*/certificate.der)
		set -x
		udevadm settle
		origin=$(drive volume) cache=$(drive local)
		echo "SECURE BOOT $(mokutil --sb-state | head -n 1), LOCKDOWN $(cat /sys/kernel/security/lockdown)"
		if [[ ! -e $certificate ]]; then
			apt-get -q install /srv/new/nearcache_*.deb /srv/new/modules/*.deb </dev/null
			echo "INSTALLED $?"
			certificate=$(echo /usr/share/nearcache-modules-*/certificate.der)
			nearcache create imagenet --origin $origin --cache $cache
			echo "CREATE WITHOUT KEY $?"
			mokutil --generate-hash=secret >/root/hash && mokutil --hash-file /root/hash --import "$certificate"
			echo "IMPORTED $?"
		else
			nearcache create imagenet --origin $origin --cache $cache && mount -o ro /dev/mapper/imagenet /mnt && (cd /mnt && sha256sum -c sums)
			echo "CREATE WITH KEY $? $(modinfo -F signer dm_nearcache)"
			umount /mnt && nearcache close imagenet && rmmod dm-nearcache
			for kind in unsigned changed; do
				insmod /srv/$kind.ko && echo "LOADED $kind"
			done
			mkdir /root/other && mv /lib/modules/*/updates/dm-nearcache.ko /root/other/ && cp /srv/unsigned.ko "/lib/modules/$(uname -r)/updates/dm-nearcache.ko"
			nearcache open imagenet --origin $origin --cache $cache
			echo "OPEN UNSIGNED $?"
			mv /root/other/dm-nearcache.ko "/lib/modules/$(uname -r)/updates/"
			nearcache open imagenet --origin $origin --cache $cache
			echo "OPEN SIGNED $?"
			apt-get -q install --reinstall /srv/new/modules/*.deb </dev/null
			echo "REINSTALLED $?"
		fi
		systemctl poweroff --force --force
	END
}

# dkms_script: the same with the module that DKMS has built and signed with a key of the machine.
dkms_script() {
	cat <<-'END'
		#!/bin/bash
		# SPDX-License-Identifier: GPL-2.0-only
		exec >/dev/ttyS0 2>&1
		drive() { lsblk -dnro NAME,SERIAL | awk -v serial="$1" '$2 == serial { print "/dev/" $1 }'; }
		set -x
		udevadm settle
		start=$SECONDS
		nearcache create imagenet --origin $(drive volume) --cache $(drive local) && mount -o ro /dev/mapper/imagenet /mnt && (cd /mnt && sha256sum -c sums)
		echo "CREATE $? in $((SECONDS - start)) s, $(modinfo -F signer dm_nearcache)"
		if [[ ! -e /root/hash ]]; then
			mokutil --generate-hash=secret >/root/hash && mokutil --hash-file /root/hash --import /var/lib/dkms/mok.pub
			echo "IMPORTED $?"
		fi
		systemctl poweroff --force --force
	END
}

# dkms_installed ROOT: install the packages there, as an administrator does; DKMS builds the module for the
# kernel of the guest.
dkms_installed() {
	local name=$1/usr/local/sbin/uname kver start=$SECONDS
	kver=$(basename "$(compgen -G "$1/usr/lib/modules/*" | head -n 1)")
	printf '#!/bin/sh\n[ "$*" = -r ] && echo %s || exec /usr/bin/uname "$@"\n' "$kver" >"$name" && chmod 755 "$name" &&
		chroot_run "$1" env "PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin" sh -c \
			'apt-get -qo DPkg::Path="/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin" install /srv/new/nearcache_*.deb /srv/new/nearcache-dkms_*.deb' || return
	echo "apt installed the packages and built the module in $((SECONDS - start)) s" >"$dir/dkms.seconds"
	rm "$name"
}

# secure_esp ROOT ESP: make the folder of the EFI system partition, with the signed programs of the release.
secure_esp() {
	local root=$1 esp=$2 package=$2.packages
	rm -rf "$esp" "$package" && mkdir -p "$esp/EFI/BOOT" "$esp/EFI/debian" "$package" "$root/srv/efi" &&
		chroot_run "$root" sh -c 'cd /srv/efi && apt-get -qq download ovmf shim-signed shim-helpers-amd64-signed grub-efi-amd64-signed' || return
	local file
	for file in "$root"/srv/efi/*.deb; do
		dpkg-deb -x "$file" "$package" || return
	done
	cp "$package/usr/lib/shim/shimx64.efi.signed" "$esp/EFI/BOOT/BOOTX64.EFI" &&
		cp "$package/usr/lib/shim/mmx64.efi.signed" "$esp/EFI/BOOT/mmx64.efi" &&
		cp "$package/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed" "$esp/EFI/BOOT/grubx64.efi" &&
		cp "$(compgen -G "$root/boot/vmlinuz-*" | head -n 1)" "$esp/vmlinuz" &&
		printf 'linux /vmlinuz %s\nboot\n' "$boot_parameters" >"$esp/EFI/debian/grub.cfg" &&
		cp "$package/usr/share/OVMF/OVMF_CODE_4M.secboot.fd" "$dir/code.fd" && cp "$package/usr/share/OVMF/OVMF_VARS_4M.ms.fd" "$dir/vars.fd" &&
		rm -r "$package" "$root/srv/efi"
}

# secure_boot SERIAL PROGRAM...: boot it; PROGRAM runs the emulator.
secure_boot() {
	local serial=$1
	shift
	boot_guest "$@" -machine q35,smm=on -global driver=cfi.pflash01,property=secure,value=on \
		-drive "if=pflash,format=raw,unit=0,readonly=on,file=$dir/code.fd" -drive "if=pflash,format=raw,unit=1,file=$dir/vars.fd" \
		-drive "file=fat:$dir/esp,format=raw,if=none,id=esp,readonly=on" -device virtio-blk-pci,drive=esp,bootindex=0 -serial "$serial"
}

# secure_modules ROOT: put modules there that the kernel must refuse: without signature, and changed.
secure_modules() {
	local module=$dir/prebuilt
	rm -rf "$module" && mkdir "$module" && dpkg-deb -x "$dir"/new/modules/*.deb "$module" || return
	module=$(find "$module" -name dm-nearcache.ko)
	signature_checked "$module" "$dir/cert" "$dir" && cp "$dir/content" "$1/srv/unsigned.ko" && cp "$dir/changed" "$1/srv/changed.ko"
}

# dkms_booted: see dkms_script.
dkms_booted() {
	local root=$dir/secure
	boot_root "$root" dkms_script mokutil dkms "$headers" && dkms_installed "$root" && secure_esp "$root" "$dir/esp" && boot_drives "$root" || return
	secure_boot "file:$dir/dkms.1" timeout "$boot_timeout"
	secure_boot stdio "$TOP/tests/packages/lib/mok_manager.py" "$dir/dkms.2" secret "$boot_timeout" || return
	secure_boot "file:$dir/dkms.3" timeout "$boot_timeout"
	boot_drives_removed
	boot_line "$dir/dkms.1" 'CREATE [1-9]' && boot_line "$dir/dkms.1" '.*mokutil --import CERTIFICATE.*/var/lib/dkms/mok.pub' &&
		boot_line "$dir/dkms.1" 'IMPORTED 0' && boot_line "$dir/dkms.3" 'CREATE 0 in .*, DKMS module signing key'
}

# secure_booted: see secure_script.
secure_booted() {
	local root=$dir/secure line
	boot_root "$root" secure_script mokutil && secure_esp "$root" "$dir/esp" && secure_modules "$root" && boot_drives "$root" || return
	secure_boot "file:$dir/secure.1" timeout "$boot_timeout"
	secure_boot stdio "$TOP/tests/packages/lib/mok_manager.py" "$dir/secure.2" secret "$boot_timeout" || return
	secure_boot "file:$dir/secure.3" timeout "$boot_timeout"
	boot_drives_removed
	for line in 'SECURE BOOT SecureBoot enabled, LOCKDOWN none \[integrity\]' 'INSTALLED 0' '  mokutil --import /usr/share/nearcache-modules-.*/certificate.der' \
		'.*Enroll MOK' 'CREATE WITHOUT KEY [1-9]' 'IMPORTED 0'; do
		boot_line "$dir/secure.1" "$line" || return
	done
	for line in 'CREATE WITH KEY 0 nearcache test' 'OPEN UNSIGNED [1-9]' 'OPEN SIGNED 0' 'REINSTALLED 0'; do
		boot_line "$dir/secure.3" "$line" || return
	done
	! grep -E '^LOADED|^nearcache: Secure Boot is on' "$dir/secure.3"
}
