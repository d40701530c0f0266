#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The Python package makes plans of a DistributedSampler for two epochs. A guest declares the first plan,
# reads its samples in the order of real loaders, and declares the second plan meanwhile: each read must
# be a visit of the plan. The unit test test_python compares plans of other samplers with loaders.
#
# Skips where torch (Debian: python3-torch) is not installed. PYTHON=... is another interpreter.
# when: soak
# kernels: 6.12
# timeout: 600
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import torch' 2>/dev/null || {
	echo "# SKIP $python has no torch: install python3-torch" && exit 4
}

cat >"$HOST_DIR/reads.py" <<'END'
# reads.py FOLDER: write plans of a DistributedSampler, plan.0 and plan.1, and the numbers of the samples that
# the loaders read, reads.0 and reads.1.
import itertools, sys
from torch.utils.data import DataLoader, DistributedSampler
import nearcache

samplers = [DistributedSampler(range(101), 2, rank, seed=7) for rank in range(2)]
loaders = [DataLoader(range(101), batch_size=8, sampler=sampler, num_workers=2) for sampler in samplers]
for epoch in range(2):
    plan = nearcache.Plan.from_sampler(samplers, epoch, lambda i: ('/data/f.bin', i), batch_size=8)
    for sampler in samplers:
        sampler.set_epoch(epoch)
    reads = [int(i) for batches in itertools.zip_longest(*loaders, fillvalue=()) for batch in batches for i in batch]
    if [number for _, number in plan.reads] != reads or len(reads) != 102:
        sys.exit(f'epoch {epoch}: the loaders read {reads}, planned is {plan.reads}')
    open(f'{sys.argv[1]}/plan.{epoch}', 'wb').writelines(plan.lines())
    open(f'{sys.argv[1]}/reads.{epoch}', 'w').writelines(f'{i}\n' for i in reads)
END

mkdir "$HOST_DIR/boot"
PYTHONPATH=$TOP/helper/python PYTHONDONTWRITEBYTECODE=1 "$python" -W ignore "$HOST_DIR/reads.py" "$HOST_DIR/boot"

cat >"$HOST_DIR/boot/follow.sh" <<'FOLLOW'
# sample N...: read these samples of the file as a loader does.
sample() {
	local n
	for n; do
		dd if=f.bin of=/dev/null bs=64K count=1 skip=$((4096 + n * 65536)) iflag=direct,skip_bytes 2>/dev/null ||
			fail "cannot read sample $n"
	done
}

planned() {
	good plan nc --append --from "/boot/plan.$1" --sample-size 64K --header 4K -j
	expect state running
}

insmod "$MODULE"
M=/data
shards_made 16 12
head -c $((4096 + 101 * 65536)) /dev/urandom >"$M/f.bin"
shards_cached
mapfile -t first </boot/reads.0
mapfile -t second </boot/reads.1
planned 0
visits=$(json visits)
sample "${first[@]:0:60}"
planned 1
(($(json visits) > visits)) || fail "the plan is not longer: $out"
sample "${first[@]:60}" "${second[@]}"
over() {
	good plan nc -j
	[[ $(json state) == over ]]
}
wait_for 20 over || fail "not over: $out"
expect skipped 0 astray 0 position "$(json visits)"
echo "$(json visits) visits, $(json hits) hits"
FOLLOW

"$TOP/tests/vm/run" --kernel "$KERNEL" --timeout 400 --no-drives \
	--payload "$BUILD/selftests/nearcache:/selftests" --payload "$HOST_DIR/boot:/boot" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp && . ./cache.sh && . ./command.sh && . ./shards.sh && . /boot/follow.sh"
