#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# LVM on a cache: create and use a volume group on the cache, then find and use it on the bare
# origin, and on the cache again.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./volume_group.sh

lvm_ready

# volumes DEV GENERATION: fail unless both volumes exist and hold this generation.
volumes() {
	vg "$1" vgchange -ay group
	./blockdata read /dev/mapper/group-one -g "$2" >/dev/null || fail "volume one is wrong"
	./blockdata read /dev/mapper/group-two -g "$2" -B -n 8192 >/dev/null || fail "volume two is wrong"
}

closed() {
	vg "$1" vgchange -an group
}

make_null O origin 24
make_null C local 32
for ((round = 0; round < $(times 1); round++)); do
	MODE=writethrough
	((round % 2 == 0)) || MODE=writearound
	format
	start
	at_exit vg_gone one two
	nc=/dev/mapper/nc
	vg_create $nc one=8m two=4m
	for name in one two; do
		./blockdata write /dev/mapper/group-$name -g 2 || fail "cannot write $name"
		./blockdata read /dev/mapper/group-$name -g 2 >/dev/null || fail "volume $name is wrong"
	done
	drop_caches
	volumes $nc 2
	vg $nc lvextend -L 6m group/two
	settle
	above hits 0
	closed $nc
	stop
	volumes "$O" 2
	closed "$O"
	start
	is loaded 2
	vg $nc vgchange -ay group
	same "size of volume two" "$(sectors /dev/mapper/group-two)" $((6 * 2048))
	./blockdata read /dev/mapper/group-one -g 2 >/dev/null || fail "volume one is wrong after the restart"
	vg $nc lvremove -y group/one group/two
	vg $nc vgremove -y group
	vg_gone one two
	stop
done
