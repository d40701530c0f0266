#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# Tests the Python package nearcache. A stand-in for the program records its arguments and its input, and
# answers as written here; the real program accepts the same arguments. Where torch is installed
# (python3-torch), plans of PyTorch's samplers are compared with the reads of its loaders.
import importlib.util
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import types
import unittest
import warnings

TOP = pathlib.Path(os.environ["TOP"])
REAL = pathlib.Path(os.environ.get("BUILD", TOP / "build")) / "helper/nearcache"
TORCH = importlib.util.find_spec("torch")
sys.path.insert(0, str(TOP / "helper/python"))
sys.dont_write_bytecode = True
import nearcache

# Call N takes its answer from answer.N: exit code, standard error and output.
FAKE = r'''#!/bin/sh
cd "${0%/*}" || exit 99
n=$(($(cat calls 2>/dev/null || echo 0) + 1))
echo $n >calls
printf '%s\0' "$@" >arguments.$n
cat >stdin.$n
cat stderr.$n >&2
cat stdout.$n
exit "$(cat code.$n)"
'''
JOB = {"job": 3, "state": "running", "done": 0.5, "bytes": 100, "fetched_bytes": 40, "present_bytes": 10,
       "left_bytes": 0, "flying_bytes": 0, "label": "train"}


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "nearcache").write_text(FAKE)
        (self.folder / "nearcache").chmod(0o755)
        self.answers = 0
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = f"{self.folder}:{path}"

    def answer(self, document, code=0, stderr=""):
        self.answers += 1
        text = document if isinstance(document, str) else json.dumps({"schema": 1, **document})
        for name, value in {"stdout": text, "code": str(code), "stderr": stderr}.items():
            (self.folder / f"{name}.{self.answers}").write_text(value)

    def call(self, number=1):
        words = (self.folder / f"arguments.{number}").read_bytes().split(b"\0")[:-1]
        return [os.fsdecode(word) for word in words], (self.folder / f"stdin.{number}").read_bytes()

    def fails(self, code, kind, message):
        self.answer({"error": {"code": code, "kind": kind, "message": message}}, code)
        with self.assertRaises(nearcache.NearcacheError) as caught:
            nearcache.status("x")
        self.assertEqual((caught.exception.code, caught.exception.kind, str(caught.exception)),
                         (code, kind, message))

    def test_status(self):
        self.answer({"name": "imagenet", "hit_ratio": 0.5})
        self.assertEqual(nearcache.status("imagenet"), {"name": "imagenet", "hit_ratio": 0.5})
        self.assertEqual(self.call(), (["status", "--json", "--", "imagenet"], b""))
        self.answer({"devices": [{"name": "a"}, {"name": "b"}]})
        self.assertEqual([device["name"] for device in nearcache.status()], ["a", "b"])
        self.assertEqual(self.call(2)[0], ["status", "--json", "--"])

    def test_errors(self):
        for code, kind in enumerate(["usage", "permission", "memory", "wrong device", "exists or busy"], 1):
            self.fails(code, kind, f"message {code}")

    def unknown(self, code, said):
        with self.assertRaises(nearcache.NearcacheError) as caught:
            nearcache.status("x")
        self.assertEqual((caught.exception.code, caught.exception.kind), (code, "unknown"))
        self.assertIn(said, str(caught.exception))

    def test_no_document(self):
        self.answer("", 127, "cannot open libdevmapper")
        self.unknown(127, "cannot open libdevmapper")
        self.answer("[1]")
        self.unknown(0, "no JSON of schema 1")
        self.answer('{"schema": 2, "name": "x"}')
        self.unknown(0, "no JSON of schema 1")

    def test_killed(self):
        (self.folder / "nearcache").write_text("#!/bin/sh\nkill -9 $$\n")
        self.unknown(-9, "exit code -9")

    def test_not_installed(self):
        os.environ["PATH"] = "/nonexistent"
        if not any(os.access(f"{folder}/nearcache", os.X_OK) for folder in ("/usr/local/sbin", "/usr/sbin")):
            self.assertRaises(FileNotFoundError, nearcache.status)

    def test_warning(self):
        self.answer({"name": "x"}, stderr="nearcache: warning: the witness is away\n")
        with self.assertWarns(nearcache.NearcacheWarning) as caught:
            nearcache.status("x")
        self.assertEqual(str(caught.warning), "the witness is away")
        self.assertEqual(caught.filename, __file__)

    def prefetch(self, paths=("/data/a",), **options):
        self.answer({"name": "x", "bytes": 100, "job": 3, "jobs": 1, "shards": []})
        return nearcache.Prefetch("x", paths, **options)

    def test_prefetch(self):
        job = self.prefetch([pathlib.Path("/data/a b"), b"/data/\xff", "1G-2G", "-x\n"], priority=7, label="-l",
                            world_size=8, rank=0, strict=True, cluster=False, deadline=None)
        ranges = [os.path.join(os.getcwdb(), name) for name in (b"1G-2G", b"-x\n")]
        self.assertEqual(self.call(), (
            ["prefetch", "--json", "--from=-", "--priority=7", "--label=-l", "--world-size=8", "--rank=0",
             "--strict", "--", "x"], b"/data/a b\0/data/\xff\0%s\0%s\0" % tuple(ranges)))
        self.assertEqual((job.name, job.job, job.bytes), ("x", 3, 100))

    def test_one_path(self):
        self.prefetch(pathlib.Path("/data"))
        self.assertEqual(self.call()[1], b"/data\0")

    def test_wait(self):
        job, shown = self.prefetch(), []
        last = {**JOB, "state": "done", "fetched_bytes": 90}
        for state in (JOB, {**JOB, "state": "waiting"}, {**last, "flying_bytes": 8}, last):
            self.answer({"jobs": [{**JOB, "job": 2}, state]})
        self.assertEqual(job.wait(interval=0.01, show=shown.append), last)
        self.assertEqual([state["state"] for state in shown], ["running", "waiting", "done", "done"])
        self.assertEqual(self.call(2), (["jobs", "--json", "--", "x"], b""))

    def test_bad_end(self):
        for state in ({"state": "cancelled"}, {"state": "incomplete", "left_bytes": 50}):
            job = self.prefetch()
            self.answer({"jobs": [{**JOB, **state}]})
            with self.assertRaises(nearcache.NearcacheError) as caught:
                job.wait()
            self.assertEqual((caught.exception.code, caught.exception.kind), (4, "wrong device"))
            self.assertEqual(caught.exception.result, {**JOB, **state})
            self.assertIn("50 of 100 bytes are cached", str(caught.exception))

    def test_timeout(self):
        job = self.prefetch()
        self.answer({"jobs": [{**JOB, "state": "waiting"}]})
        with self.assertRaisesRegex(TimeoutError, "prefetch job 3 of 'x' is waiting"):
            job.wait(timeout=0)

    def test_forgotten(self):
        for later in ([], [{**JOB, "label": "val"}], [{**JOB, "bytes": 99}]):
            job = self.prefetch()
            self.answer({"jobs": [JOB]})
            self.assertEqual(job.progress(), JOB)
            self.answer({"jobs": later})
            self.assertEqual(job.wait(), {**JOB, "state": "forgotten"})

    def test_nothing_to_load(self):
        self.answer({"name": "x", "bytes": 0, "jobs": 0, "shards": []})
        job = nearcache.Prefetch("x", ["/data/a"])
        self.assertEqual((job.job, job.progress(), job.wait(), job.cancel()), (None, None, None, False))
        self.assertEqual((self.folder / "calls").read_text(), "1\n")

    def test_cancel(self):
        job = self.prefetch()
        self.answer({"name": "x", "cancelled": 1})
        self.assertTrue(job.cancel())
        self.assertEqual(self.call(2), (["cancel", "--json", "--", "x", "3"], b""))
        for state, over in (("done", True), ("running", False)):
            self.answer({"error": {"code": 4, "kind": "wrong device", "message": "no such job, or it is over"}}, 4)
            self.answer({"jobs": [{**JOB, "state": state}]})
            if over:
                self.assertFalse(job.cancel())
            else:
                self.assertRaises(nearcache.NearcacheError, job.cancel)

    def test_plan(self):
        self.answer({"state": "running", "visits": 9})
        plan = nearcache.Plan(["/a", ("/b", 7), ("/b", 3), ("/b", 4), ("/b", 4), "/b", "/b", "/c\td\\\n", b"/\xff"])
        self.assertEqual(plan.submit("x", append=True, sample_size="64K", root=pathlib.Path("/r"))["visits"], 9)
        self.assertEqual(self.call(), (
            ["plan", "--json", "--append", "--from=-", "--sample-size=64K", "--root=/r", "--", "x"],
            b"/a\n/b\t7,3-4,4\n/b\n/b\n\\/c\\x09d\\\\\\x0a\n/\xff\n"))
        self.answer({"state": "running"})
        plan.submit("x")
        self.assertEqual(self.call(2)[0], ["plan", "--json", "--from=-", "--", "x"])
        self.answer({"state": "over", "visits": 9})
        self.assertEqual(nearcache.Plan.progress("x")["state"], "over")
        self.answer({"cleared": 1})
        self.assertTrue(nearcache.Plan.clear("x"))
        self.assertEqual([self.call(number)[0] for number in (3, 4)],
                         [["plan", "--json", "--", "x"], ["plan", "--json", "--clear", "--", "x"]])

    def example(self, name, **names):
        """Run an example of the manual page; return the lines of its plans."""
        page = (TOP / "helper/man/nearcache.7").read_text()
        text = re.search(rf'^\.\\" example {name}:.*?\n(.*?)^\.\\" end', page, re.M | re.S)[1]
        for _ in range(names.get("epochs", 1)):
            self.answer({"state": "running"})
        exec(text.replace("\\-", "-").replace("\\e", "\\"), {"nearcache": nearcache, **names})
        calls = [self.call(number) for number in range(1, self.answers + 1)]
        self.assertEqual({" ".join(words) for words, _ in calls}, {"plan --json --append --from=- -- imagenet"})
        return b"".join(lines for _, lines in calls).decode().splitlines()

    def test_shards(self):
        """The plan of the page has the order of WebDataset, whose SimpleShardList is random.Random(seed).shuffle()."""
        def shard_list(urls, seed):
            urls = list(urls)
            random.Random(seed).shuffle(urls)
            return [{"url": url} for url in urls]
        wds = types.SimpleNamespace(SimpleShardList=shard_list, split_by_node=iter)
        urls = [f"/data/s{i}.tar" for i in range(5)]
        lines = self.example("shards", wds=wds, urls=urls, epoch=1, workers=2, batch_size=64, samples=lambda shard: 100)
        s = [shard["url"] for shard in shard_list(urls, 8)]
        self.assertEqual(lines, [
            f"{s[0]}\t0-63", f"{s[1]}\t0-63", f"{s[0]}\t64-99", f"{s[2]}\t0-27", f"{s[1]}\t64-99",
            f"{s[3]}\t0-27", f"{s[2]}\t28-91", f"{s[3]}\t28-91", f"{s[2]}\t92-99", f"{s[4]}\t0-55",
            f"{s[3]}\t92-99", f"{s[4]}\t56-99"])

    @unittest.skipUnless(TORCH, "no torch: install python3-torch")
    def test_example(self):
        from torch.utils.data import DataLoader, Dataset, DistributedSampler

        class Files(Dataset):
            def __len__(self):
                return 1001

            def __getitem__(self, index):
                return index

            def path(self, index):
                return f"/data/{index}.jpg"
        read = []
        lines = self.example("sampler", DataLoader=DataLoader, DistributedSampler=DistributedSampler, dataset=Files(),
                             world_size=2, rank=1, epochs=3, train=lambda batch: read.extend(batch.tolist()))
        self.assertEqual(lines, [f"/data/{index}.jpg" for index in read])
        self.assertEqual(len(read), 3 * 501)

    def test_long_input(self):
        (self.folder / "nearcache").write_text('#!/bin/sh\necho \'{"schema": 1, "error": {"code": 1, "kind": '
                                               '"usage", "message": "early"}}\'\nexit 1\n')
        with self.assertRaisesRegex(nearcache.NearcacheError, "early"):
            nearcache.Plan(f"/data/{n}" for n in range(100000)).submit("x")

    def test_turns(self):
        plan = nearcache.Plan.from_sampler([[0, 1, 2, 3, 4], [5, 6, 7]], 0, lambda i: ("/f", i), batch_size=2)
        self.assertEqual([number for _, number in plan.reads], [0, 1, 5, 6, 2, 3, 7, 4])
        plan = nearcache.Plan.from_shards(["/a", "/b", "/c"], 2, 2, {"/a": 3, "/b": 2, "/c": 2}.get)
        self.assertEqual(list(plan.lines()), [b"/a\t0-1\n", b"/b\t0-1\n", b"/a\t2\n", b"/c\t0-1\n"])


@unittest.skipUnless(REAL.exists(), f"{REAL} is not built")
class RealProgram(unittest.TestCase):
    """The program understands the words: it fails for its device, which does not exist, not for them."""

    def setUp(self):
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = f"{REAL.parent}:{path}"

    def test_words(self):
        job = nearcache.Prefetch.__new__(nearcache.Prefetch)
        job.name, job.job, job._last = "nearcache-no-such-device", 3, None
        plan = nearcache.Plan([("/data/f", 1)])
        for call in (lambda: nearcache.status(job.name), job.progress, job.cancel,
                     lambda: nearcache.Prefetch(job.name, "/data", world_size=8, rank=0, strict=True, priority=1,
                                                label="-l", deadline="30m", bandwidth="1Gb/s", seed=7, epoch=2),
                     lambda: plan.submit(job.name, append=True, sample_size="64K", header="4K", root="/data"),
                     lambda: nearcache.Plan.progress(job.name), lambda: nearcache.Plan.clear(job.name)):
            with self.assertRaises(nearcache.NearcacheError) as caught:
                call()
            self.assertIn((caught.exception.code, caught.exception.kind),
                          [(2, "permission"), (4, "wrong device")], str(caught.exception))
        with self.assertRaises(nearcache.NearcacheError) as caught:
            plan.submit(job.name, no_such_option=1)
        self.assertEqual((caught.exception.code, caught.exception.kind), (1, "usage"))

    def test_reads(self):
        reads = [("/f", None), ("/g", 2)]
        self.assertEqual(nearcache.Plan(["/f", ("/g", 2)]).reads, reads)
        self.assertEqual(nearcache.Plan(nearcache.Plan(reads).reads).reads, reads)

    def test_unknown_order(self):
        class Order:
            def __iter__(self):
                return iter([2, 1])

        class Wrapper:
            def __init__(self, sampler):
                self.batch_sampler = sampler

            def __iter__(self):
                return iter(self.batch_sampler)

        for sampler in (Order(), Wrapper(Order())):
            with self.assertRaisesRegex(ValueError, "the order of Order is not known .* fixed_order=True"):
                nearcache.Plan.from_sampler(sampler, 0, lambda i: ("/f", i))
            plan = nearcache.Plan.from_sampler(sampler, 0, lambda i: ("/f", i), fixed_order=True)
            self.assertEqual(plan.reads, [("/f", 2), ("/f", 1)])
        self.assertEqual(nearcache.Plan.from_sampler(range(2), 0, lambda i: ("/f", i)).reads, [("/f", 0), ("/f", 1)])

    def test_version(self):
        said = subprocess.run([REAL, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
        project = (TOP / "helper/python/pyproject.toml").read_text()
        self.assertEqual(re.search('^version = "(.*)"', project, re.M)[1], said.split()[1])


@unittest.skipUnless(TORCH, "no torch: install python3-torch")
class Samplers(unittest.TestCase):
    """The plan has the reads that real loaders make afterwards, in two epochs."""

    def check(self, make, seed=None, workers=2, batch_size=8):
        from torch.utils.data import DataLoader
        samplers, orders = make(), []
        for epoch in range(2):
            plan = nearcache.Plan.from_sampler(samplers, epoch, lambda i: ("/f", i), batch_size=batch_size, seed=seed)
            loaders = []
            for sampler in samplers:
                nearcache.set_epoch(sampler, epoch, seed)
                batches = {"batch_sampler": sampler} if hasattr(sampler, "sampler") else \
                    {"batch_size": batch_size, "sampler": sampler}
                loaders.append(DataLoader(list(range(101)), num_workers=workers, **batches))
            turns = nearcache.plan.itertools.zip_longest(*loaders, fillvalue=())
            orders.append([int(i) for batches in turns for batch in batches for i in batch])
            self.assertEqual([number for _, number in plan.reads], orders[-1])
        return orders

    def test_samplers(self):
        import torch
        from torch.utils.data import (BatchSampler, DistributedSampler, RandomSampler, SequentialSampler,
                                      SubsetRandomSampler)
        data = list(range(101))
        kinds = {
            "distributed": lambda: [DistributedSampler(data, 2, rank, seed=7) for rank in range(2)],
            "rank": lambda: [DistributedSampler(data, 3, 1, seed=7, drop_last=True)],
            "random": lambda: [RandomSampler(data, generator=torch.Generator())],
            "replacement": lambda: [RandomSampler(data, True, 150, generator=torch.Generator())],
            "subset": lambda: [SubsetRandomSampler(range(50), generator=torch.Generator())],
            "batches": lambda: [BatchSampler(DistributedSampler(data, 2, rank), 8, False) for rank in range(2)],
        }
        for kind, make in kinds.items():
            with self.subTest(kind):
                first, second = self.check(make, 7)
                self.assertNotEqual(first, second)
        self.assertEqual(*self.check(lambda: [SequentialSampler(data)]))

    def test_shards(self):
        """A worker of WebDataset has every Nth shard."""
        from torch.utils.data import DataLoader, IterableDataset, get_worker_info

        class Shards(IterableDataset):
            def __iter__(self):
                worker = get_worker_info()
                return iter([100 * shard + n for shard in shards[worker.id::worker.num_workers]
                             for n in range(20 + shard)])
        shards = [3, 5, 0, 6, 2, 1, 4]
        plan = nearcache.Plan.from_shards(shards, 3, 8, lambda shard: 20 + shard)
        reads = [int(i) for batch in DataLoader(Shards(), batch_size=8, num_workers=3) for i in batch]
        self.assertEqual([100 * shard + n for shard, n in plan.reads], reads)

    def test_running_epoch(self):
        """A plan for the next epoch does not change the epoch that is being read."""
        import torch
        from torch.utils.data import DistributedSampler, RandomSampler
        data = list(range(101))
        for sampler in (RandomSampler(data, True, 150, generator=torch.Generator()), DistributedSampler(data, 2, 0)):
            nearcache.set_epoch(sampler, 3, 7)
            whole = list(sampler)
            nearcache.set_epoch(sampler, 3, 7)
            order = iter(sampler)
            half = [next(order) for _ in range(40)]
            nearcache.Plan.from_sampler(sampler, 4, str, seed=7)
            self.assertEqual(half + list(order), whole)
            if hasattr(sampler, "epoch"):
                self.assertEqual(sampler.epoch, 3)

    def test_unknown_order(self):
        import torch
        from torch.utils.data import RandomSampler
        for sampler, seed in ((RandomSampler([1, 2]), 7), (RandomSampler([1], generator=torch.Generator()), None)):
            with self.assertRaisesRegex(ValueError, "create it with generator="):
                nearcache.Plan.from_sampler(sampler, 0, str, seed=seed)


class Tap(unittest.TestResult):
    """Print one line of TAP for each test."""

    def stopTest(self, test):
        print("\n".join(f"# {line}" for line in self.said.splitlines()), end="\n" if self.said else "")
        number = self.testsRun
        name = test.id().split(".", 1)[1]
        print(f"{'not ' * bool(self.said)}ok {number} {name}{self.skip}", flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.said = self.skip = ""

    def addSkip(self, test, reason):
        self.skip = f" # SKIP {reason}"

    def addError(self, test, err):
        super().addError(test, err)
        self.said = self._exc_info_to_string(err, test)

    addFailure = addError

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.said += f"{subtest}: {self._exc_info_to_string(err, test)}"


if __name__ == "__main__":
    warnings.simplefilter("always")
    tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = Tap()
    tests.run(result)
    print(f"1..{result.testsRun}")
    sys.exit(not result.wasSuccessful())
