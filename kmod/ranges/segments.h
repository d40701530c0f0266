/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges of the origin, and what they come to where they overlap.  Pure functions: the kernel
 * and the unit tests compile this very source.
 */
#ifndef NEARCACHE_RANGES_SEGMENTS_H
#define NEARCACHE_RANGES_SEGMENTS_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "meta/format_user.h"
#endif

#include "nearcache.h"

/* Ranges of one cache: 8 MiB of memory for them, and up to 12 MiB for their segments. */
#define NC_RANGES_MAX		NEARCACHE_RANGES_MAX
/* That may overlap at one sector; the segments are made with a list of those. */
#define NC_RANGES_DEEP		NEARCACHE_RANGES_DEEP

/**
 * struct nc_want - what somebody wants of a part of the origin
 * @first: first sector
 * @end: behind the last one
 * @id: whose; statistics are kept by it, 0: none
 * @flags: enum nearcache_range_flags
 * @priority: of those that overlap the highest counts, and of those the one that begins last
 * @serial: rises with each that is given; of two that are alike otherwise the later counts
 * @expires: when it goes, in seconds of the clock that counts sleep, too; 0: never
 */
struct nc_want {
	u64 first;
	u64 end;
	u16 id;
	u8 flags;
	u8 priority;
	u32 serial;
	u32 expires;
};

/**
 * struct nc_segment - sectors of which the same is wanted
 * @first: first sector
 * @end: behind the last one
 * @id: of the range that counts
 * @flags: of all ranges there
 * @priority: of the range that counts
 */
struct nc_segment {
	u64 first;
	u64 end;
	u16 id;
	u8 flags;
	u8 priority;
};

#define NC_RANGEMAP_TOO_DEEP	(-1)

/* Segments that so many ranges come to, at most. */
static inline u32 nc_rangemap_segments_max(u32 ranges)
{
	return ranges ? 2 * ranges - 1 : 0;
}

int nc_want_compare(const void *a, const void *b);
int nc_rangemap_make(const struct nc_want *want, u32 ranges, struct nc_segment *out);
const struct nc_segment *nc_rangemap_find(const struct nc_segment *segment, u32 count,
					  u64 sector);
u64 nc_rangemap_blocks(const struct nc_segment *segment, u32 count, u8 flags,
		       unsigned int block_shift);

#endif /* NEARCACHE_RANGES_SEGMENTS_H */
