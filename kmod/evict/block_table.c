// SPDX-License-Identifier: GPL-2.0-only
/* The blocks of a plan.  The table need not be a power of two, so it is never much too large. */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/math.h>
#include <linux/slab.h>

#include "evict/bittree.h"
#include "evict/block_table.h"

/* Allocate an empty table for @blocks blocks.  Returns 0 or -ENOMEM; the caller destroys the table,
 * also after an error.
 */
int nc_block_table_init(struct nc_block_table *table, u32 blocks, u64 seed)
{
	u32 i;

	table->size = blocks + blocks / 4 + 1;
	table->seed = seed;
	table->entry = kvmalloc_array(table->size, sizeof(*table->entry), NC_BITTREE_GFP);
	table->high = kvmalloc_array(table->size, sizeof(*table->high), NC_BITTREE_GFP);
	if (!table->entry || !table->high)
		return -ENOMEM;
	for (i = 0; i < table->size; i++)
		table->entry[i].next = NC_BLOCK_FREE;
	return 0;
}

void nc_block_table_destroy(struct nc_block_table *table)
{
	kvfree(table->entry);
	kvfree(table->high);
}

/* Return the entry of a block, or the free entry where it belongs. */
static u32 block_place(const struct nc_block_table *table, u64 block)
{
	u32 i = reciprocal_scale(hash_64(block ^ table->seed, 32), table->size);

	while (READ_ONCE(table->entry[i].next) != NC_BLOCK_FREE && nc_block_at(table, i) != block)
		i = i + 1 < table->size ? i + 1 : 0;
	return i;
}

/* Return the entry of a block, or NC_BLOCK_NONE. */
u32 nc_block_find(const struct nc_block_table *table, u64 block)
{
	u32 i = block_place(table, block);

	return READ_ONCE(table->entry[i].next) != NC_BLOCK_FREE ? i : NC_BLOCK_NONE;
}

/* Return the entry of a block.  Adds the block, with the next visit 0, if it has no entry. */
u32 nc_block_add(struct nc_block_table *table, u64 block)
{
	u32 i = block_place(table, block);

	if (nc_block_is_free(table, i)) {
		table->entry[i].low = block;
		table->entry[i].next = 0;
		table->high[i] = block >> 32;
	}
	return i;
}
