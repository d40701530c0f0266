# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Root file systems of Debian releases, in which packages are installed. Sourced.
# shellcheck source=tests/vm/kernel.sh
. "$TOP/tests/vm/kernel.sh"
# shellcheck source=tests/kernels/mirrors.sh
. "$TOP/tests/kernels/mirrors.sh"

# chroot_base RELEASE: make a minimal system of the release once, and print its archive in KERNEL_CACHE.
# Exit: 4 if the packages cannot be had.
chroot_base() {
	local dir archive part
	dir=$(kernel_dir chroot)
	archive=$dir/$1.tar
	mkdir -p "$dir"
	(
		flock 9
		[[ ! -e $archive ]] || exit 0
		part=$(mktemp -d "$dir/$1.XXXX")
		# shellcheck disable=SC2064 # expand the name now
		trap "rm -rf '$part'" EXIT
		chmod 755 "$part"
		debootstrap --variant=minbase --include=systemd,udev,ca-certificates "$1" "$part" "$(mirror_main)" >"$dir/$1.log" 2>&1 ||
			{ tail -n 5 "$dir/$1.log" >&2; exit 4; }
		rm -f "$part"/var/cache/apt/archives/*.deb
		tar -C "$part" -cf "$archive.new" . && mv "$archive.new" "$archive"
	) 9>"$dir/$1.lock" || return
	echo "$archive"
}

# chroot_unpack RELEASE DIR: unpack it to DIR, with the release's security updates among apt's sources.
chroot_unpack() {
	local archive
	archive=$(chroot_base "$1") || return
	mkdir -p "$2" && tar -C "$2" -xf "$archive" || return
	{
		echo "deb $(mirror_main) $1 main"
		[[ ! $(mirror_security) ]] || echo "deb $(mirror_security) $1-security main"
	} >"$2/etc/apt/sources.list"
	printf '%s\n' 'APT::Install-Recommends "false";' 'APT::Get::Assume-Yes "true";' 'Acquire::Languages "none";' \
		'Dpkg::Use-Pty "0";' >"$2/etc/apt/apt.conf.d/90test"
}

# chroot_run DIR COMMAND...: run it in DIR, with its own mounts and processes, which end with it.
chroot_run() {
	# shellcheck disable=SC2016 # the inner shell expands these
	unshare --mount --pid --fork --kill-child bash -euc '
		mount --make-rprivate /
		mount -t proc proc "$1/proc"
		mount -t tmpfs tmpfs "$1/run"
		mount --bind /dev "$1/dev"
		mount -t tmpfs tmpfs "$1/tmp"
		root=$1; shift
		# INITRD: no initial ramdisk for kernels.
		exec chroot "$root" env -i INITRD=No PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
	' chroot_run "$@" </dev/null
}
