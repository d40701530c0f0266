// SPDX-License-Identifier: GPL-2.0-only
/* A bitmap with summary levels, which find the last set bit without a scan of the bitmap. */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "evict/bittree.h"

/* Allocate a tree of 1 to NC_BITTREE_BITS_MAX clear bits.  Return: 0 or -ENOMEM. */
int nc_bittree_init(struct nc_bittree *tree, u32 bits)
{
	u32 level, below = bits, all = 0;
	u64 *word;

	for (level = 0; level < NC_BITTREE_LEVELS; level++) {
		below = (below + 63) / 64;
		tree->words[level] = below;
		all += below;
	}
	word = kvcalloc(all, sizeof(*word), NC_BITTREE_GFP);
	if (!word)
		return -ENOMEM;
	for (level = 0; level < NC_BITTREE_LEVELS; level++) {
		tree->level[level] = word;
		word += tree->words[level];
	}
	return 0;
}

void nc_bittree_destroy(struct nc_bittree *tree)
{
	kvfree(tree->level[0]);
}

static u32 all_words(const struct nc_bittree *tree)
{
	u32 level, all = 0;

	for (level = 0; level < NC_BITTREE_LEVELS; level++)
		all += tree->words[level];
	return all;
}

/* Size in bytes. */
u64 nc_bittree_memory(const struct nc_bittree *tree)
{
	return (u64)all_words(tree) * sizeof(u64);
}

void nc_bittree_set(struct nc_bittree *tree, u32 bit)
{
	u32 level;

	for (level = 0; level < NC_BITTREE_LEVELS; level++) {
		u64 *word = &tree->level[level][bit / 64], was = *word;

		*word = was | 1ULL << bit % 64;
		if (was)
			return;
		bit /= 64;
	}
}

void nc_bittree_clear(struct nc_bittree *tree, u32 bit)
{
	u32 level;

	for (level = 0; level < NC_BITTREE_LEVELS; level++) {
		u64 *word = &tree->level[level][bit / 64];

		*word &= ~(1ULL << bit % 64);
		if (*word)
			return;
		bit /= 64;
	}
}

/* Clear all bits. */
void nc_bittree_empty(struct nc_bittree *tree)
{
	memset(tree->level[0], 0, nc_bittree_memory(tree));
}

/* The bits before @end that share a word of @level with bit @end. */
static u64 bits_before(const struct nc_bittree *tree, u32 level, u32 end)
{
	return end % 64 ? tree->level[level][end / 64] & ((1ULL << end % 64) - 1) : 0;
}

/* Return the last set bit before @end, or NC_BITTREE_NONE.  @end: at most the number of bits. */
u32 nc_bittree_last(const struct nc_bittree *tree, u32 end)
{
	u32 level = 0, at;
	u64 word;

	while (!(word = bits_before(tree, level, end))) {
		if (++level == NC_BITTREE_LEVELS)
			return NC_BITTREE_NONE;
		end /= 64;
	}
	at = end / 64 * 64 + fls64(word) - 1;
	while (level--)
		at = at * 64 + fls64(tree->level[level][at]) - 1;
	return at;
}
