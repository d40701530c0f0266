#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Debian's libblkid, blkid and wipefs with helper/packaging/blkid/nearcache.patch name the content of
# images as the udev rule does, check checksums, and erase all superblocks. Needs apt's sources.
# when: soak
# timeout: 1200
set -uo pipefail
# shellcheck source=tests/tap.sh
# shellcheck disable=SC2317 # functions that check() calls
. "$TOP/tests/tap.sh"
cd "$TOP" || exit
unset MAKEFLAGS MFLAGS MAKELEVEL
export LC_ALL=C
dir=$BUILD/static/blkid
new=$dir/build
mkdir -p "$dir/lists/partial" "$dir/cache"
version=$(dpkg-query -W -f '${Version}' libblkid1 2>/dev/null)
[[ $version == 2.38.* ]] || { echo "the patch is for util-linux 2.38, and libblkid1 is ${version:-not installed}" >&2; exit 4; }
for program in meson ninja dpkg-source bison; do
	type -P "$program" >/dev/null || { echo "no $program: install meson, ninja-build, dpkg-dev and bison" >&2; exit 4; }
done

# source_file: print the name of the source package's description, which the first run downloads.
source_file() {
	local apt=(-o "Dir::State::lists=$dir/lists" -o "Dir::Cache=$dir/cache" -o APT::Sandbox::User=root
		-o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null -qq)
	local file=$dir/util-linux_$version.dsc
	if [[ ! -e $file ]]; then
		apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
			sort -u | sed 's/^/deb-src /' >"$dir/sources.list"
		(cd "$dir" && apt-get "${apt[@]}" update && apt-get "${apt[@]}" source --download-only \
			"util-linux=$version") >"$dir/download.log" 2>&1
	fi
	[[ -e $file ]] && echo "$file"
}

# built: unpack, patch and build. meson.build of 2.38 wants libraries of programs that are not built.
built() {
	local option options=(--auto-features=disabled)
	for option in libblkid libuuid libmount libsmartcols wipefs; do
		options+=("-Dbuild-$option=enabled")
	done
	rm -rf "$dir/src" "$new"
	(dpkg-source -x "$1" "$dir/src" && cd "$dir/src" &&
		patch -p1 --fuzz=0 <"$TOP/helper/packaging/blkid/nearcache.patch" &&
		sed -i "s/find_library('pam')/find_library('pam', required : false)/
			s/^if lib_pam.found()/lib_pam_misc = lib_pam\n&/
			s/^  'libcap-ng')/  'libcap-ng', required : false)/" meson.build &&
		meson setup "$new" "${options[@]}" &&
		ninja -C "$new" blkid wipefs libblkid/libblkid.so.1.1.0) >"$dir/build.log" 2>&1 ||
		{ tail -n 20 "$dir/build.log"; return 1; }
	! grep -A3 'superblocks/nearcache.c.*warning' "$dir/build.log"
}

# images_made: build the program that makes images, and make them.
images_made() {
	rm -rf "$dir/images"
	mkdir "$dir/images"
	gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-sign-compare -I. -iquote helper -iquote kmod -Iuapi \
		-o "$dir/make_images" tests/static/blkid_images.c "$BUILD/helper/libnearcache.a" -lblkid -luuid -lisal -lnettle &&
		"$dir/make_images" make "$dir/images"
}

# names FILE: print the values that the new blkid has of an image.
names() {
	LD_LIBRARY_PATH=$new/libblkid "$new/blkid" -p -o udev "$dir/images/$1" | sed 's/\\\([.=-]\)/\1/g'
}

# is IMAGE TYPE USAGE UUID [LABEL]
is() {
	diff <(names "$1" | grep -v AMBIVALENT | sort) <(printf '%s\n' "ID_FS_TYPE=nearcache_$2" "ID_FS_USAGE=$3" ID_FS_VERSION=1 \
		"ID_FS_UUID=$4" "ID_FS_UUID_ENC=$4" ${5:+"ID_FS_LABEL=${5// /_}" "ID_FS_LABEL_ENC=${5// /\\x20}"} | sort)
}

# same_for_udev IMAGE: the udev rule without the patch has the same values.
same_for_udev() {
	diff <(names "$1" | sort) <("$BUILD/helper/nearcache" super --udev "$dir/images/$1" | sort)
}

nothing() {
	local image
	for image; do
		[[ -z $(names "$image") ]] || { echo "$image: $(names "$image")"; return 1; }
		same_for_udev "$image" || return
	done
}

# disk_of_partition: the first superblock of a cache in a partition is at the place of the second one of
# the disk, which is no cache. Without the partition table it is one.
disk_of_partition() {
	local disk=$dir/images/disk out
	dd if="$dir/images/cache" of="$disk" bs=512 seek=1016 conv=notrunc status=none
	out=$(names disk)
	[[ $out == *ID_PART_TABLE_TYPE=dos* && $out != *ID_FS_TYPE* ]] || { echo "$out"; return 1; }
	dd if=/dev/zero of="$disk" bs=512 count=1 conv=notrunc status=none
	names disk | grep -x ID_FS_TYPE=nearcache_cache
}

others() {
	mkfs.ext4 -q -F "$dir/images/empty" && names empty | grep -x ID_FS_TYPE=ext4
}

# wipes IMAGE OFFSET...: wipefs lists these offsets, and leaves nothing.
wipes() {
	local image=$dir/images/$1
	shift
	diff <(LD_LIBRARY_PATH=$new/libblkid "$new/wipefs" --noheadings -O OFFSET "$image") <(printf '%s\n' "$@") &&
		LD_LIBRARY_PATH=$new/libblkid "$new/wipefs" -q -a "$image" && nothing "${image##*/}"
}

# as_before IMAGE: the helper judges an image with the new library as with the old one.
as_before() {
	diff <("$dir/make_images" content "$dir/images/$1") \
		<(LD_LIBRARY_PATH=$new/libblkid "$dir/make_images" content "$dir/images/$1")
}

dsc=$(source_file) || { echo "no source of util-linux $version: $(tail -n 1 "$dir/download.log")" >&2; exit 4; }
cache=11111111-2222-3333-4444-555555555555
check 'the patch applies, and libblkid builds without a warning' built "$dsc"
check 'images are made' images_made
check 'a cache device' is cache cache raid "$cache" 'train data'
check 'a log' is stage stage raid 66666666-7777-8888-9999-aaaaaaaaaaaa nc
check 'a witness of 4 KiB' is witness witness other "$cache"
check 'a witness whose first records are not in use' is second-witness witness other "$cache"
check 'a cache device whose first superblock is damaged' is torn-cache cache raid "$cache" torn
for image in cache stage witness second-witness torn-cache; do
	check "$image: the udev rule says the same" same_for_udev "$image"
	check "$image: the helper finds what it found before" as_before "$image"
done
check 'nothing with wrong checksums, of a cache that moved, or on an empty device' \
	nothing bad-cache bad-stage bad-witness moved-witness empty
check 'a disk is not the cache in its partition' disk_of_partition
check 'other content is still recognised' others
check 'wipefs erases both superblocks of a cache device' wipes cache 0x1000 0x80000
check 'wipefs erases both superblocks of a log' wipes stage 0x1000 0x80000
check 'wipefs erases a record' wipes second-witness 0x3f000
finish
