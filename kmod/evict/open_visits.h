/* SPDX-License-Identifier: GPL-2.0-only */
/* Visits that readers make by several reads, each of some sub-blocks. */
#ifndef NEARCACHE_EVICT_OPEN_VISITS_H
#define NEARCACHE_EVICT_OPEN_VISITS_H

#include <linux/types.h>

/* Value of nc_open_visit.seen: all sub-blocks of the visit were read. */
#define NC_OPEN_COMPLETE	(~0ULL)

/**
 * struct nc_open_visit - a visit that readers make by several reads
 * @seen: bitmap of these sub-blocks, or NC_OPEN_COMPLETE
 * @block: entry of the block in the plan's table; NC_BLOCK_NONE: free
 * @visit: the visit
 */
struct nc_open_visit {
	u64 seen;
	u32 block;
	u32 visit;
};

/**
 * struct nc_open_visits - a hash table; in a full set a new visit replaces a complete one, or else
 *	the earliest one
 * @entry: sets of NC_OPEN_WAYS entries; a block has at most one entry
 * @bits: log2 of the number of sets
 *
 * The owner serialises all calls, except nc_open_find(): without serialisation its result is a
 * hint.
 */
struct nc_open_visits {
	struct nc_open_visit *entry;
	u32 bits;
};

#define NC_OPEN_WAYS	4U

int nc_open_init(struct nc_open_visits *open, u32 visits);
void nc_open_destroy(struct nc_open_visits *open);
void nc_open_empty(struct nc_open_visits *open);
struct nc_open_visit *nc_open_find(const struct nc_open_visits *open, u32 block);
void nc_open_set(struct nc_open_visits *open, u32 block, u32 visit, u64 seen);

/* Number of entries. */
static inline u32 nc_open_size(const struct nc_open_visits *open)
{
	return NC_OPEN_WAYS << open->bits;
}

#endif /* NEARCACHE_EVICT_OPEN_VISITS_H */
