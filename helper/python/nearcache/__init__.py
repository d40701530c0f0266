# SPDX-License-Identifier: GPL-2.0-only
"""
Prefetch files of a nearcache device, declare the order of reads, and show the state of devices.

    import nearcache
    nearcache.status("imagenet")["hit_ratio"]
    nearcache.Prefetch("imagenet", ["/data/val"]).wait()
    nearcache.Plan.from_sampler(sampler, epoch, dataset.path).submit("imagenet", append=True)

The package runs the program nearcache(8) and reads its JSON output. It needs the rights of the program,
usually those of root. A failure raises NearcacheError. Keyword arguments called "options" are options of
the program: world_size=8 is --world-size=8, strict=True is --strict, and None or False is no option.
"""
from .command import NearcacheError, NearcacheWarning, status
from .plan import Plan, set_epoch
from .prefetch import Prefetch

__all__ = ["NearcacheError", "NearcacheWarning", "Plan", "Prefetch", "set_epoch", "status"]
