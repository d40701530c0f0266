/* SPDX-License-Identifier: GPL-2.0-only */
/* The index: maps blocks of the origin to slots of the cache device, in memory. */
#ifndef NEARCACHE_CORE_INDEX_H
#define NEARCACHE_CORE_INDEX_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/math.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#define NC_NIL		U32_MAX		/* end of a chain */
#define NC_BUCKET_LOCKS	1024U		/* power of two */

/* nc_slot.flags */
#define NC_SLOT_LINKED	0x01		/* in the index, holds a block */
#define NC_SLOT_WRITTEN	0x02		/* allocated by a write; no read missed in its block */
#define NC_SLOT_JOB_SHIFT	3	/* bits above: number of a job, see nc_reserve_join() */

/* nc_tag.label */
#define NC_LABEL_MIXED	U16_MAX	/* several labels, or a label on a part of the block */
/* nc_tag.wants: enum nearcache_range_flags, with the priority in the bits above */
#define NC_WANTS_FLAGS	0x07
#define NC_WANTS_PRIORITY_SHIFT	4

/**
 * struct nc_tag - label and flags of the ranges that cover a block, and its prefetch state
 * @label: id of the label, 0: none, or NC_LABEL_MIXED
 * @wants: NC_WANTS_*
 * @ahead: NC_AHEAD_*, state of prefetched data, see prefetch_reserve.h; set under the bucket lock,
 *	changed by hits without it
 */
struct nc_tag {
	u16 label;
	u8 wants;
	u8 ahead;
};

/**
 * struct nc_slot - one cache block in memory
 * @valid: bit n is set if sub-block n on the cache device equals the origin
 * @block_lo: origin block, low 32 bits
 * @block_hi: origin block, high 8 bits
 * @flags: NC_SLOT_*
 * @stamp: last use, see default_policy.h
 * @next: next slot of the chain, or of the free list
 * @tag: see struct nc_tag
 * @tagged: all of @tag in one word; 0: all fields of @tag are 0
 *
 * Locks:
 *   block_*	written under the block's bucket lock while the
 *		slot is not reachable; stable while the slot is linked, and after
 *		its unlinking until a round of nc_hot.hit_srcu has completed or
 *		nc_hit_part_idle() was true for its part of the index
 *   flags	bucket lock; reclaim reads them without it, as a hint
 *   next	chain: bucket lock for writers, readers are in a hit section;
 *		free list: nc_free_list.lock
 *   valid	bucket lock for writers; readers in a hit section take one 64-bit
 *		snapshot.  A bit is set only after the data reached the device.
 *   stamp	no lock: readers write it, the policy tolerates the race
 *   tag	bucket lock, except @ahead; hits and reclaim read it without the
 *		lock, as a hint
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

/* Unpack a tag that was read in one word. */
static inline struct nc_tag nc_tag_of(u32 tagged)
{
	struct nc_slot slot = { .tagged = tagged };

	return slot.tag;
}

/* Checks the documented limit of 32 bytes of RAM per cache block.  For 16 slots it counts slots,
 * 16 generations, 13 chain heads (nc_index_chains()), and 2 words for bitmaps of slot-table pages.
 */
static_assert(16 * (sizeof(struct nc_slot) + sizeof(u32)) + 15 * sizeof(u32) < 16 * 32);

/**
 * struct nc_span - sub-blocks of one block
 * @block: origin block
 * @first: first sub-block
 * @last: last sub-block, inclusive
 */
struct nc_span {
	u64 block;
	u32 first;
	u32 last;
};

static inline u64 nc_span_bits(const struct nc_span *span)
{
	return GENMASK_ULL(span->last, span->first);
}

/**
 * struct nc_fill_entry - sub-blocks that are being filled; member of struct nc_fill
 * @list: in nc_bucket_lock.fills; bucket lock
 * @span: constant while the entry is on the list
 */
struct nc_fill_entry {
	struct list_head list;
	struct nc_span span;
};

/**
 * struct nc_bucket_lock - one bucket lock of the index
 * @lock: protects the chains, slots and fills whose blocks hash here; process context only; only
 *	nc_free_list.lock, nc_write_tree.lock and nc_active_plan.lock nest inside
 * @drops: number of times that valid data was invalidated or left the index
 * @fills: struct nc_fill_entry of the fills in flight whose blocks hash here
 */
struct nc_bucket_lock {
	spinlock_t lock;	/* protects chains, slots and fills */
	u32 drops;
	struct list_head fills;
} ____cacheline_aligned_in_smp;

/* Is a fill of @block in flight?  Context: the bucket lock of @block is held. */
static inline bool nc_bucket_is_filling(const struct nc_bucket_lock *bucket, u64 block)
{
	const struct nc_fill_entry *entry;

	lockdep_assert_held(&bucket->lock);
	list_for_each_entry(entry, &bucket->fills, list)
		if (entry->span.block == block)
			return true;
	return false;
}

/**
 * struct nc_free_list - slots that hold no block, linked by nc_slot.next
 * @lock: protects the list; innermost
 * @first: first slot, or NC_NIL.  A slot is in this list only after its removal from the index is
 *	durable and visible to all readers, so its data may be overwritten.
 * @count: length of the list; read without the lock as a hint
 *
 * Misses and reclaim write these fields, so they are in no cache line that hits read.
 */
struct nc_free_list {
	spinlock_t lock;	/* protects the list */
	u32 first;
	u32 count;
} ____cacheline_aligned;

/**
 * struct nc_index - all slots, and the look-up by origin block
 * @slots: slot n describes block n of the data area
 * @generation: per slot, value of nc_meta_generation() when the slot got its block; protected
 *	like nc_slot.block_lo
 * @heads: first slot of each chain, or NC_NIL
 * @count: number of slots
 * @chains: number of chains
 * @seed: random, so that no user can choose blocks that all hash to one chain
 * @bucket_locks: NC_BUCKET_LOCKS bucket locks
 * @free: slots that hold no block
 *
 * All fields before @free are constant while I/O runs.
 */
struct nc_index {
	struct nc_slot *slots;
	u32 *generation;
	u32 *heads;
	u32 count;
	u32 chains;
	u64 seed;
	struct nc_bucket_lock *bucket_locks;
	struct nc_free_list free;
};

static_assert(offsetof(struct nc_index, free) % SMP_CACHE_BYTES == 0 &&
	      sizeof(struct nc_index) % SMP_CACHE_BYTES == 0);

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

/* Block of a slot, read without a lock while another thread may be linking the slot: a hint. */
static inline u64 nc_slot_block_hint(const struct nc_slot *slot)
{
	return (u64)READ_ONCE(slot->block_hi) << 32 | READ_ONCE(slot->block_lo);
}

/* Number of chains for @count slots: with 13/16 of @count a slot costs less than 32 bytes. */
static inline u32 nc_index_chains(u32 count)
{
	return count - count / 16 * 3;
}

/* Bytes of memory of an index of @count slots. */
static inline u64 nc_index_memory(u32 count)
{
	return (u64)count * (sizeof(struct nc_slot) + sizeof(u32)) +
	       (u64)nc_index_chains(count) * sizeof(u32);
}

static inline u32 nc_index_hash(const struct nc_index *ix, u64 block)
{
	return reciprocal_scale(hash_64(block ^ ix->seed, 32), ix->chains);
}

static inline struct nc_bucket_lock *nc_index_bucket(const struct nc_index *ix,
						     u64 block)
{
	return &ix->bucket_locks[nc_index_hash(ix, block) & (NC_BUCKET_LOCKS - 1)];
}

/* Look up the slot of an origin block; NC_NIL: none.  In a hit section a slot that is just being
 * linked may be missed; under the block's bucket lock the answer is exact.
 */
static __always_inline u32 nc_index_find_hashed(const struct nc_index *ix, u64 block, u32 hash)
{
	/* Pairs with the release in nc_index_link(). */
	u32 i = smp_load_acquire(&ix->heads[hash]);

	while (i != NC_NIL) {
		const struct nc_slot *slot = &ix->slots[i];

		if (slot->block_lo == (u32)block &&
		    slot->block_hi == (u8)(block >> 32))
			break;
		i = READ_ONCE(slot->next);
	}
	return i;
}

static inline u32 nc_index_find(const struct nc_index *ix, u64 block)
{
	return nc_index_find_hashed(ix, block, nc_index_hash(ix, block));
}

/* Reclaim starts when fewer slots than this are free. */
static inline u32 nc_index_low_water(const struct nc_index *ix)
{
	return max(min(ix->count / 64, 4096U), 1U);
}

/* Number of slots that may be pinned.  The rest, for the prefetch reserve and other reads, is at
 * least 2 percent of the slots, and at least twice nc_index_low_water().
 */
static inline u64 nc_index_pinnable(const struct nc_index *ix)
{
	u32 rest = max(2 * nc_index_low_water(ix), ix->count / 50);

	return ix->count - min(ix->count, rest);
}

#endif /* NEARCACHE_CORE_INDEX_H */
