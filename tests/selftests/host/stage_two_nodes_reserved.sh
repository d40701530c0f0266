#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Two guests use one SCSI volume. Node 1 creates a stage with --reserve, and closes it with writes that the
# volume lacks: node 2 can make or open no stage with --reserve, and can write nothing, until node 1 has
# drained and closed. If node 2 takes the volume, the drain of node 1 stops and names the reason.
# kernels: 6.12
# when: soak
# timeout: 600
# shellcheck disable=SC2016 # steps are for the guest
set -euo pipefail
NODES='1 2'
# shellcheck source=tests/vm/nodes.sh
. "$TOP/tests/vm/nodes.sh"
type -P iscsistart >/dev/null || { echo "SKIP: no iscsistart (package open-iscsi)" >&2; exit 4; }

# refused TEXT COMMAND: node 2 refuses it with exit code 5 and this text.
refused() {
	on 2 "rc=0; $2 >/dev/null 2>/run/err || rc=\$?; cat /run/err; ((rc == 5)) && grep -q '$1' /run/err"
}

nodes_begin 1M
boots $NODES
guest_ready $STORAGE
on $STORAGE 'serve_scsi 64'
each "$NODES" 'modprobe dm-nearcache && scsi_volume && null_dev cache 24 && null_dev log 32'
create='nearcache create nc --origin $(scsi_dev) --cache /dev/cache --stage /dev/log --block-size 64K --force --reserve'
open='nearcache open nc --cache /dev/cache --on-change drop'
on 2 "$create && ./blockdata write /dev/mapper/nc && nearcache stage drain nc --wait && nearcache close nc"
on 1 "$create --rate 64K && ./blockdata write /dev/mapper/nc -n 16384 -g 2"
refused 'the key .* is registered with' "$create"
refused 'is reserved with the key' "$open"
on 1 'nearcache close nc --keep'
refused 'is reserved with the key' "$open"
on 2 '! dd if=/dev/zero of=$(scsi_dev) bs=4K count=1 oflag=direct 2>/run/err && cat /run/err'
on 1 'nearcache open nc --cache /dev/cache --rate 0 && nearcache stage drain nc --wait && nearcache close nc'
on 2 "$open && ./blockdata read /dev/mapper/nc -n 16384 -g 2 && ./blockdata write /dev/mapper/nc -n 8 -g 3"
on 2 'nearcache stage drain nc --wait && nearcache close nc'

# Node 1 is open while node 2 takes the volume and writes.
on 1 'nearcache open nc --cache /dev/cache --on-change drop --rate 64K && ./blockdata write /dev/mapper/nc -s 4096 -n 16384 -g 4'
on 2 "$open --preempt && ./blockdata write /dev/mapper/nc -n 8 -g 5 && nearcache stage drain nc --wait"
on 1 'stopped() { nearcache stage status nc | grep "the origin fails.*another node has reserved it"; }; wait_for 120 stopped'
on 2 './blockdata read /dev/mapper/nc -n 8 -g 5 && nearcache close nc'
on 1 'nearcache close nc --keep'
each "$NODES" scsi_gone
guests_end
