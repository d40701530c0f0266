/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges of the origin, and the segments that they form.  Pure functions: the kernel and
 * the unit tests compile this source.
 */
#ifndef NEARCACHE_RANGES_SEGMENTS_H
#define NEARCACHE_RANGES_SEGMENTS_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "meta/format_user.h"
#endif

#include "nearcache.h"

/* Most ranges of one cache: they use 8 MiB of memory, and their segments up to 12 MiB. */
#define NC_RANGES_MAX		NEARCACHE_RANGES_MAX
/* Most ranges that may overlap in one sector. */
#define NC_RANGES_DEEP		NEARCACHE_RANGES_DEEP

/**
 * struct nc_want - a range: flags and label that a user gives a part of the origin
 * @first: first sector
 * @end: sector behind the last one
 * @id: id of the label for statistics; 0: none
 * @flags: enum nearcache_range_flags
 * @priority: where ranges overlap, the highest priority wins; if equal, the highest @first
 * @serial: rises with each new range; if @priority and @first are equal, the highest serial wins
 * @expires: expiry as nc_ranges_now(), in seconds; 0: never
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
 * struct nc_segment - adjacent sectors that the same ranges cover
 * @first: first sector
 * @end: sector behind the last one
 * @id: label id of the winning range
 * @flags: flags that at least one of the covering ranges has
 * @priority: priority of the winning range
 */
struct nc_segment {
	u64 first;
	u64 end;
	u16 id;
	u8 flags;
	u8 priority;
};

#define NC_RANGEMAP_TOO_DEEP	(-1)

/* Most segments that @ranges ranges can form. */
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
