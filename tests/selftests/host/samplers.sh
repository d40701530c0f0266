#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Plans of real samplers: tests/demo/sampler_plan.py gives the reads that DataLoaders of PyTorch make,
# with DistributedSampler, RandomSampler and shards as WebDataset has them, in two epochs. In a guest
# the plans of both epochs are handed over, the second one while the first one is read, and each
# visit is made by the reads of the loaders, in their order. The examples of nearcache(7) run as well.
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

cat >"$HOST_DIR/check.py" <<'END'
# check.py FOLDER: compare the plans with the reads of real loaders, and write those of a
# DistributedSampler to FOLDER: plan.0 and plan.1, and the samples that the loaders read, reads.0 and
# reads.1.
import itertools, random, sys
import torch
from torch.utils.data import (DataLoader, Dataset, DistributedSampler, IterableDataset, RandomSampler,
                              get_worker_info)
import sampler_plan

SEED, COUNT, BATCH = 7, 101, 8

class Numbers(Dataset):
    def __len__(self):
        return COUNT
    def __getitem__(self, i):
        return i

def same(what, lines, reads):
    expected = [f'{sampler_plan.name_of(file)}\t{number}' for file, number in reads]
    if list(lines) != expected:
        sys.exit(f'{what}: {lines}, not {expected}')
    print(f'{what}: {len(lines)} reads')

# The batches of all loaders take turns.
def read(loaders, place):
    turns = itertools.zip_longest(*loaders, fillvalue=())
    return [place(int(i)) for batches in turns for batch in batches for i in batch]

def place(i):
    return '/data/f.bin', i

dataset, order = Numbers(), {}
kinds = {
    'DistributedSampler': [DistributedSampler(dataset, 2, rank, seed=SEED) for rank in range(2)],
    'a rank of DistributedSampler': [DistributedSampler(dataset, 3, 1, seed=SEED, drop_last=True)],
    'RandomSampler': [RandomSampler(dataset, generator=torch.Generator())],
}
for kind, samplers in kinds.items():
    loaders = [DataLoader(dataset, batch_size=BATCH, sampler=sampler, num_workers=2) for sampler in samplers]
    for epoch in range(2):
        lines = list(sampler_plan.sampler_lines(samplers, SEED, epoch, BATCH, place))
        for sampler in samplers:
            sampler_plan.set_epoch(sampler, SEED, epoch)
        order[epoch] = read(loaders, place)
        same(f'{kind}, epoch {epoch}', lines, order[epoch])
        if kind == 'DistributedSampler':
            open(f'{sys.argv[1]}/plan.{epoch}', 'w').write(''.join(line + '\n' for line in lines))
            open(f'{sys.argv[1]}/reads.{epoch}', 'w').write(''.join(f'{i}\n' for _, i in order[epoch]))
    if order[0] == order[1]:
        sys.exit(f'{kind}: both epochs have one order')

# WebDataset's SimpleShardList is random.Random(seed).shuffle(), and a worker has every Nth shard.
class Shards(IterableDataset):
    def __init__(self, urls):
        self.urls = urls
    def __iter__(self):
        worker = get_worker_info()
        for url in self.urls[worker.id::worker.num_workers]:
            for n in range(samples(url)):
                yield int(url[7:-4]) * 100 + n

def shard_list(urls, seed):
    try:
        import webdataset
        return [shard['url'] for shard in webdataset.SimpleShardList(urls, seed=seed)]
    except ImportError:
        urls = urls.copy()
        random.Random(seed).shuffle(urls)
        return urls

def samples(shard):
    return 20 + int(shard[7:-4])

def singles(lines):
    for line in lines:
        file, numbers = line.split('\t')
        first, last = map(int, numbers.split('-'))
        yield from (f'{file}\t{n}' for n in range(first, last + 1))

for epoch in range(2):
    urls = shard_list([f'/data/s{i}.tar' for i in range(7)], SEED + epoch)
    lines = list(singles(sampler_plan.shard_lines(urls, 3, BATCH, samples)))
    loader = DataLoader(Shards(urls), batch_size=BATCH, num_workers=3)
    same(f'shards, epoch {epoch}', lines, read([loader], lambda i: (f'/data/s{i // 100}.tar', i % 100)))
END

# The examples of the manual page, with a command that keeps its list.
cat >"$HOST_DIR/page.py" <<'END'
# page.py PAGE FOLDER: run the examples of PAGE; FOLDER has the command "nearcache".
import os, random, re, subprocess, sys
from itertools import islice, zip_longest
from types import SimpleNamespace
from torch.utils.data import DataLoader, Dataset, DistributedSampler

page, folder = sys.argv[1:]
os.environ['PATH'] = f'{folder}:' + os.environ['PATH']

def example(name):
    text = re.search(rf'^\.\\" example {name}:.*?\n(.*?)^\.\\" end', open(page).read(), re.M | re.S)[1]
    return text.replace('\\-', '-').replace('\\e', '\\')

class Files(Dataset):
    def __len__(self):
        return 1001
    def __getitem__(self, i):
        return i
    def path(self, i):
        return f'/data/{i}.jpg'

read = []
names = dict(DataLoader=DataLoader, DistributedSampler=DistributedSampler, subprocess=subprocess, dataset=Files(),
             world_size=2, rank=1, epochs=3, train=lambda batch: read.extend(batch.tolist()))
exec(example('sampler'), names)
planned = [line.strip() for line in open(f'{folder}/planned')]
if planned != [f'/data/{i}.jpg' for i in read] or len(read) != 3 * 501:
    sys.exit(f'the sampler reads {read}, planned is {planned}')

# SimpleShardList as WebDataset has it, where that is not installed.
def shard_list(urls, seed):
    urls = urls.copy()
    random.Random(seed).shuffle(urls)
    return [{'url': url} for url in urls]

wds = SimpleNamespace(SimpleShardList=shard_list, split_by_node=lambda shards: islice(shards, 0, None, 1))
names = dict(wds=wds, islice=islice, zip_longest=zip_longest, urls=list('abcde'), epoch=1, workers=2, samples=100)
exec(example('shards'), names)
lines = names['lines'].split('\n')
shards = [shard['url'] for shard in shard_list(list('abcde'), 8)]
if sorted(lines) != sorted([f'{s}\t{n}' for s in 'abcde' for n in range(100)] + ['']):
    sys.exit(f'not each sample once: {lines}')
# A batch of 64 crosses from the worker's first shard to its second one.
if lines[64] != f'{shards[1]}\t0' or lines[128 + 36] != f'{shards[2]}\t0':
    sys.exit(f'the workers {shards} do not take turns: {lines}')
print(f'the examples of the page: {len(planned)} and {len(lines) - 1} reads')
END
mkdir "$HOST_DIR/bin"
cat >"$HOST_DIR/bin/nearcache" <<'END'
#!/bin/sh
[ "$*" = "plan imagenet --append --from -" ] && cat >>"${0%/*}/planned"
END
chmod +x "$HOST_DIR/bin/nearcache"
"$python" -W ignore "$HOST_DIR/page.py" "$TOP/helper/man/nearcache.7" "$HOST_DIR/bin"

mkdir "$HOST_DIR/boot"
PYTHONPATH=$TOP/tests/demo "$python" -W ignore "$HOST_DIR/check.py" "$HOST_DIR/boot"

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
