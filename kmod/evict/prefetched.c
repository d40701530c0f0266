// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a prefetch brought, until somebody has read it.
 *
 * In a full cache in which nothing is idle it would find no slot.  For that there is the
 * prefetch reserve, as many slots as cannot be pinned: while jobs want them, what was used
 * longest ago goes for them, once.  A slot in the reserve is freed when as much was read of it as
 * is in it, and so the share travels ahead of whoever reads.  What went for it once is kept for
 * the next job: else each job would put out some more of what the policy keeps.
 */
#include <linux/bio.h>

#include "evict/prefetched.h"
#include "cache.h"
#include "io/fill.h"
#include "ranges/lookup.h"
#include "evict/slots.h"

/* Of the share so much must have been read before it is looked for: a pass may look at all
 * slots.
 */
#define PARTS	8U

/* Hits change it without a lock, and together with what ranges write, which is why all of the
 * tag is exchanged.  What has been cleared stays so.  Returns what it was.
 */
static u8 change(struct nc_slot *slot, u8 clear, u32 read)
{
	struct nc_slot old = { .tagged = READ_ONCE(slot->tagged) }, next;
	u32 reserve;

	do {
		if (!old.tag.ahead)
			return 0;
		next.tagged = old.tagged;
		reserve = old.tag.ahead & NC_AHEAD_RESERVE & ~clear;
		if (reserve)
			reserve = min_t(u32, reserve + read, NC_AHEAD_RESERVE);
		next.tag.ahead = (old.tag.ahead & NC_AHEAD_UNREAD & ~clear) | reserve;
	} while (!try_cmpxchg(&slot->tagged, &old.tagged, next.tagged));
	return old.tag.ahead;
}

/* Sub-blocks of @span of which @bio reads the last sector: who reads in small pieces does not
 * read one twice.
 */
static u32 read_to_end(const struct nc_cache *c, const struct bio *bio, const struct nc_span *span)
{
	u64 end = (span->block << c->hot.block_shift) + ((u64)(span->last + 1) << c->hot.sub_shift);

	end = min(end, c->geo.origin_size >> SECTOR_SHIFT);
	return span->last - span->first + (bio_end_sector(bio) >= end);
}

/* A slot's all was read. */
static void count_over(struct nc_cache *c)
{
	u32 share = c->index.count - nc_index_pinnable(&c->index);

	if (atomic_inc_return(&c->slots.reserve.over) > share / PARTS)
		nc_reserve_look(c);
}

/* Somebody reads.  Returns whether he is the first. */
static bool is_first(struct nc_cache *c, struct nc_slot *slot, u32 read)
{
	u8 was = change(slot, NC_AHEAD_UNREAD, read);
	u32 before = was & NC_AHEAD_RESERVE, valid = hweight64(READ_ONCE(slot->valid));

	if (before && before <= valid && before + read > valid)
		count_over(c);
	return was & NC_AHEAD_UNREAD;
}

/**
 * nc_prefetched_begin() - a prefetch is about to bring something into a slot
 * @c: live cache
 * @slot: just linked
 * @reserve: it is of the prefetch reserve
 *
 * Context: the prefetch worker; the bucket lock of the slot's block is held.
 */
void nc_prefetched_begin(struct nc_cache *c, struct nc_slot *slot, bool reserve)
{
	struct nc_prefetch_reserve *t = &c->slots.reserve;
	u32 used;

	WRITE_ONCE(slot->tag.ahead, NC_AHEAD_UNREAD | reserve);
	if (!(slot->tag.wants & NEARCACHE_RANGE_PIN))
		t->given++;
	if (!reserve)
		return;
	WRITE_ONCE(t->pressed, false);
	used = atomic_inc_return(&t->used);
	if (used > t->own)
		WRITE_ONCE(t->own, used);
	if (READ_ONCE(t->wanted))
		WRITE_ONCE(t->wanted, READ_ONCE(t->wanted) - 1);
}

/**
 * nc_prefetched_window() - a window is about to bring something into a slot
 * @slot: just linked
 *
 * Context: process; the bucket lock of the slot's block is held.
 */
void nc_prefetched_window(struct nc_slot *slot)
{
	WRITE_ONCE(slot->tag.ahead, NC_AHEAD_UNREAD);
}

/**
 * nc_prefetched_read() - the cache device serves a read of what a prefetch brought
 * @c: live cache
 * @slot: its slot, whose tag says so
 * @bio: read
 * @span: sub-blocks that it reads
 *
 * Context: any; nc_hot.hit_srcu is held.
 */
void nc_prefetched_read(struct nc_cache *c, struct nc_slot *slot, const struct bio *bio,
			const struct nc_span *span)
{
	if (is_first(c, slot, read_to_end(c, bio, span)))
		nc_ranges_count_used(c, slot, span->block);
}

/**
 * nc_prefetched_joined() - a read waits for what a prefetch is bringing
 * @c: live cache
 * @slot: where to; it counts neither as used nor as wasted afterwards
 * @bio: read, cut to @span
 * @span: sub-blocks
 *
 * Context: the bucket lock is held.
 */
void nc_prefetched_joined(struct nc_cache *c, struct nc_slot *slot, const struct bio *bio,
			  const struct nc_span *span)
{
	change(slot, NC_AHEAD_UNREAD, read_to_end(c, bio, span));
	nc_ranges_count_late(c, bio->bi_iter.bi_sector, bio->bi_iter.bi_size);
}

/**
 * nc_prefetched_came() - a fill of a prefetch is over
 * @c: live cache
 * @slot: where to
 *
 * What brought nothing is not unread.  What readers joined may be read to its end already: of
 * that no hit tells.
 *
 * Context: the bucket lock is held.
 */
void nc_prefetched_came(struct nc_cache *c, struct nc_slot *slot)
{
	if (!slot->valid)
		change(slot, NC_AHEAD_UNREAD, 0);
	else if (nc_prefetched_is_over(slot))
		count_over(c);
}

/* Was all that is valid in a slot read in the reserve?  Context: any; a hint. */
bool nc_prefetched_is_over(const struct nc_slot *slot)
{
	u8 read = READ_ONCE(slot->tag.ahead) & NC_AHEAD_RESERVE;

	return read && read > hweight64(READ_ONCE(slot->valid));
}

/* A slot is not of the prefetch reserve any more.  Context: the bucket lock is held. */
void nc_prefetched_stays(struct nc_cache *c, struct nc_slot *slot)
{
	if (change(slot, NC_AHEAD_RESERVE, 0) & NC_AHEAD_RESERVE)
		atomic_dec(&c->slots.reserve.used);
}

/**
 * nc_prefetched_gone() - a slot was taken from its block
 * @c: live cache
 * @slot: not reachable any more
 * @block: origin block
 *
 * Context: the reclaim worker.
 */
void nc_prefetched_gone(struct nc_cache *c, struct nc_slot *slot, u64 block)
{
	u8 was = change(slot, NC_AHEAD_UNREAD | NC_AHEAD_RESERVE, 0);

	if (was & NC_AHEAD_RESERVE)
		atomic_dec(&c->slots.reserve.used);
	if (was & NC_AHEAD_UNREAD)
		nc_ranges_count_wasted(c, slot, block);
}

/* Free slots that jobs wait for.  What was used longest ago goes for them.  Context: any; a hint.
 */
u32 nc_reserve_due(const struct nc_cache *c)
{
	u32 wanted = READ_ONCE(c->slots.reserve.wanted), used, share;

	if (likely(!wanted))
		return 0;
	share = c->index.count - nc_index_pinnable(&c->index);
	used = atomic_read(&c->slots.reserve.used);
	return min(wanted, share - min(share, used));
}

/* Free slots that only jobs may have.  Context: any; a hint. */
u32 nc_reserve_kept(const struct nc_cache *c)
{
	u32 own = READ_ONCE(c->slots.reserve.own), used = atomic_read(&c->slots.reserve.used);

	return max(own - min(own, used), nc_reserve_due(c));
}

/**
 * nc_reserve_want() - a job found no slot, or nobody wants one any more
 * @c: live cache
 * @slots: that it could do with, in all
 *
 * Context: any.
 */
void nc_reserve_want(struct nc_cache *c, u64 slots)
{
	WRITE_ONCE(c->slots.reserve.wanted, min_t(u64, slots, U32_MAX));
}

/* Free what was read to its end in the reserve.  Context: any. */
void nc_reserve_look(struct nc_cache *c)
{
	if (!atomic_xchg(&c->slots.reserve.over, 0))
		return;
	nc_slots_look_again(c);
	nc_slots_check(c);
}
