#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A node reads extents whose home is another guest, by its cluster device and directly at the device
# with which it is connected to the cache of that guest over NVMe/TCP: the cluster device reaches at
# least 0.90 of the throughput. The two take turns with the same reads, and the median of the ratios
# counts: the emulated processors are the bottleneck, and other work on this machine disturbs both.
# kernels: 6.12
# when: soak
# timeout: 600
# shellcheck disable=SC2016 # steps are for the guest
set -euo pipefail
NODES='1 2'
# shellcheck source=tests/vm/nodes.sh
. "$TOP/tests/vm/nodes.sh"
ROUNDS=${ROUNDS:-11} EXTENTS=24

# rate DEVICE DEPTH: set $rate to the KiB/s of the reads.
rate() {
	on 1 "reads_rate $1 $2"
	[[ $answer =~ ^[1-9][0-9]*$ ]] || guests_fail "fio at $1: $answer"
	rate=$answer
}

# ratio BYTES COUNT DEPTH: compare the two devices; set $ratio to the median of the ratios, per mille.
ratio() {
	local i peer cluster all=''
	on 1 "reads_listed n2 $1 $2"
	# The first run fills the caches of the processors and the emulator.
	rate /dev/mapper/v "$3"
	for ((i = 0; i < ROUNDS; i++)); do
		((i % 2)) || { rate "$peer_dev" "$3"; peer=$rate; }
		rate /dev/mapper/v "$3"
		cluster=$rate
		((i % 2 == 0)) || { rate "$peer_dev" "$3"; peer=$rate; }
		all+="$((1000 * cluster / peer)) $cluster $peer"$'\n'
	done
	read -r ratio cluster peer < <(sort -n <<<"${all%$'\n'}" | sed -n "$((ROUNDS / 2 + 1))p")
	echo "reads of $1 bytes, $3 in flight: $ratio per mille, median of $ROUNDS rounds: $cluster KiB/s of $peer; all: $(cut -d ' ' -f 1 <<<"${all%$'\n'}" | sort -n | paste -sd ' ')"
}

# peer_bytes: set $answer to the bytes that the cluster device of node 1 has read at node 2.
peer_bytes() {
	on 1 'dmsetup status v | cut -d " " -f 16'
}

nodes_begin ${EXTENTS}M
CACHE_SIZE=64M boots $NODES
guest_ready $STORAGE
on $STORAGE './blockdata write "$(remote_backing)" && serve'
# No pause of an emulated peer counts as a failure.
each "$NODES" "begins 'stall-timeout = 20s' 'keep-alive = 20s'"
each "$NODES" join
each "$NODES" await_up
each "$NODES" pass
on $STORAGE 'distant 100'
volume_served
failed=''
on 1 'peer_device 2'
peer_dev=$answer
peer_bytes
before=$answer
ratio 131072 600 8
((ratio >= 900)) || failed="$ratio per mille"
# Short reads tell the cost of the processor: the figures vary too much for a limit.
ratio 4096 1500 8
peer_bytes
read=$((answer - before))
((read >= (ROUNDS + 1) * (600 * 131072 + 1500 * 4096))) || guests_fail "the cluster device read $read bytes at its peer"
volume_served
echo "meanwhile the volume served $bytes bytes"
# A byte for 256 that are read at peers tells how fast the volume is.
((100 * bytes < read)) || guests_fail "the peer does not have the data"
each "$NODES" 'leave && nearcache close v-home >/dev/null && remote_disconnect'
guests_end
[[ ! $failed ]] || guests_fail "less than 0.90 for reads of 128 KiB: $failed"
