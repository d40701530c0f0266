#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Count the instructions of a read by function: see account."""
import bisect
import collections
import re
import socket
import sys
import time

# The first function that the kernel calls for a libaio read.
BEGIN = "aio_read"


def record(out):
    """Let the emulator log its instructions for a second or two, then quit."""
    monitor = socket.socket(socket.AF_UNIX)
    monitor.connect(out + "/monitor")
    # QEMU 8.1 renamed "singlestep"; each version ignores the other name.
    for command, seconds in (
        ("stop", 0.5), ("singlestep on", 0.2), ("one-insn-per-tb on", 0.2),
        ("logfile " + out + "/trace", 0.2), ("log exec,nochain", 0.2),
        ("cont", 8), ("stop", 0.5), ("log none", 0.2), ("quit", 0),
    ):
        monitor.sendall((command + "\n").encode())
        time.sleep(seconds)
    # Wait for the end of the emulator, which may still be writing the log.
    while monitor.recv(4096):
        pass


def symbols(out):
    """Return the sorted addresses of functions, and their names with the module's name."""
    found = []
    with open(out + "/kallsyms", encoding="ascii") as lines:
        for line in lines:
            words = line.split()
            if words[1] in "tTwW":
                found.append((int(words[0], 16), " ".join(words[2:])))
    found.sort()
    return [address for address, _ in found], [name for _, name in found]


def functions(out):
    """Yield the function of each executed instruction, and whether it is the function's first."""
    addresses, names = symbols(out)
    with open(out + "/trace", encoding="ascii", errors="replace") as trace:
        for counter in re.findall(r"\[[0-9a-f]{16}/([0-9a-f]{16})/", trace.read()):
            at = bisect.bisect_right(addresses, int(counter, 16)) - 1
            yield names[at], addresses[at] == int(counter, 16)


def reads_of(out):
    """Return a counter of instructions by function for each read, up to the begin of the next read."""
    reads = []
    for name, begins in functions(out):
        if name == BEGIN and begins:
            reads.append(collections.Counter())
        if reads:
            reads[-1][name] += 1
    if len(reads) < 3:
        sys.exit("account: " + out + " holds fewer than two reads")
    # The last read is incomplete.
    return reads[:-1]


def median(reads):
    """Return the read with the median number of instructions."""
    return sorted(reads, key=lambda read: read.total())[len(reads) // 2]


def mean(reads):
    """Return the mean of overlapping reads, including the work behind them."""
    total = sum(reads, collections.Counter())
    print(f"{len(reads)} reads")
    return collections.Counter({name: round(count / len(reads)) for name, count in total.items()})


def show(outs, of):
    """Print one read, or the difference of the second one."""
    reads = [of(reads_of(out)) for out in outs]
    for out, read in zip(outs, reads):
        print(f"{read.total():6d} {out.rsplit('.', 1)[1]}")
    more = reads[-1].copy()
    if len(reads) > 1:
        more.subtract(reads[0])
    for name, count in sorted(more.items(), key=lambda item: -abs(item[1])):
        if count:
            print(f"{count:+6d} {name}" if len(reads) > 1 else f"{count:6d} {name}")


if sys.argv[1] == "record":
    record(sys.argv[2])
else:
    show(sys.argv[2:], mean if sys.argv[1] == "print-mean" else median)
