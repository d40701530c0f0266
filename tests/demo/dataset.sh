#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Make the demo's dataset once: shards, manifest and the remote volume's content.
#   usage: dataset.sh FOLDER TOOLS      (DATA=dir: the user's own shards)
#
# FOLDER gets manifest and disks/remote.img, an ext4 file system with the shards.
# Needs no root: the file system is made by mke2fs -d.
set -euo pipefail
folder=${1:?usage: dataset.sh FOLDER TOOLS}
tools=${2:?usage: dataset.sh FOLDER TOOLS}
PATH=$PATH:/usr/sbin:/sbin

# Photos under free licences, 62 MB to download, no dependencies.
packages=(mate-backgrounds lomiri-wallpapers-16.04)
bytes=$((260 * 1024 * 1024))
shards=28

die() {
	echo "demo: $*" >&2
	exit 1
}

type -P mke2fs >/dev/null || die "'mke2fs' is missing: install the package 'e2fsprogs'"
mkdir -p "$folder/disks"
folder=$(readlink -f "$folder")
if [[ ${DATA:-} ]]; then
	[[ -d $DATA ]] || die "DATA '$DATA' is not a directory"
	DATA=$(readlink -f "$DATA")
	compgen -G "$DATA/*.tar" >/dev/null || die "no .tar files in DATA '$DATA'"
fi

# key: print the inputs of the dataset; the script rebuilds the dataset only if they change.
key() {
	if [[ ${DATA:-} ]]; then
		stat -c '%n %s %Y' "$DATA"/*.tar
	else
		echo "$bytes bytes, $shards shards of ${packages[*]}"
		sha256sum <"$tools/mkshards"
	fi
	sha256sum <"$0"
}

# package_photos PACKAGE: download and unpack the package once. It is not installed, so that this
# machine does not change.
package_photos() {
	local dir=$folder/packages/$1
	[[ ! -e $dir/done ]] || return 0
	rm -rf "$dir"
	mkdir -p "$dir"
	type -P apt-get >/dev/null || die "no apt-get here to download '$1': give your own shards with DATA=dir"
	echo "demo: downloading the package $1" >&2
	(cd "$dir" && apt-get -qq download "$1" 2>"$dir/log") ||
		{ apt-get -qq update && cd "$dir" && apt-get -qq download "$1"; } 2>>"$dir/log" ||
		die "cannot download the package '$1': $(tail -n 1 "$dir/log")"
	dpkg -x "$dir"/*.deb "$dir/root"
	touch "$dir/done"
}

make_shards() {
	local package photos=()
	for package in "${packages[@]}"; do
		package_photos "$package"
		while IFS= read -r -d '' photo; do
			photos+=("$photo")
		done < <(find "$folder/packages/$package/root" -name '*.jpg' -type f -print0 | LC_ALL=C sort -z)
	done
	((${#photos[@]} >= 20)) || die "only ${#photos[@]} photos in ${packages[*]}"
	"$tools/mkshards" "$1" "$bytes" "$shards" "${photos[@]}"
}

# link_shards: mke2fs -d takes a directory, so link the shards of the user into one.
link_shards() {
	local shard
	for shard in "$DATA"/*.tar; do
		ln "$shard" "$1/" 2>/dev/null || cp --reflink=auto "$shard" "$1/"
	done
	echo "$(find "$1" -name '*.tar' | wc -l) shards of $DATA"
}

# make_volume: with no journal and metadata in one place, so that a read-only mount writes nothing
# and the shards can use nearly the whole cache.
make_volume() {
	local total count size
	total=$(cat "$1"/*.tar | wc -c)
	count=$(find "$1" -name '*.tar' | wc -l)
	((total >= 64 << 20)) || die "the dataset has only $total bytes: at least 64 MiB are needed"
	size=$(((total + total / 50 + (16 << 20)) >> 20))
	rm -f "$folder/disks/remote.img"
	truncate -s "${size}M" "$folder/disks/remote.img"
	mke2fs -q -t ext4 -b 4096 -m 0 -N $((count + 64)) -L demo -O '^has_journal,^resize_inode' \
		-E packed_meta_blocks=1,root_owner=0:0 -d "$1" "$folder/disks/remote.img" ||
		die "mke2fs failed"
}

key >"$folder/key.new"
if [[ -e $folder/disks/remote.img ]] && cmp -s "$folder/key" "$folder/key.new"; then
	exit 0
fi
rm -rf "$folder/key" "$folder/shards"
mkdir "$folder/shards"
if [[ ${DATA:-} ]]; then
	link_shards "$folder/shards"
else
	make_shards "$folder/shards"
fi
"$tools/shardsum" "$folder"/shards/*.tar >"$folder/manifest"
make_volume "$folder/shards"
rm -rf "$folder/shards"
mv "$folder/key.new" "$folder/key"
