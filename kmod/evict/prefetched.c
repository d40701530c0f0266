// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prefetched blocks, until a reader has used them.
 *
 * In a full cache without idle blocks a prefetch job would find no slot.  The prefetch reserve,
 * as many slots as cannot be pinned, provides some: while jobs want them, the least recently
 * used blocks are evicted for them, once.  A slot of the reserve (in transit) is freed when all
 * of its valid data was read, so the reserve moves ahead of the readers.  Its slots then stay
 * with it for the next job: otherwise each job would evict more of the policy's blocks.
 */
#include <linux/bio.h>

#include "evict/prefetched.h"
#include "cache.h"
#include "io/fill.h"
#include "ranges/lookup.h"
#include "evict/reclaim.h"

/* Reclaim looks for finished slots once 1 / PARTS of the reserve was read: a pass may visit all
 * slots.
 */
#define PARTS	8U

/* Clear bits of the tag and count sub-blocks as read.  Hits do this without a lock, concurrently
 * with changes of the ranges' part, so it exchanges the whole tag.  Returns the old value.
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

/* Number of sub-blocks of @span that @bio reads to their last sector, so that a sequence of small
 * reads counts each sub-block once.
 */
static u32 read_to_end(const struct nc_cache *c, const struct bio *bio, const struct nc_span *span)
{
	u64 end = (span->block << c->block_shift) + ((u64)(span->last + 1) << c->sub_shift);

	end = min(end, c->geo.origin_size >> SECTOR_SHIFT);
	return span->last - span->first + (bio_end_sector(bio) >= end);
}

/* All of a slot in transit was read. */
static void count_over(struct nc_cache *c)
{
	u32 share = c->index.count - nc_reclaim_pinnable(c);

	if (atomic_inc_return(&c->transit.over) > share / PARTS)
		nc_transit_look(c);
}

/* Count a read of prefetched data.  Returns whether it is the first. */
static bool is_first(struct nc_cache *c, struct nc_slot *slot, u32 read)
{
	u8 was = change(slot, NC_AHEAD_UNREAD, read);
	u32 before = was & NC_AHEAD_TRANSIT, valid = hweight64(READ_ONCE(slot->valid));

	if (before && before <= valid && before + read > valid)
		count_over(c);
	return was & NC_AHEAD_UNREAD;
}

/**
 * nc_ahead_begin() - mark a slot that a prefetch job will fill
 * @c: live cache
 * @slot: just linked
 * @transit: it belongs to the prefetch reserve
 *
 * Context: the prefetch worker; the bucket lock of the slot's block is held.
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

/* Mark a just linked slot for a readahead window.  Process context; bucket lock is held. */
void nc_ahead_window(struct nc_slot *slot)
{
	WRITE_ONCE(slot->tag.ahead, NC_AHEAD_UNREAD);
}

/**
 * nc_ahead_read() - count a hit on prefetched data
 * @c: live cache
 * @slot: slot with nc_tag.ahead
 * @bio: read
 * @span: sub-blocks that it reads
 *
 * Context: any; inside a hit section.
 */
void nc_ahead_read(struct nc_cache *c, struct nc_slot *slot, const struct bio *bio,
		   const struct nc_span *span)
{
	if (is_first(c, slot, read_to_end(c, bio, span)))
		nc_ranges_count_used(c, slot, span->block);
}

/**
 * nc_ahead_joined() - count a read that joins a fill of a prefetch
 * @c: live cache
 * @slot: of the fill; afterwards it counts neither as used nor as wasted
 * @bio: read, cut to @span
 * @span: sub-blocks
 *
 * Context: the bucket lock is held.
 */
void nc_ahead_joined(struct nc_cache *c, struct nc_slot *slot, const struct bio *bio,
		     const struct nc_span *span)
{
	change(slot, NC_AHEAD_UNREAD, read_to_end(c, bio, span));
	nc_ranges_count_late(c, bio->bi_iter.bi_sector, bio->bi_iter.bi_size);
}

/*
 * A fill of a prefetch ended, perhaps without valid data.  Readers that joined it may
 * have read all of it already; then no hit will follow to report this.
 *
 * Context: the bucket lock is held.
 */
void nc_ahead_came(struct nc_cache *c, struct nc_slot *slot)
{
	if (!slot->valid)
		change(slot, NC_AHEAD_UNREAD, 0);
	else if (nc_ahead_is_over(slot))
		count_over(c);
}

/* Was all valid data of a slot in transit read?  Context: any; a hint. */
bool nc_ahead_is_over(const struct nc_slot *slot)
{
	u8 read = READ_ONCE(slot->tag.ahead) & NC_AHEAD_TRANSIT;

	return read && read > hweight64(READ_ONCE(slot->valid));
}

/* Make a slot in transit an ordinary one.  Context: the bucket lock is held. */
void nc_ahead_stays(struct nc_cache *c, struct nc_slot *slot)
{
	if (change(slot, NC_AHEAD_TRANSIT, 0) & NC_AHEAD_TRANSIT)
		atomic_dec(&c->transit.used);
}

/* A slot lost its block and is not reachable any more.  Context: the reclaim worker. */
void nc_ahead_gone(struct nc_cache *c, struct nc_slot *slot, u64 block)
{
	u8 was = change(slot, NC_AHEAD_UNREAD | NC_AHEAD_TRANSIT, 0);

	if (was & NC_AHEAD_TRANSIT)
		atomic_dec(&c->transit.used);
	if (was & NC_AHEAD_UNREAD)
		nc_ranges_count_wasted(c, slot, block);
}

/*
 * Number of free slots that jobs wait for; reclaim evicts the least recently used blocks for
 * them.  Context: any; a hint.
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

/* Number of free slots that only jobs may take.  Context: any; a hint. */
u32 nc_transit_kept(const struct nc_cache *c)
{
	u32 own = READ_ONCE(c->transit.own), used = atomic_read(&c->transit.used);

	return max(own - min(own, used), nc_transit_due(c));
}

/* Set the number of slots that a job could use but did not find; 0: no job waits.  Context: any. */
void nc_transit_want(struct nc_cache *c, u64 slots)
{
	WRITE_ONCE(c->transit.wanted, min_t(u64, slots, U32_MAX));
}

/* Have reclaim free slots in transit that were read completely.  Context: any. */
void nc_transit_look(struct nc_cache *c)
{
	if (!atomic_xchg(&c->transit.over, 0))
		return;
	nc_reclaim_again(c);
	nc_reclaim_check(c);
}
