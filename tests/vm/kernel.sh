# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Which kernel to boot. Sourced by run and mkinitrd.

die() {
	echo "vm: $*" >&2
	exit 125
}

# need PROGRAM PACKAGE: the host must have it.
need() {
	type -P "$1" >/dev/null || die "'$1' is missing on this host: install the package '$2'"
}

# kernel_pick WANTED ROOT: print the release string of the newest kernel below
# ROOT/boot that matches WANTED (6.1, 6.12, or a full release string).
# The cloud flavour wins: it has NVMe and virtio built in and boots faster.
kernel_pick() {
	local wanted=$1 root=$2 image release found='' cloud=''
	if [[ -e $root/boot/vmlinuz-$wanted ]]; then
		echo "$wanted"
		return
	fi
	while IFS= read -r image; do
		release=${image##*/vmlinuz-}
		[[ -d $root/lib/modules/$release ]] || continue
		found=$release
		[[ $release != *cloud* ]] || cloud=$release
	done < <(compgen -G "$root/boot/vmlinuz-${wanted}[.-]*" | sort -V)
	found=${cloud:-$found}
	[[ $found ]] || die "no kernel '$wanted' with its modules in $root/boot: install" \
		"linux-image-$(kernel_package "$wanted") (found: $(kernel_list "$root"))"
	echo "$found"
}

kernel_package() {
	case $1 in
	6.12*) echo 6.12-cloud-amd64 ;;
	*) echo amd64 ;;
	esac
}

kernel_list() {
	local image list=''
	for image in "$1"/boot/vmlinuz-*; do
		[[ ! -e $image ]] || list+="${list:+, }${image##*/vmlinuz-}"
	done
	echo "${list:-none}"
}
