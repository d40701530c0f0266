// SPDX-License-Identifier: GPL-2.0-only
/*
 * The index of cached blocks: chained hashing over flat arrays, so that a slot costs 32 bytes and
 * any slot can hold any block.
 *
 * Readers walk a chain without locks, in a hit section (nc_hot.hit_srcu).  An unlinked slot keeps
 * its next pointer, and it gets another block only after all hit sections in its part of the index
 * that began before the unlinking have ended.  So a reader on that slot still reaches the rest of
 * the chain, and never takes the valid bits of another block for those of the block it looked up.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/index.h"

/* Allocate an index of @count slots.  Its free list is empty: the caller pushes the free slots once
 * the slot table is loaded.  May sleep.  Return: 0; -ENOMEM, with all memory freed.
 */
int nc_index_init(struct nc_index *ix, u32 count)
{
	u32 i;

	ix->count = count;
	ix->chains = nc_index_chains(count);
	ix->seed = get_random_u64();
	spin_lock_init(&ix->free.lock);
	ix->slots = vzalloc(array_size(count, sizeof(*ix->slots)));
	ix->generation = vzalloc(array_size(count, sizeof(*ix->generation)));
	ix->heads = vmalloc(array_size(ix->chains, sizeof(*ix->heads)));
	ix->bucket_locks = kvcalloc(NC_BUCKET_LOCKS, sizeof(*ix->bucket_locks), GFP_KERNEL);
	if (!ix->slots || !ix->generation || !ix->heads || !ix->bucket_locks) {
		nc_index_destroy(ix);
		return -ENOMEM;
	}
	for (i = 0; i < NC_BUCKET_LOCKS; i++) {
		spin_lock_init(&ix->bucket_locks[i].lock);
		INIT_LIST_HEAD(&ix->bucket_locks[i].fills);
	}
	memset(ix->heads, 0xff, array_size(ix->chains, sizeof(*ix->heads)));
	ix->free.first = NC_NIL;
	ix->free.count = 0;
	return 0;
}

void nc_index_destroy(struct nc_index *ix)
{
	vfree(ix->slots);
	vfree(ix->generation);
	vfree(ix->heads);
	kvfree(ix->bucket_locks);
	ix->slots = NULL;
	ix->generation = NULL;
	ix->heads = NULL;
	ix->bucket_locks = NULL;
}

/* Insert slot @i for @block, which is not in the index.  The slot is in no chain, not in the free
 * list, and has no reader.  The caller holds the bucket lock of @block.
 */
void nc_index_link(struct nc_index *ix, u32 i, u64 block)
{
	struct nc_slot *slot = &ix->slots[i];
	u32 *head = &ix->heads[nc_index_hash(ix, block)];

	lockdep_assert_held(&nc_index_bucket(ix, block)->lock);
	slot->block_lo = (u32)block;
	slot->block_hi = (u8)(block >> 32);
	slot->flags = NC_SLOT_LINKED;
	slot->next = *head;
	/* A reader that finds the slot sees its block and its valid bits.  Pairs with the acquire
	 * in nc_index_find().
	 */
	smp_store_release(head, i);
}

/* Remove a linked slot.  Readers may still use it: only after a round of nc_hot.hit_srcu, or once
 * nc_hit_part_idle() was true for its block, may it go to the free list.  The caller holds the
 * bucket lock of the slot's block.
 */
void nc_index_unlink(struct nc_index *ix, u32 i)
{
	struct nc_slot *slot = &ix->slots[i];
	u64 block = nc_slot_block(slot);
	u32 *link = &ix->heads[nc_index_hash(ix, block)];

	lockdep_assert_held(&nc_index_bucket(ix, block)->lock);
	while (*link != i)
		link = &ix->slots[*link].next;
	WRITE_ONCE(*link, slot->next);
	slot->flags &= ~NC_SLOT_LINKED;
}

/* Take a slot from the free list; NC_NIL if the list is empty.  Process context. */
u32 nc_index_pop(struct nc_index *ix)
{
	u32 i;

	spin_lock(&ix->free.lock);
	i = ix->free.first;
	if (i != NC_NIL) {
		ix->free.first = ix->slots[i].next;
		WRITE_ONCE(ix->free.count, ix->free.count - 1);
	}
	spin_unlock(&ix->free.lock);
	return i;
}

/* Put slot @i, which is in no chain and has no reader, into the free list.  Process context. */
void nc_index_push(struct nc_index *ix, u32 i)
{
	struct nc_slot *slot = &ix->slots[i];

	slot->valid = 0;
	slot->stamp = 0;
	slot->tagged = 0;
	spin_lock(&ix->free.lock);
	slot->next = ix->free.first;
	ix->free.first = i;
	WRITE_ONCE(ix->free.count, ix->free.count + 1);
	spin_unlock(&ix->free.lock);
}
