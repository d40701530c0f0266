// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a prefetch brought, until somebody has read it.
 *
 * In a full cache in which nothing is idle it would find no slot.  For that there is the
 * transit share, as many slots as cannot be pinned: while jobs want them, what was used
 * longest ago goes for them, once.  A slot in transit is freed when as much was read of it as
 * is in it, and so the share travels ahead of whoever reads.  What went for it once is kept for
 * the next job: else each job would put out some more of what the policy keeps.
 */
#include <linux/bio.h>

#include "evict/prefetched.h"
#include "cache.h"
#include "io/fill.h"
#include "ranges/lookup.h"
#include "evict/reclaim.h"

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
	u32 transit;

	do {
		if (!old.tag.ahead)
			return 0;
		next.tagged = old.tagged;
		transit = old.tag.ahead & NC_AHEAD_TRANSIT & ~clear;
		if (transit)
			transit = min_t(u32, transit + read, NC_AHEAD_TRANSIT);
		next.tag.ahead = (old.tag.ahead & NC_AHEAD_UNREAD & ~clear) | transit;
	} while (!try_cmpxchg(&slot->tagged, &old.tagged, next.tagged));
	return old.tag.ahead;
}

/* Sub-blocks of @span of which @bio reads the last sector: who reads in small pieces does not
 * read one twice.
 */
static u32 read_to_end(const struct nc_cache *c, const struct bio *bio, const struct nc_span *span)
{
	u64 end = (span->block << c->block_shift) + ((u64)(span->last + 1) << c->sub_shift);

	end = min(end, c->geo.origin_size >> SECTOR_SHIFT);
	return span->last - span->first + (bio_end_sector(bio) >= end);
}

/* A slot's all was read. */
static void count_over(struct nc_cache *c)
{
	u32 share = c->index.count - nc_reclaim_pinnable(c);

	if (atomic_inc_return(&c->transit.over) > share / PARTS)
		nc_transit_look(c);
}

/* Somebody reads.  Returns whether he is the first. */
static bool is_first(struct nc_cache *c, struct nc_slot *slot, u32 read)
{
	u8 was = change(slot, NC_AHEAD_UNREAD, read);
	u32 before = was & NC_AHEAD_TRANSIT, valid = hweight64(READ_ONCE(slot->valid));

	if (before && before <= valid && before + read > valid)
		count_over(c);
	return was & NC_AHEAD_UNREAD;
}

/**
 * nc_ahead_begin() - a prefetch is about to bring something into a slot
 * @c: live cache
 * @slot: just linked
 * @transit: it is of the transit share
 *
 * Context: the prefetch worker; the stripe lock of the slot's block is held.
 */
void nc_ahead_begin(struct nc_cache *c, struct nc_slot *slot, bool transit)
{
	struct nc_transit *t = &c->transit;
	u32 used;

	WRITE_ONCE(slot->tag.ahead, NC_AHEAD_UNREAD | transit);
	if (!(slot->tag.wants & NEARCACHE_RANGE_PIN))
		t->given++;
	if (!transit)
		return;
	WRITE_ONCE(t->pressed, false);
	used = atomic_inc_return(&t->used);
	if (used > t->own)
		WRITE_ONCE(t->own, used);
	if (READ_ONCE(t->wanted))
		WRITE_ONCE(t->wanted, READ_ONCE(t->wanted) - 1);
}

/**
 * nc_ahead_window() - a window is about to bring something into a slot
 * @slot: just linked
 *
 * Context: process; the stripe lock of the slot's block is held.
 */
void nc_ahead_window(struct nc_slot *slot)
{
	WRITE_ONCE(slot->tag.ahead, NC_AHEAD_UNREAD);
}

/**
 * nc_ahead_read() - the cache device serves a read of what a prefetch brought
 * @c: live cache
 * @slot: its slot, whose tag says so
 * @bio: read
 * @span: sub-blocks that it reads
 *
 * Context: any; nc_cache.holds is held.
 */
void nc_ahead_read(struct nc_cache *c, struct nc_slot *slot, const struct bio *bio,
		   const struct nc_span *span)
{
	if (is_first(c, slot, read_to_end(c, bio, span)))
		nc_ranges_count_used(c, slot, span->block);
}

/**
 * nc_ahead_joined() - a read waits for what a prefetch is bringing
 * @c: live cache
 * @slot: where to; it counts neither as used nor as wasted afterwards
 * @bio: read, cut to @span
 * @span: sub-blocks
 *
 * Context: the stripe lock is held.
 */
void nc_ahead_joined(struct nc_cache *c, struct nc_slot *slot, const struct bio *bio,
		     const struct nc_span *span)
{
	change(slot, NC_AHEAD_UNREAD, read_to_end(c, bio, span));
	nc_ranges_count_late(c, bio->bi_iter.bi_sector, bio->bi_iter.bi_size);
}

/**
 * nc_ahead_came() - a fill of a prefetch is over
 * @c: live cache
 * @slot: where to
 *
 * What brought nothing is not unread.  What readers joined may be read to its end already: of
 * that no hit tells.
 *
 * Context: the stripe lock is held.
 */
void nc_ahead_came(struct nc_cache *c, struct nc_slot *slot)
{
	if (!slot->valid)
		change(slot, NC_AHEAD_UNREAD, 0);
	else if (nc_ahead_is_over(slot))
		count_over(c);
}

/**
 * nc_ahead_is_over() - was all that is valid in a slot read in transit?
 * @slot: linked
 *
 * Context: any; a hint.
 */
bool nc_ahead_is_over(const struct nc_slot *slot)
{
	u8 read = READ_ONCE(slot->tag.ahead) & NC_AHEAD_TRANSIT;

	return read && read > hweight64(READ_ONCE(slot->valid));
}

/**
 * nc_ahead_stays() - a slot is not in transit any more, but one as others
 * @c: live cache
 * @slot: linked
 *
 * Context: the stripe lock is held.
 */
void nc_ahead_stays(struct nc_cache *c, struct nc_slot *slot)
{
	if (change(slot, NC_AHEAD_TRANSIT, 0) & NC_AHEAD_TRANSIT)
		atomic_dec(&c->transit.used);
}

/**
 * nc_ahead_gone() - a slot was taken from its block
 * @c: live cache
 * @slot: not reachable any more
 * @block: origin block
 *
 * Context: the reclaim worker.
 */
void nc_ahead_gone(struct nc_cache *c, struct nc_slot *slot, u64 block)
{
	u8 was = change(slot, NC_AHEAD_UNREAD | NC_AHEAD_TRANSIT, 0);

	if (was & NC_AHEAD_TRANSIT)
		atomic_dec(&c->transit.used);
	if (was & NC_AHEAD_UNREAD)
		nc_ranges_count_wasted(c, slot, block);
}

/**
 * nc_transit_due() - free slots that jobs wait for
 * @c: live cache
 *
 * What was used longest ago goes for them.
 *
 * Context: any; a hint.
 */
u32 nc_transit_due(const struct nc_cache *c)
{
	u32 wanted = READ_ONCE(c->transit.wanted), used, share;

	if (likely(!wanted))
		return 0;
	share = c->index.count - nc_reclaim_pinnable(c);
	used = atomic_read(&c->transit.used);
	return min(wanted, share - min(share, used));
}

/**
 * nc_transit_kept() - free slots that only jobs may have
 * @c: live cache
 *
 * Context: any; a hint.
 */
u32 nc_transit_kept(const struct nc_cache *c)
{
	u32 own = READ_ONCE(c->transit.own), used = atomic_read(&c->transit.used);

	return max(own - min(own, used), nc_transit_due(c));
}

/**
 * nc_transit_want() - a job found no slot, or nobody wants one any more
 * @c: live cache
 * @slots: that it could do with, in all
 *
 * Context: any.
 */
void nc_transit_want(struct nc_cache *c, u64 slots)
{
	WRITE_ONCE(c->transit.wanted, min_t(u64, slots, U32_MAX));
}

/**
 * nc_transit_look() - free what was read to its end in transit
 * @c: live cache
 *
 * Context: any.
 */
void nc_transit_look(struct nc_cache *c)
{
	if (!atomic_xchg(&c->transit.over, 0))
		return;
	nc_reclaim_again(c);
	nc_reclaim_check(c);
}
