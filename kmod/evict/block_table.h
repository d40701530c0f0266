/* SPDX-License-Identifier: GPL-2.0-only */
/* The different blocks of a plan, each with the visit that reads it next: a hash table. */
#ifndef NEARCACHE_EVICT_BLOCK_TABLE_H
#define NEARCACHE_EVICT_BLOCK_TABLE_H

#include <linux/types.h>

#define NC_BLOCK_NONE	0xffffffffU

/**
 * struct nc_block - a block of the plan
 * @low: origin block, low 32 bits
 * @next: the visit that reads the block next, or NC_BLOCK_NONE; in a free entry NC_BLOCK_FREE
 */
struct nc_block {
	u32 low;
	u32 next;
};

#define NC_BLOCK_FREE	0xfffffffeU

/**
 * struct nc_block_table - hash table with open addressing, at most 4/5 full
 * @entry: the blocks; an index of this array names a block
 * @high: for each entry the high 8 bits of the origin block
 * @size: number of entries
 * @seed: random, so that a crafted plan cannot make all blocks collide
 *
 * The owner serialises all calls; after the last nc_block_add(), nc_block_find() needs no lock.
 */
struct nc_block_table {
	struct nc_block *entry;
	u8 *high;
	u32 size;
	u64 seed;
};

int nc_block_table_init(struct nc_block_table *table, u32 blocks, u64 seed);
void nc_block_table_destroy(struct nc_block_table *table);
u32 nc_block_find(const struct nc_block_table *table, u64 block);
u32 nc_block_add(struct nc_block_table *table, u64 block);

/* The origin block of entry @i. */
static inline u64 nc_block_at(const struct nc_block_table *table, u32 i)
{
	return (u64)table->high[i] << 32 | table->entry[i].low;
}

static inline bool nc_block_is_free(const struct nc_block_table *table, u32 i)
{
	return table->entry[i].next == NC_BLOCK_FREE;
}

/* Size in bytes. */
static inline u64 nc_block_table_memory(const struct nc_block_table *table)
{
	return (u64)table->size * (sizeof(*table->entry) + sizeof(*table->high));
}

#endif /* NEARCACHE_EVICT_BLOCK_TABLE_H */
