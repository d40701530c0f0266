#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The benchmark "stage" for nearcache alone: a checkpoint has to be durable on the log as fast as on
# the bare drive, and on the origin as fast as the origin takes it.
# kernels: 6.12
# when: soak
# timeout: 1200
set -euo pipefail
here=$TOP/tests/bench

"$TOP/tests/vm/run" --kernel "$KERNEL" --virtual-time --no-drives --quiet --qemu '-cpu max,-erms,-fsrm' \
	--timeout 1100 --out "$HOST_DIR" --payload "$BUILD/selftests/nearcache:/selftests" --payload "$here:/bench" \
	--payload "$BUILD/bench/tools:/bench/tools" --payload "$BUILD/bench/drive:/drive" -- \
	env TARGETS="raw nearcache-stage" /bench/inside stage /out/rows
cat "$HOST_DIR/rows"
jq -s '{rows: .}' "$HOST_DIR/rows" | jq -L "$here" -r -f "$here/stage.jq" >"$HOST_DIR/said"
cat "$HOST_DIR/said"
! grep '^MISSED' "$HOST_DIR/said" && grep -q '^holds' "$HOST_DIR/said" || exit 1
