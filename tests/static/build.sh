#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Guarantees of the Makefile: parallel builds work, a second build does nothing, V=1 shows commands,
# and uninstall removes all that install created.
# when: soak
# timeout: 360
set -uo pipefail
# shellcheck source=tests/tap.sh
. "$TOP/tests/tap.sh"
cd "$TOP" || exit
# shellcheck disable=SC2317 # functions that check() calls
dir=$BUILD/static/make
dest=$dir/dest
rm -rf "$dir"
mkdir -p "$dir"

# Call make as a user does, without the variables of the make that runs this test.
unset MAKEFLAGS MFLAGS MAKELEVEL
run_make() {
	make --no-print-directory "BUILD=$dir/build" "$@"
}

nothing_to_do() {
	touch "$dir/before"
	run_make >"$dir/log" 2>&1 || return
	find "$dir/build" -type f -newer "$dir/before" | grep . && return 1
	! grep -vE 'Nothing to be done|is up to date' "$dir/log"
}

shows_commands() {
	rm -f "$dir"/build/helper/main.o && run_make V=1 helper >"$dir/log" && grep -qE -- '-o [^ ]*main\.o' "$dir/log"
}

installed() {
	run_make install "DESTDIR=$dest" PREFIX=/usr &&
		[[ -x $dest/usr/sbin/nearcache && -x $dest/usr/sbin/nearcached && -x $dest/usr/sbin/nearcache-top ]] &&
		compgen -G "$dest/lib/modules/*/updates/dm-nearcache.ko"
}

# Libraries that only nearcached or nearcache-top needs.
few_libraries() {
	! readelf -d "$dir/build/helper/nearcache" | grep -E 'NEEDED.*lib(ncurses|tinfo|systemd|microhttpd)'
}

nothing_left() {
	touch "$dest/usr/lib/udev/rules.d/"{68,69}-nearcache.rules
	run_make uninstall "DESTDIR=$dest" PREFIX=/usr || return
	! find "$dest" ! -type d | grep .
}

help_is_complete() {
	local target missing=0
	run_make help >"$dir/log"
	for target in all module helper check soak demo vm deps install uninstall clean; do
		grep -q "^  $target " "$dir/log" || { echo "not in 'make help': $target"; missing=1; }
	done
	return "$missing"
}

check 'make -j2' run_make -j2
check 'a second make does nothing' nothing_to_do
check 'V=1 shows commands' shows_commands
check 'nearcache needs few libraries' few_libraries
check 'make install' installed
check 'make uninstall leaves nothing' nothing_left
check 'make help' help_is_complete
check 'make clean' bash -c "make -s BUILD='$dir/build' clean && [[ ! -e '$dir/build' ]]"
finish
