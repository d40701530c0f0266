#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Limit the load time of a slot table with every slot valid, for a cache of 1 TiB, in 'make soak' of
# 16 TiB. In virtual time (an instruction takes 1 ns) and with a device without latency, this is the
# time of the processor. A device of 3 GB/s adds 17 ms per TiB.
# kernels: 6.12
# when: soak
# timeout: 600
set -euo pipefail

cat >"$HOST_DIR/measure.sh" <<'END'
modprobe -r libcrc32c 2>/dev/null
modprobe -a crc32c_intel libcrc32c
insmod "$MODULE"
make_null meta meta $((64 * TIBS + 128))
sectors=$((TIBS << 31))
make_dm C cache "0 $(sectors "$meta") linear $meta 0
$(sectors "$meta") $((sectors - $(sectors "$meta"))) zero"
make_dm O origin "0 $sectors zero"
format "$C" "$O" 1M
./sbset "$C" fill || fail "fill"
dmsetup create nc --notable || fail "create"
at_exit dm_gone nc
dmsetup load nc --table "$(line)"
read -r before _ </proc/uptime
dmsetup resume nc
read -r after _ </proc/uptime
is blocks_used "$(field blocks)"
is blocks_warm "$(field blocks)"
is bytes_valid $(($(field blocks) << 20))
is loaded 2
echo "a full slot table of $TIBS TiB, $(field blocks) blocks of 1 MiB: loaded in $((${after/./} - ${before/./}))0 ms, $(field metadata_memory) bytes of memory"
# A look-up must find blocks in the middle of the table.
dd if=/dev/mapper/nc of=/dev/null bs=1M count=64 skip=$((12345 * TIBS)) iflag=direct 2>/dev/null
is hits 64
END
"$TOP/tests/vm/run" --kernel "$KERNEL" --virtual-time --memory 4G --timeout 580 \
	--payload "$BUILD/selftests/nearcache:/selftests" --payload "$HOST_DIR:/boot" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp TIBS=$((${SOAK:-0} ? 16 : 1)) && . ./cache.sh && . /boot/measure.sh"
