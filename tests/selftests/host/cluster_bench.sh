#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A short form of the benchmarks "cluster" and "remote": four nodes with a quarter of the dataset
# each have to keep their accelerators busy, and the origin idle; a read at a peer has to be as fast
# as the network; and the death of a peer must not hold reads longer than the transport does.
# kernels: 6.12
# when: soak
# timeout: 1200
set -euo pipefail
here=$TOP/tests/bench

# measured NAME SETTING...: run a benchmark, and check its targets.
measured() {
	"$TOP/tests/vm/run" --kernel "$KERNEL" --virtual-time --no-drives --quiet --qemu '-cpu max,-erms,-fsrm' \
		--timeout 600 --out "$HOST_DIR" --payload "$BUILD/selftests/nearcache:/selftests" --payload "$here:/bench" \
		--payload "$BUILD/bench/tools:/bench/tools" --payload "$BUILD/bench/link:/link" -- \
		env TARGETS=nearcache-cluster "${@:2}" /bench/inside "$1" /out/rows
	cat "$HOST_DIR/rows"
	jq -s '{rows: .}' "$HOST_DIR/rows" | jq -L "$here" -r -f "$here/$1.jq" >"$HOST_DIR/said"
	cat "$HOST_DIR/said"
	! grep '^MISSED' "$HOST_DIR/said" && grep -q '^holds' "$HOST_DIR/said" || exit 1
	rm "$HOST_DIR/rows"
}

measured cluster CLUSTER_NODES=4 CLUSTER_F=25 CLUSTER_EPOCHS=2
measured remote
