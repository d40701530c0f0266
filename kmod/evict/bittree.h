/* SPDX-License-Identifier: GPL-2.0-only */
/* A bitmap that finds its last set bit in a few steps. */
#ifndef NEARCACHE_EVICT_BITTREE_H
#define NEARCACHE_EVICT_BITTREE_H

#include <linux/types.h>

#define NC_BITTREE_LEVELS	4U
#define NC_BITTREE_BITS_MAX	(1U << (6 * NC_BITTREE_LEVELS))
#define NC_BITTREE_NONE		0xffffffffU
/* For trees and plans: fail rather than wake the OOM killer, as a cache works without a plan. */
#define NC_BITTREE_GFP		(GFP_KERNEL | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)

/**
 * struct nc_bittree - bitmap with summary levels: a bit is set if any of 64 bits one level below is
 * @level: the bitmap at [0], summaries above; all in one allocation, which @level[0] points to
 * @words: length of each level in words of 64 bits
 *
 * The owner serialises access.
 */
struct nc_bittree {
	u64 *level[NC_BITTREE_LEVELS];
	u32 words[NC_BITTREE_LEVELS];
};

int nc_bittree_init(struct nc_bittree *tree, u32 bits);
void nc_bittree_destroy(struct nc_bittree *tree);
u64 nc_bittree_memory(const struct nc_bittree *tree);
void nc_bittree_set(struct nc_bittree *tree, u32 bit);
void nc_bittree_clear(struct nc_bittree *tree, u32 bit);
void nc_bittree_empty(struct nc_bittree *tree);
u32 nc_bittree_last(const struct nc_bittree *tree, u32 end);

static inline bool nc_bittree_test(const struct nc_bittree *tree, u32 bit)
{
	return tree->level[0][bit / 64] >> bit % 64 & 1;
}

#endif /* NEARCACHE_EVICT_BITTREE_H */
