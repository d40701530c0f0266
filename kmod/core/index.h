/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The index: which slot of the cache device holds which block of the origin.
 */
#ifndef NEARCACHE_CORE_INDEX_H
#define NEARCACHE_CORE_INDEX_H

#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/math.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#define NC_NIL		U32_MAX		/* end of a chain */
#define NC_STRIPES	1024U		/* power of two */

/* nc_slot.flags */
#define NC_SLOT_LINKED	0x01		/* holds a block, is in the index */
#define NC_SLOT_WRITTEN	0x02		/* given to a write; no read missed in it */

/* nc_tag.label */
#define NC_LABEL_MIXED	U16_MAX	/* of several, or not of all of the block */
/* nc_tag.wants: enum nearcache_range_flags, and the priority behind them */
#define NC_WANTS_FLAGS	0x07
#define NC_WANTS_PRIORITY_SHIFT	4

/**
 * struct nc_tag - what ranges want of a block
 * @label: id of the label, 0: none, or NC_LABEL_MIXED
 * @wants: NC_WANTS_*
 * @ahead: what became of what a prefetch brought, see ahead.h; begun under the stripe lock, and
 *	ended without
 */
struct nc_tag {
	u16 label;
	u8 wants;
	u8 ahead;
};

/**
 * struct nc_slot - one cache block in memory
 * @valid: bit n: sub-block n on the cache device equals the origin
 * @block_lo: origin block, low 32 bits
 * @block_hi: origin block, high 8 bits
 * @flags: NC_SLOT_*
 * @stamp: last use, see policy.h
 * @next: next slot of the chain, or of the free list
 * @tag: what ranges want of the block
 * @tagged: all of @tag; 0: nothing
 *
 * Who protects what:
 *   block_*	written under the block's stripe lock while the
 *		slot is not reachable; stable while it is linked, and until
 *		the round of the cache's holds after its unlinking is over
 *   flags	stripe lock; reclaim looks at them without, as a hint
 *   next	chain: stripe lock for writers, readers hold nc_cache.holds;
 *		free list: nc_index.free_lock
 *   valid	stripe lock for writers; readers, who hold, take one 64-bit
 *		snapshot.  A bit is set only after the data reached the device.
 *   stamp	nobody: readers write it without locks, the policy bears it
 *   tag	stripe lock, but for ahead; a hit and reclaim look at it without, as a
 *		hint
 */
struct nc_slot {
	u64 valid;
	u32 block_lo;
	u8  block_hi;
	u8  flags;
	u16 stamp;
	u32 next;
	union {
		struct nc_tag tag;
		u32 tagged;
	};
};

static_assert(sizeof(struct nc_tag) == sizeof(u32));

/* A tag of which all was read at once. */
static inline struct nc_tag nc_tag_of(u32 tagged)
{
	struct nc_slot slot = { .tagged = tagged };

	return slot.tag;
}

/* The promise of 32 bytes of RAM per cache block, generation and head included: there are 15
 * heads for 16 slots, as each of the table page bitmaps adds 1/168 bit.
 */
static_assert(16 * (sizeof(struct nc_slot) + sizeof(u32)) + 15 * sizeof(u32) < 16 * 32);

/**
 * struct nc_stripe - one of the locks over the index
 * @lock: protects the chains, slots and fills whose blocks hash here; process
 *	context only; innermost but for nc_index.free_lock and nc_inflight.lock
 * @drops: how often something that was valid became invalid, or left the index
 * @fills: struct nc_fill under way, by origin block
 */
struct nc_stripe {
	spinlock_t lock;	/* see above */
	u32 drops;
	struct list_head fills;
} ____cacheline_aligned_in_smp;

/**
 * struct nc_index - all slots, and the look-up by origin block
 * @slots: slot n describes block n of the data area
 * @generation: of each slot: commit number at which it was given to its block; protected as
 *	nc_slot.block_lo is
 * @heads: first slot of each chain
 * @count: slots
 * @chains: nc_index_chains()
 * @seed: random, so that nobody can prepare a table whose blocks all meet in one
 *	chain
 * @stripes: NC_STRIPES locks
 * @free_lock: protects @free and the free list; innermost
 * @free: first slot of the free list.  A slot on it is durably and visibly
 *	gone from the index: whoever pops it may overwrite its data at once.
 * @free_count: length of the free list; read without the lock as a hint
 */
struct nc_index {
	struct nc_slot *slots;
	u32 *generation;
	u32 *heads;
	u32 count;
	u32 chains;
	u64 seed;
	struct nc_stripe *stripes;
	spinlock_t free_lock;	/* see above */
	u32 free;
	u32 free_count;
};

int nc_index_init(struct nc_index *ix, u32 count);
void nc_index_destroy(struct nc_index *ix);
void nc_index_link(struct nc_index *ix, u32 slot, u64 block);
void nc_index_unlink(struct nc_index *ix, u32 slot);
u32 nc_index_pop(struct nc_index *ix);
void nc_index_push(struct nc_index *ix, u32 slot);

static inline u64 nc_slot_block(const struct nc_slot *slot)
{
	return (u64)slot->block_hi << 32 | slot->block_lo;
}

/* Chains of so many slots: 13 of 16, so that a full cache takes less than 32 bytes for a block. */
static inline u32 nc_index_chains(u32 count)
{
	return count - count / 16 * 3;
}

/* Bytes of memory that the index of so many slots takes. */
static inline u64 nc_index_memory(u32 count)
{
	return (u64)count * (sizeof(struct nc_slot) + sizeof(u32)) +
	       (u64)nc_index_chains(count) * sizeof(u32);
}

static inline u32 nc_index_hash(const struct nc_index *ix, u64 block)
{
	return reciprocal_scale(hash_64(block ^ ix->seed, 32), ix->chains);
}

static inline struct nc_stripe *nc_index_stripe(const struct nc_index *ix,
						u64 block)
{
	return &ix->stripes[nc_index_hash(ix, block) & (NC_STRIPES - 1)];
}

/**
 * nc_index_find() - the slot of an origin block
 * @ix: index
 * @block: origin block
 *
 * Context: nc_cache.holds is held (then a slot that is just
 * being linked may be missed), or under the block's stripe lock (then the
 * answer is exact).
 *
 * Return: the slot's number or NC_NIL.
 */
static inline u32 nc_index_find(const struct nc_index *ix, u64 block)
{
	/* Pairs with the release in nc_index_link(). */
	u32 i = smp_load_acquire(&ix->heads[nc_index_hash(ix, block)]);

	while (i != NC_NIL) {
		const struct nc_slot *slot = &ix->slots[i];

		if (slot->block_lo == (u32)block &&
		    slot->block_hi == (u8)(block >> 32))
			break;
		i = READ_ONCE(slot->next);
	}
	return i;
}

#endif /* NEARCACHE_CORE_INDEX_H */
