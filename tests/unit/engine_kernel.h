/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel of tests/fuzz, and the declarations that the prefetch engine needs besides.  For unit
 * tests of sources that use struct nc_cache.  The test defines the functions and variables that are
 * declared here.
 */
#ifndef UNIT_ENGINE_KERNEL_H
#define UNIT_ENGINE_KERNEL_H

#include "../fuzz/kernel.h"

#define NSEC_PER_MSEC		1000000L
#define MAX_SCHEDULE_TIMEOUT	LONG_MAX
#define BIT(n)			(1UL << (n))
#define round_down(n, step)	((n) / (step) * (step))
#define atomic_dec(a)		((void)--(a)->counter)
#define atomic_xchg(a, value)	xchg(&(a)->counter, value)
/* There is one thread: the value is as expected. */
#define try_cmpxchg(at, old, next)	(*(at) = (next), (void)(old), true)
#define ktime_get_ns()		(jiffies * 1000 * NSEC_PER_MSEC / HZ)
#define list_move_tail(l, head)	(list_del(l), list_add_tail(l, head))
#define fput(file)		((void)(file))

struct blk_plug {
	int unused;
};

#define blk_start_plug(plug)	((void)(plug))
#define blk_finish_plug(plug)	((void)(plug))

#endif /* UNIT_ENGINE_KERNEL_H */
