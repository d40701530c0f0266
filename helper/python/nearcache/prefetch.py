# SPDX-License-Identifier: GPL-2.0-only
"""A prefetch job, which brings files into the cache before they are read."""
import os
import time

from .command import NearcacheError, run

OVER = ("done", "cancelled", "incomplete")
DEVICE = (4, "wrong device")


def _targets(paths):
    """Return the list that the program reads: absolute paths, so that no name looks like a range."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        paths = [paths]
    folder = os.getcwdb()
    return b"".join(os.path.join(folder, os.fsencode(path)) + b"\0" for path in paths)


class Prefetch:
    """
    A prefetch job. Creating the object submits the job, which runs in the kernel in the background.

    name: the device
    paths: a file or folder, or several of them, in the order in which they shall be loaded
    options: of 'nearcache prefetch', such as priority=7, deadline="30m", bandwidth="40Gb/s",
        label="train", samples="0-99", rank=0, world_size=8, seed=7, epoch=2

    job: number of the job, the last one if there are several; None if there is nothing to load
    bytes: bytes of all files, or of this node's share
    result: the whole document of the program
    """

    def __init__(self, name, paths, **options):
        self.name = name
        self.result = run("prefetch", [name], {"from": "-", **options}, _targets(paths))
        self.job = self.result.get("job")
        self.bytes = self.result["bytes"]
        self._last = None

    def progress(self):
        """
        Return the state of the job, as 'nearcache jobs' has it, or None without a job.

        "state" is running, waiting (there is no room until readers use data in the cache), done,
        cancelled, incomplete (data was left out), or forgotten: the kernel keeps the results of the last
        1024 jobs of an open device.
        """
        if self.job is None:
            return None
        jobs = run("jobs", [self.name], {})["jobs"]
        found = next((job for job in jobs if job["job"] == self.job), None)
        if found is None or self._is_other(found):
            return {**(self._last or {"job": self.job}), "state": "forgotten", "flying_bytes": 0}
        self._last = found
        return found

    def _is_other(self, job):
        """Return whether another job has the number now, as after the device was closed and opened."""
        return self._last is not None and any(job[key] != self._last[key] for key in ("label", "bytes"))

    def wait(self, timeout=None, interval=0.5, show=None):
        """
        Wait until the job is over, and return its last state, or None without a job.

        Raises NearcacheError if the job was cancelled or left out data. A job without a deadline may
        wait for readers without limit.

        timeout: seconds after which TimeoutError is raised; the job goes on, and cancel() ends it
        interval: seconds between two requests of the state
        show: a function that is called with each state
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            job = self.progress()
            if job is not None and show:
                show(job)
            if job is None or job["state"] == "forgotten":
                return job
            if job["state"] in OVER and not job["flying_bytes"]:
                return self._judge(job)
            left = interval if end is None else min(interval, end - time.monotonic())
            if left <= 0:
                raise TimeoutError(f"prefetch job {self.job} of '{self.name}' is {job['state']} after {timeout} s")
            time.sleep(left)

    def _judge(self, job):
        if job["state"] != "cancelled" and not job["left_bytes"]:
            return job
        came = job["fetched_bytes"] + job["present_bytes"]
        raise NearcacheError(*DEVICE, f"prefetch job {self.job} of '{self.name}' is {job['state']}: "
                             f"{came} of {job['bytes']} bytes are cached, {job['left_bytes']} were left out", job)

    def cancel(self):
        """Cancel the job. Loaded data stays. Return False if it is over already, or without a job."""
        if self.job is None:
            return False
        try:
            run("cancel", [self.name, str(self.job)], {})
        except NearcacheError:
            if self.progress()["state"] in (*OVER, "forgotten"):
                return False
            raise
        return True
