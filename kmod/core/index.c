// SPDX-License-Identifier: GPL-2.0-only
/*
 * The index of cached blocks: chained hashing over flat arrays, so that a slot
 * costs 32 bytes and any slot can hold any block.
 *
 * Readers walk a chain without locks, but among nc_cache.holds.  A slot leaves its chain
 * with its own next pointer intact and is not given to another block before those who held
 * then are through, so a reader on it still reaches the rest of the chain, and
 * never sees another block's valid bits under the block that it looked up.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/index.h"

/**
 * nc_index_init() - allocate an index with every slot free
 * @ix: index
 * @count: slots
 *
 * Slots are handed out from the lowest upward.
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int nc_index_init(struct nc_index *ix, u32 count)
{
	u32 i;

	ix->count = count;
	ix->chains = nc_index_chains(count);
	ix->seed = get_random_u64();
	spin_lock_init(&ix->free_lock);
	ix->slots = vzalloc(array_size(count, sizeof(*ix->slots)));
	ix->generation = vzalloc(array_size(count, sizeof(*ix->generation)));
	ix->heads = vmalloc(array_size(ix->chains, sizeof(*ix->heads)));
	ix->stripes = kvcalloc(NC_STRIPES, sizeof(*ix->stripes), GFP_KERNEL);
	if (!ix->slots || !ix->generation || !ix->heads || !ix->stripes) {
		nc_index_destroy(ix);
		return -ENOMEM;
	}
	for (i = 0; i < NC_STRIPES; i++) {
		spin_lock_init(&ix->stripes[i].lock);
		INIT_LIST_HEAD(&ix->stripes[i].fills);
	}
	memset(ix->heads, 0xff, array_size(ix->chains, sizeof(*ix->heads)));
	ix->free = NC_NIL;
	ix->free_count = 0;
	return 0;
}

void nc_index_destroy(struct nc_index *ix)
{
	vfree(ix->slots);
	vfree(ix->generation);
	vfree(ix->heads);
	kvfree(ix->stripes);
	ix->slots = NULL;
	ix->generation = NULL;
	ix->heads = NULL;
	ix->stripes = NULL;
}

/**
 * nc_index_link() - give a slot to an origin block
 * @ix: index
 * @i: slot, popped from the free list, so that no reader can be on it
 * @block: origin block, not in the index
 *
 * Context: the block's stripe lock is held.
 */
void nc_index_link(struct nc_index *ix, u32 i, u64 block)
{
	struct nc_slot *slot = &ix->slots[i];
	u32 *head = &ix->heads[nc_index_hash(ix, block)];

	lockdep_assert_held(&nc_index_stripe(ix, block)->lock);
	slot->block_lo = (u32)block;
	slot->block_hi = (u8)(block >> 32);
	slot->flags = NC_SLOT_LINKED;
	slot->next = *head;
	/* A reader that finds the slot sees its block and its valid bits;
	 * pairs with the acquire in nc_index_find().
	 */
	smp_store_release(head, i);
}

/**
 * nc_index_unlink() - take a slot out of the index
 * @ix: index
 * @i: linked slot
 *
 * Readers may still be on the slot: it may go to the free list only after a round of the
 * cache's holds.
 *
 * Context: the stripe lock of the slot's block is held.
 */
void nc_index_unlink(struct nc_index *ix, u32 i)
{
	struct nc_slot *slot = &ix->slots[i];
	u64 block = nc_slot_block(slot);
	u32 *link = &ix->heads[nc_index_hash(ix, block)];

	lockdep_assert_held(&nc_index_stripe(ix, block)->lock);
	while (*link != i)
		link = &ix->slots[*link].next;
	WRITE_ONCE(*link, slot->next);
	slot->flags &= ~NC_SLOT_LINKED;
}

/**
 * nc_index_pop() - take a slot from the free list
 * @ix: index
 *
 * Context: process.
 * Return: slot or NC_NIL when none is free.
 */
u32 nc_index_pop(struct nc_index *ix)
{
	u32 i;

	spin_lock(&ix->free_lock);
	i = ix->free;
	if (i != NC_NIL) {
		ix->free = ix->slots[i].next;
		WRITE_ONCE(ix->free_count, ix->free_count - 1);
	}
	spin_unlock(&ix->free_lock);
	return i;
}

/**
 * nc_index_push() - put a slot on the free list
 * @ix: index
 * @i: slot that is in no chain and that no reader can be on
 *
 * Context: process.
 */
void nc_index_push(struct nc_index *ix, u32 i)
{
	struct nc_slot *slot = &ix->slots[i];

	slot->valid = 0;
	slot->stamp = 0;
	slot->tagged = 0;
	spin_lock(&ix->free_lock);
	slot->next = ix->free;
	ix->free = i;
	WRITE_ONCE(ix->free_count, ix->free_count + 1);
	spin_unlock(&ix->free_lock);
}
