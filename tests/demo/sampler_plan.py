# SPDX-License-Identifier: GPL-2.0-only
"""
Plans of PyTorch's samplers and of WebDataset's shards: an example for nearcache(7), tested by
tests/selftests/host/samplers.sh.

The functions call the loader's own sampler or shard list, so they do not depend on the algorithm of a
library. They yield the lines of a plan in the order in which all processes of this node will read.
"""
import itertools
import os
import subprocess


def name_of(path):
    """Return the name of a file as a list has it: absolute, and escaped if a character needs that."""
    path = os.path.abspath(path)
    if not any(character in path for character in "\t\r\n"):
        return path
    escaped = path.replace("\\", "\\\\")
    for character in "\t\r\n":
        escaped = escaped.replace(character, f"\\x{ord(character):02x}")
    return "\\" + escaped


def set_epoch(sampler, seed, epoch):
    """Let a sampler begin an epoch: call this for the plan, and again before the loader begins."""
    if hasattr(sampler, "set_epoch"):
        # DistributedSampler(dataset, seed=seed)
        sampler.set_epoch(epoch)
    else:
        # RandomSampler(dataset, generator=torch.Generator()): the loader must not use that generator
        sampler.generator.manual_seed(seed + epoch)


def sampler_lines(samplers, seed, epoch, batch_size, place):
    """
    Give the lines of an epoch of a map-style dataset.

    samplers: one for each process of this node, whose batches take turns
    place: function of an index of the dataset: the file, or the file and the number of the sample
    """
    orders = []
    for sampler in samplers:
        set_epoch(sampler, seed, epoch)
        orders.append(list(sampler))
    for at in range(0, max(map(len, orders)), batch_size):
        for order in orders:
            for index in order[at:at + batch_size]:
                where = place(index)
                if isinstance(where, tuple):
                    yield f"{name_of(where[0])}\t{where[1]}"
                else:
                    yield name_of(where)


def shard_lines(shards, workers, batch_size, samples):
    """
    Give the lines of an epoch of WebDataset, whose workers read several shards at the same time.

    shards: the shards of this process in the order of the epoch, such as
        [s["url"] for s in wds.split_by_node(wds.SimpleShardList(urls, seed=seed + epoch))]
    workers: number of workers; worker N reads shards[N::workers], and the batches take turns
    samples: function of a shard: its number of samples, which 'nearcache index' tells
    """
    streams = [((shard, number) for shard in shards[worker::workers] for number in range(samples(shard)))
               for worker in range(workers)]
    while streams:
        for stream in list(streams):
            batch = list(itertools.islice(stream, batch_size))
            if len(batch) < batch_size:
                streams.remove(stream)
            for shard, group in itertools.groupby(batch, key=lambda read: read[0]):
                numbers = [number for _, number in group]
                yield f"{name_of(shard)}\t{numbers[0]}-{numbers[-1]}"


def plan(device, lines, *options):
    """Submit the plan of the next epoch, which continues the plan in force."""
    subprocess.run(["nearcache", "plan", device, "--append", "--from", "-", *options],
                   input="".join(line + "\n" for line in lines), text=True, check=True)
