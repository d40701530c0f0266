# SPDX-License-Identifier: GPL-2.0-only
"""A plan: the order in which files will be read."""
import contextlib
import itertools
import os

from .command import run


def _inner(sampler):
    """Return the sampler that decides the order: a BatchSampler and wrappers of it have one inside."""
    while not hasattr(sampler, "set_epoch"):
        inner = getattr(sampler, "sampler", None) or getattr(sampler, "batch_sampler", None)
        if inner is None:
            break
        sampler = inner
    return sampler


def _is_sequential(sampler):
    return isinstance(sampler, (list, tuple, range)) or type(sampler).__name__ == "SequentialSampler"


def set_epoch(sampler, epoch, seed=None, *, fixed_order=False):
    """
    Let a sampler begin an epoch, so that it gives the order of Plan.from_sampler(sampler, epoch, seed=seed).
    Call this before the loop over the loader.

    fixed_order: a sampler of an unknown type has the same order in each epoch
    """
    sampler = _inner(sampler)
    if hasattr(sampler, "set_epoch"):
        sampler.set_epoch(epoch)
    elif hasattr(sampler, "generator"):
        if sampler.generator is None or seed is None:
            raise ValueError(f"the order of {type(sampler).__name__} is not known in advance: create it with "
                             "generator=torch.Generator(), which no loader uses, and give seed=")
        sampler.generator.manual_seed(seed + epoch)
    elif not fixed_order and not _is_sequential(sampler):
        raise ValueError(f"the order of {type(sampler).__name__} is not known in advance: it has neither set_epoch() "
                         "nor a generator; give fixed_order=True if each epoch has the same order")


@contextlib.contextmanager
def _in_epoch(sampler, epoch, seed, fixed_order):
    """Let a sampler begin an epoch, and restore its state afterwards."""
    inner = _inner(sampler)
    before = getattr(inner, "epoch", None)
    generator = None if hasattr(inner, "set_epoch") else getattr(inner, "generator", None)
    state = generator and generator.get_state()
    set_epoch(inner, epoch, seed, fixed_order=fixed_order)
    try:
        yield
    finally:
        if before is not None:
            inner.set_epoch(before)
        if generator:
            generator.set_state(state)


def _batches(sampler, batch_size):
    """Yield the batches of an epoch: those of a BatchSampler, or batch_size indices each."""
    indices = iter(sampler)
    batch = list(itertools.islice(indices, batch_size))
    while batch:
        if isinstance(batch[0], list):
            yield from batch
        else:
            yield batch
        batch = list(itertools.islice(indices, batch_size))


def _take_turns(streams):
    """Yield the items of all batches, one batch of each stream in turn."""
    turns = itertools.zip_longest(*streams, fillvalue=())
    return itertools.chain.from_iterable(itertools.chain.from_iterable(turns))


def _name(path):
    """Return the name of a file as the list has it: absolute, and escaped if a character needs that."""
    path = os.path.join(os.getcwdb(), os.fsencode(path))
    if not any(character in path for character in b"\t\r\n"):
        return path
    path = path.replace(b"\\", b"\\\\")
    for character in b"\t\r\n":
        path = path.replace(bytes([character]), b"\\x%02x" % character)
    return b"\\" + path


def _runs(numbers):
    """Yield "7" or "8-15" for each run of consecutive numbers."""
    first = last = numbers[0]
    for number in numbers[1:] + [None]:
        if number != last + 1:
            yield f"{first}-{last}" if last > first else f"{first}"
            first = number
        last = number


def _read(place):
    """Return the file and the number of the sample, or None for a whole file."""
    if not isinstance(place, tuple):
        return (place, None)
    return (place[0], None if place[1] is None else int(place[1]))


class Plan:
    """
    The order of the reads of all processes of a node that read a device.

    reads: (file, None) for a read of a whole file, or (file, number of the sample)
    """

    def __init__(self, reads):
        self.reads = [_read(read) for read in reads]

    @classmethod
    def from_sampler(cls, sampler, epoch, place, *, batch_size=1, seed=None, fixed_order=False):
        """
        Plan an epoch of a map-style dataset. This does not change the state of the sampler, so an epoch
        that is being read is not disturbed.

        sampler: a DistributedSampler, a RandomSampler with a generator of its own, any other one with a
            fixed order, or a BatchSampler of one of them; of a node with several processes, a list with
            the sampler of each process
        place: function of an index of the dataset: the file, or the file and the number of the sample
        batch_size: of the loaders; the batches of the processes take turns
        seed: of a RandomSampler, see set_epoch()
        fixed_order: see set_epoch()
        """
        samplers = list(sampler) if isinstance(sampler, (list, tuple)) else [sampler]
        with contextlib.ExitStack() as stack:
            for one in samplers:
                stack.enter_context(_in_epoch(one, epoch, seed, fixed_order))
            streams = [list(_batches(one, batch_size)) for one in samplers]
        return cls(place(index) for index in _take_turns(streams))

    @classmethod
    def from_shards(cls, shards, workers, batch_size, samples):
        """
        Plan an epoch of WebDataset, whose workers read several shards at the same time.

        shards: the shards of this process in the order of the epoch, such as
            [s["url"] for s in wds.split_by_node(wds.SimpleShardList(urls, seed=seed + epoch))]
        workers: number of workers; worker N reads shards[N::workers], and the batches take turns
        samples: function of a shard: its number of samples, which 'nearcache index' shows
        """
        def stream(worker):
            return _batches(((shard, number) for shard in shards[worker::workers]
                             for number in range(samples(shard))), batch_size)
        return cls(_take_turns(map(stream, range(workers))))

    def lines(self):
        """Yield the lines of the plan, as bytes: a file, or a file, a tab and the numbers of samples."""
        def file_of(read):
            return read[0], read[1] is None
        for (path, whole), reads in itertools.groupby(self.reads, key=file_of):
            if whole:
                yield from (_name(path) + b"\n" for _ in reads)
            else:
                yield b"%s\t%s\n" % (_name(path), ",".join(_runs([read[1] for read in reads])).encode())

    def submit(self, name, append=False, **options):
        """
        Declare this plan for a device, and return its state; see progress().

        append: continue the plan in force, instead of replacing it: for the next epoch
        options: of 'nearcache plan', such as sample_size="64K", header="4K", root="/data", no_prefetch=True
        """
        return run("plan", [name], {"append": append, "from": "-", **options}, b"".join(self.lines()))

    @staticmethod
    def progress(name):
        """Return the state of the plan in force, or of the last one: visits, position, hits, skipped, ..."""
        return run("plan", [name], {})

    @staticmethod
    def clear(name):
        """Remove the plan of a device. Return whether there was one."""
        return run("plan", [name], {"clear": True})["cleared"] > 0
