/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What may be evicted.  Pure arithmetic on a few words: the kernel, the unit
 * tests and a simulator compile this very source.
 */
#ifndef NEARCACHE_POLICY_H
#define NEARCACHE_POLICY_H

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include "format_user.h"
#endif

/*
 * A slot's stamp: the clock tick of its last use in the low 15 bits, and
 * whether it was used again since it was filled.
 */
#define NC_STAMP_TICK	0x7fffU
#define NC_STAMP_REUSED	0x8000U
/* Ticks that the stamp of a slot never read lies ahead of the clock: its first
 * read differs from it, and counts as no reuse distance.
 */
#define NC_STAMP_AHEAD	8
/* Distances from here on are never acted upon: ticks wrap at 15 bits. */
#define NC_STAMP_FAR	0x7000U

/* The clock ticks NC_TICKS_PER_CACHE times while reads of one cache size pass
 * through the device: 6 % resolution of the idle distance, and the 15-bit tick
 * wraps only after 2048 cache sizes.
 */
#define NC_TICKS_PER_CACHE	16

/**
 * struct nc_policy - state of the eviction policy
 * @slots: cache blocks
 * @never_seen: idle distance, in ticks, that counts as idle while too few
 *	reuses were seen to learn from
 * @reused: slots whose stamp has NC_STAMP_REUSED
 * @window_start: tick at which @longest[0] began
 * @longest: longest reuse distance in ticks, of this and of the last window
 *
 * Written without locks by whoever reads, with clocks that may be a tick apart:
 * a lost update makes the policy a little later or earlier, never the data
 * wrong.
 */
struct nc_policy {
	u64 slots;
	u32 never_seen;
	u32 reused;
	u32 window_start;
	u32 longest[2];
};

/**
 * struct nc_policy_ops - an eviction policy
 * @name: for logs and status
 * @init: @slots cache blocks, origin @origin_ticks long
 * @touch: a slot with @stamp is used at tick @now; returns its new stamp
 * @idle: may a slot with @stamp be evicted at tick @now?
 * @forget: a slot with @stamp was evicted
 *
 * touch is called only when the stamp would change, from the read path:
 * any context.  idle and forget are called by the one reclaim worker.
 */
struct nc_policy_ops {
	const char *name;
	void (*init)(struct nc_policy *p, u64 slots, u64 origin_ticks);
	u16 (*touch)(struct nc_policy *p, u16 stamp, u32 now);
	bool (*idle)(const struct nc_policy *p, u16 stamp, u32 now);
	void (*forget)(struct nc_policy *p, u16 stamp);
};

extern const struct nc_policy_ops nc_policy_keep;

#endif /* NEARCACHE_POLICY_H */
