#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Two guests are nodes that open one volume, each above a log of its own. Node 1 is cut off with writes
# that the volume lacks, and node 2 writes to it meanwhile: the drain of node 1 stops, names the reason,
# and overwrites nothing. Its next open is refused.
# kernels: 6.12
# when: soak
# timeout: 600
# shellcheck disable=SC2016 # steps are for the guest
set -euo pipefail
NODES='1 2'
# shellcheck source=tests/vm/nodes.sh
. "$TOP/tests/vm/nodes.sh"

nodes_begin 64M
boots $NODES
guest_ready $STORAGE
on $STORAGE './blockdata write "$(remote_backing)" && serve'
each "$NODES" 'modprobe -a dm-nearcache nvme-tcp && volume >/dev/null && null_dev cache 24 && null_dev log 32'
create='nearcache create nc --origin $(remote_dev) --cache /dev/cache --stage /dev/log --block-size 64K --force'
on 2 "$create && nearcache close nc"
on 1 "$create && ./blockdata write /dev/mapper/nc -n 8 -g 2 && nearcache stage drain nc --wait"

network cut 1 $STORAGE
on 1 './blockdata write /dev/mapper/nc -n 4096 -g 3 && nearcache stage drain nc'
on 2 'nearcache open nc --cache /dev/cache --on-change drop && ./blockdata read /dev/mapper/nc -n 8 -g 2'
on 2 './blockdata write /dev/mapper/nc -n 8 -g 4 && nearcache stage drain nc --wait'
network heal 1 $STORAGE

on 1 'stopped() { nearcache stage status nc | grep "the origin fails.*another host has written to it"; }; wait_for 120 stopped'
on 1 'dmesg | grep "another host changed sector 0 meanwhile: the drain waits"'
on $STORAGE './blockdata read "$(remote_backing)" -n 8 -g 4 && ./blockdata read "$(remote_backing)" -s 8 -n 4088'
# Node 1 still has its writes; they are lost only if the user says so.
on 1 './blockdata read /dev/mapper/nc -n 4096 -g 3 && nearcache close nc --keep'
on 1 'rc=0; nearcache open nc --cache /dev/cache 2>/run/open || rc=$?; cat /run/open; ((rc == 4)) && grep "another host changed it" /run/open'
on 1 'nearcache open nc --cache /dev/cache --abandon-stage && ./blockdata read /dev/mapper/nc -n 8 -g 4'
each "$NODES" 'nearcache close nc >/dev/null && remote_disconnect'
guests_end
