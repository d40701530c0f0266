#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache-selftest must pass on a node, leave nothing behind, and fail if reads have other data than
# the volume, or if the commands have another version than the module.
# kernels: 6.12
# when: soak
. ./cache.sh

modprobe loop || skip "no loop devices"
mkdir -p "$TMPDIR/bin" "$TMPDIR/self"
sed -E "s,^export PATH=,&$TMPDIR/bin:," nearcache-selftest >"$TMPDIR/selftest"
chmod 755 "$TMPDIR/selftest"

# selftest CODE: run it; it must exit with CODE and remove all it made.
selftest() {
	local rc=0 left
	TMPDIR=$TMPDIR/self "$TMPDIR/selftest" >"$TMPDIR/said" 2>&1 || rc=$?
	[[ $rc == "$1" ]] || fail "exit $rc instead of $1: $(<"$TMPDIR/said")"
	left=$(losetup -a; compgen -G "$TMPDIR/self/*"; compgen -G '/var/lib/nearcache/settings/*'; compgen -G '/dev/mapper/selftest-*')
	[[ ! $left ]] || fail "left behind: $left"
}

selftest 0
grep -qx '1..9' "$TMPDIR/said" || fail "$(<"$TMPDIR/said")"

# A volume that changes below the cache.
cat >"$TMPDIR/bin/cmp" <<'END'
#!/bin/bash
cat >/dev/null
echo "differ"
exit 1
END
chmod 755 "$TMPDIR/bin/cmp"
selftest 1
grep -q '^not ok 3 ' "$TMPDIR/said" || fail "$(<"$TMPDIR/said")"
rm "$TMPDIR/bin/cmp"

cat >"$TMPDIR/bin/nearcache" <<'END'
#!/bin/bash
[[ $1 != --version ]] || { echo 'nearcache 0.0.7'; exit; }
exec /usr/sbin/nearcache "$@"
END
chmod 755 "$TMPDIR/bin/nearcache"
selftest 1
grep -q '^# commands 0.0.7, loaded module' "$TMPDIR/said" || fail "$(<"$TMPDIR/said")"
