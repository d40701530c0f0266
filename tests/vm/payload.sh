# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What is put into the guest on top of the base: harness files, the module, the
# helper and the test's own directories. Sourced by run.

# payload_binary PROGRAM TARGET STAGE: a program or library with its shared libraries.
payload_binary() {
	local lib
	install -D -m 755 "$1" "$3$2"
	while read -r lib; do
		[[ -e $3$lib ]] || install -D -m 755 "$lib" "$3$lib"
	done < <(ldd "$1" 2>/dev/null | grep -o '/[^ ]*' || true)
}

# payload_helper STAGE: the programs.
payload_helper() {
	local name
	for name in nearcache nearcached nearcache-top; do
		payload_binary "$BUILD/helper/$name" "/usr/sbin/$name" "$1"
	done
}

# payload_terminal STAGE: what ncurses has to know of the terminals that tests play.
payload_terminal() {
	local folder name
	for name in l/linux x/xterm; do
		for folder in /etc /lib /usr/share; do
			[[ ! -e $folder/terminfo/$name ]] ||
				install -D -m 644 "$folder/terminfo/$name" "$1/usr/share/terminfo/$name"
		done
	done
}

# payload_project STAGE RELEASE: module and helper, when they are built.
payload_project() {
	local stage=$1 release=$2 module=$BUILD/module/$2/dm-nearcache.ko dir
	if [[ -e $module ]]; then
		dir=$stage/lib/modules/$release
		mkdir -p "$stage/nearcache" "$dir/extra"
		tar -C "$stage/lib/modules" -xf "$BUILD/vm/modules-$release.tar"
		# What debuggers want is nine tenths of it, and read at each load.
		strip --strip-debug -o "$dir/extra/dm-nearcache.ko" "$module"
		depmod -b "$stage" "$release"
		# The base holds the kernel's own modules already.
		rm -rf "$dir/kernel"
		ln -s "/lib/modules/$release/extra/dm-nearcache.ko" "$stage/nearcache/"
	fi
	if [[ -e $BUILD/helper/nearcache ]]; then
		payload_helper "$stage"
		payload_terminal "$stage"
		# Each guest starts with an empty /var; no cache missed anything all the same.
		mkdir -p "$stage/var/lib/nearcache"
		echo '{ "schema": 1, "gaps": [] }' >"$stage/var/lib/nearcache/gaps.json"
	fi
}

# payload_dir SPEC STAGE: SPEC is DIR (seen as /payload/NAME) or DIR:/PLACE.
payload_dir() {
	local dir=${1%%:/*} place
	place=/payload/$(basename "$(readlink -f "$dir")")
	[[ $1 != *:/* ]] || place=/${1#*:/}
	[[ -d $dir ]] || die "--payload '$dir' is not a directory"
	mkdir -p "$2$place"
	cp -a "$dir/." "$2$place/"
}

# payload_pack STAGE FILE: as a cpio archive, owned by root. The same files make the same archive: the
# kernel reads its headers' digits while it boots, and each takes an instruction or two.
payload_pack() {
	(
		cd "$1" || exit
		find . -exec touch -h -d @1704067200 {} +
		find . -mindepth 1 -print0 | LC_ALL=C sort -z | cpio --quiet --reproducible -0 -o -H newc -R 0:0
	) >"$2"
}
