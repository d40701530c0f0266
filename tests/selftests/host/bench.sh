#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# 'make bench HOST=1' on two drives of a guest: it must refuse unsuitable drives, print its plan,
# and measure once the user has confirmed.
# when: soak
# kernels: 6.12
# timeout: 300
set -euo pipefail

cat >"$HOST_DIR/measure.sh" <<'END'
local=$(local_dev)
remote=$(remote_backing)
export BUILD=$TMPDIR/build BENCH_TOOLS=$PWD VM_LIB=/vm/lib.sh MODULE_FILE=$MODULE HOST=1

# medium: read the drive directly, as a mounted file system caches its own reads.
medium() {
	dd if="$remote" bs=1M count=8 iflag=direct 2>/dev/null
}

# refused TEXT ORIGIN CACHE [NAME...]: bench must exit 2 with this message and write nothing.
refused() {
	local rc=0
	ORIGIN=$2 CACHE=$3 /bench/run "${@:4}" <<<"${answer:-overwrite $2 $3}" >"$TMPDIR/said" 2>&1 || rc=$?
	((rc == 2)) && grep -qF -- "$1" "$TMPDIR/said" || fail "exit $rc instead of '$1': $(<"$TMPDIR/said")"
	cmp -n $((8 << 20)) "$local" /dev/zero && medium | cmp - "$TMPDIR/remote" ||
		fail "'$1', but it wrote"
}

mkfs.ext4 -q "$remote" 64M
sync
medium >"$TMPDIR/remote"
refused "no ORIGIN" '' "$local"
refused "no block device" "$TMPDIR" "$local"
refused "are one device" "$local" "$local"
refused "no benchmark 'none'" "$remote" "$local" none
answer=yes refused "not confirmed: nothing was done" "$remote" "$local" hitpath
grep -q "$remote, .*: ext4" "$TMPDIR/said" || fail "existing content is not reported: $(<"$TMPDIR/said")"
mkdir "$TMPDIR/mnt"
mount -o ro "$remote" "$TMPDIR/mnt"
refused "mounted on $TMPDIR/mnt" "$remote" "$local" hitpath
umount "$TMPDIR/mnt"
make_dm held held "0 8 linear $local 8192"
refused "held by dm-" "$remote" "$local" hitpath
dm_remove held
make_null small small 16
refused "less than" "$remote" "$small" hitpath
null_del small
cleanups=()

ORIGIN=$remote CACHE=$local TARGETS="raw nearcache" /bench/run memory hitpath <<<"overwrite $remote $local" ||
	fail "it does not run"
grep -q '"bench": "hitpath"' "$BUILD/bench/hitpath.json" || fail "no result"
same "rows" "$(grep -c '"added_nanoseconds": ' "$BUILD/bench/hitpath.json")" 24
[[ ! -e $BUILD/bench/memory.json ]] || fail "memory is of virtual time"
dmsetup ls | grep -q 'No devices' || fail "left: $(dmsetup ls)"
END

"$TOP/tests/vm/run" --kernel "$KERNEL" --local-size 2G --timeout 280 \
	--payload "$BUILD/selftests/nearcache:/selftests" --payload "$TOP/tests/bench:/bench" --payload "$HOST_DIR:/boot" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp SOAK=${SOAK:-} && . ./cache.sh && . /boot/measure.sh"
