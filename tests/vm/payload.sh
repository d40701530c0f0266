# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The files added to the base initramfs: harness files, the module, the helper and the test's own
# directories. Sourced by run.

# payload_libraries PROGRAM: print the paths of its shared libraries. If $sysroot is set, they are those
# of another architecture, and the paths are below it.
payload_libraries() {
	if [[ ! ${sysroot:-} ]]; then
		ldd "$1" 2>/dev/null | grep -o '/[^ ]*' || true
	elif readelf -lW "$1" 2>/dev/null | grep -c 'program interpreter' >/dev/null; then
		echo /lib/ld-linux-aarch64.so.1
		qemu-aarch64 -L "$sysroot" "$sysroot/lib/ld-linux-aarch64.so.1" --list "$1" |
			awk '$2 == "=>" && $1 !~ /^\// { print $3 }'
	fi
}

# payload_binary PROGRAM TARGET STAGE: copy a program or library and its shared libraries.
payload_binary() {
	local lib
	install -D -m 755 "$1" "$3$2"
	while read -r lib; do
		[[ -e $3$lib ]] || install -D -m 755 "$sysroot$lib" "$3$lib"
	done < <(payload_libraries "$1")
}

# payload_helper STAGE: copy the three programs.
payload_helper() {
	local name
	for name in nearcache nearcached nearcache-top; do
		payload_binary "$BUILD/helper/$name" "/usr/sbin/$name" "$1"
	done
}

# payload_terminal STAGE [TERM]: copy the terminal descriptions that ncurses needs in tests, and that of
# TERM.
payload_terminal() {
	local folder name
	for name in l/linux x/xterm ${2:+"${2:0:1}/$2"}; do
		for folder in /etc /lib /usr/share; do
			[[ ! -e $folder/terminfo/$name ]] ||
				install -D -m 644 "$folder/terminfo/$name" "$1/usr/share/terminfo/$name"
		done
	done
}

# payload_project STAGE RELEASE: copy the module and the helper, if they are built.
payload_project() {
	local stage=$1 release=$2 module=$BUILD/module/$2/dm-nearcache.ko dir
	if [[ -e $module ]]; then
		dir=$stage/lib/modules/$release
		mkdir -p "$stage/nearcache" "$dir/extra"
		tar -C "$stage/lib/modules" -xf "$BUILD/vm/modules-$release.tar"
		# Strip debug information, nine tenths of the module, which slows down each load.
		"${sysroot:+aarch64-linux-gnu-}strip" --strip-debug -o "$dir/extra/dm-nearcache.ko" "$module"
		depmod -b "$stage" "$release"
		# The base already holds the kernel's own modules.
		rm -rf "$dir/kernel"
		ln -s "/lib/modules/$release/extra/dm-nearcache.ko" "$stage/nearcache/"
	fi
	if [[ -e $BUILD/helper/nearcache ]]; then
		payload_helper "$stage"
		payload_terminal "$stage"
		mkdir -p "$stage/usr/lib/udev/rules.d"
		sed 's,@sbindir@,/usr/sbin,g' "$here/../../helper/udev/62-nearcache.rules.in" \
			>"$stage/usr/lib/udev/rules.d/62-nearcache.rules"
		# Each guest starts with an empty /var; record that no cache has a gap.
		mkdir -p "$stage/var/lib/nearcache"
		echo '{ "schema": 1, "gaps": [] }' >"$stage/var/lib/nearcache/gaps.json"
	fi
}

# payload_dir SPEC STAGE: copy a directory; SPEC is DIR (seen as /payload/NAME) or DIR:/PLACE.
payload_dir() {
	local dir=${1%%:/*} place
	place=/payload/$(basename "$(readlink -f "$dir")")
	[[ $1 != *:/* ]] || place=/${1#*:/}
	[[ -d $dir ]] || die "--payload '$dir' is not a directory"
	mkdir -p "$2$place"
	cp -a "$dir/." "$2$place/"
}

# payload_pack STAGE FILE: pack a cpio archive, owned by root. Equal files give equal archives: the
# kernel parses the digits of the headers, so other digits would change the count of instructions.
payload_pack() {
	(
		cd "$1" || exit
		find . -exec touch -h -d @1704067200 {} +
		find . -mindepth 1 -print0 | LC_ALL=C sort -z | cpio --quiet --reproducible -0 -o -H newc -R 0:0
	) >"$2"
}
