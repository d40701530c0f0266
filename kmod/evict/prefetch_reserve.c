// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prefetched blocks, until readers have used them.
 *
 * In a full cache without idle blocks a prefetch job would find no slot.  Therefore reclaim
 * evicts least recently used blocks for jobs.  Their slots form the prefetch reserve.  Reclaim
 * evicts a block of the reserve when readers have finished it (have read all of its valid data),
 * so the reserve moves ahead of the readers.  Under the retention threshold some of these blocks
 * stay, and leave the reserve (retain_finished()).  Freed slots stay reserved for jobs: otherwise
 * each job would evict more of the other blocks.
 *
 * Other blocks lack the slots of the reserve, so readers miss more.  While reads queue at the
 * origin, these misses cost readers more time than the reserve saves: so the reserve then
 * shrinks.  Otherwise it grows, and jobs get farther ahead of their readers.
 *
 * A job that finds no slot waits for readers, without limit.  So no job that has to wait may take
 * the whole reserve: it leaves a part of what the other jobs do not hold.  Several jobs that wait
 * converge to equal shares, as readers free the slots of those that hold more.
 */
#include <linux/bio.h>

#include "evict/prefetch_reserve.h"
#include "cache.h"
#include "ranges/lookup.h"
#include "evict/free_slots.h"

/* Reclaim waits until readers finish 1 / PARTS of the reserve: a pass may visit all slots.  The
 * reserve shrinks by the same part, and jobs leave it to others.
 */
#define PARTS	8U
/* Time in jiffies for which reads of jobs must not queue at the origin before the reserve grows
 * again.  Each growth evicts blocks, which readers will miss.
 */
#define CALM		(30UL * HZ)
/* Age in ticks from which unread blocks of a job that is over may be evicted for a waiting job. */
#define LEFT_TICKS	2U

/* Minimum size of the reserve: 1 / LEAST_PART of the slots, or LEAST slots if that is more. */
#define LEAST_PART	400U
#define LEAST		8U

/* Maximum size: the slots that pins may not take. */
static u32 reserve_most(const struct nc_cache *c)
{
	return c->index.count - nc_index_pinnable(&c->index);
}

/* Number of slots of the reserve. */
static u32 reserve_size(const struct nc_cache *c)
{
	u32 least = max(c->index.count / LEAST_PART, LEAST);

	return min(max(READ_ONCE(c->slots.reserve.limit), least), reserve_most(c));
}

/* Adapt the size of the reserve, because a job waits for a slot.  @queue: reads of jobs queue at
 * the origin: the reserve shrinks; otherwise it grows, unless they queued in the last CALM.
 * Context: the prefetch worker.
 */
void nc_reserve_fit(struct nc_cache *c, bool queue)
{
	struct nc_prefetch_reserve *r = &c->slots.reserve;
	u32 size = reserve_size(c);

	if (queue)
		r->shrunk = jiffies;
	else if (r->queued && time_before(jiffies, r->shrunk + CALM))
		return;
	r->queued = queue;
	WRITE_ONCE(r->limit, queue ? size - size / PARTS :
			     min(size + size / PARTS + 1, reserve_most(c)));
	WRITE_ONCE(r->own, min(READ_ONCE(r->own), reserve_size(c)));
}

/* Number of the job that brought the block, see nc_reserve_join(); 0: none. */
static u32 slot_job(const struct nc_slot *slot)
{
	return READ_ONCE(slot->flags) >> NC_SLOT_JOB_SHIFT;
}

/* Clear the bits @clear of nc_tag.ahead, count @read sub-blocks as read, and return the old value.
 * Exchanges the whole tag, because hits call this without a lock while the label may change.
 */
static u8 change_tag(struct nc_slot *slot, u8 clear, u32 read)
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

/* Number of sub-blocks of @span that @bio reads to their last sector, so that a sequence of small
 * reads counts each sub-block once.
 */
static u32 read_to_end(const struct nc_cache *c, const struct bio *bio, const struct nc_span *span)
{
	u64 end = (span->block << c->hot.block_shift) + ((u64)(span->last + 1) << c->hot.sub_shift);

	end = min(end, c->geo.origin_size >> SECTOR_SHIFT);
	return span->last - span->first + (bio_end_sector(bio) >= end);
}

/* Count a slot of the reserve that readers have finished; start reclaim after enough of them. */
static void count_over(struct nc_cache *c)
{
	if (atomic_inc_return(&c->slots.reserve.over) > reserve_size(c) / PARTS)
		nc_reserve_look(c);
	nc_reserve_wake(c);
}

/* Count a read of @read prefetched sub-blocks.  Returns whether it is the slot's first read. */
static bool is_first(struct nc_cache *c, struct nc_slot *slot, u32 read)
{
	u8 was = change_tag(slot, NC_AHEAD_UNREAD, read);
	u32 before = was & NC_AHEAD_RESERVE, valid = hweight64(READ_ONCE(slot->valid));

	if (before && before <= valid && before + read > valid)
		count_over(c);
	else if (was & NC_AHEAD_UNREAD)
		nc_reserve_wake(c);
	return was & NC_AHEAD_UNREAD;
}

/**
 * nc_prefetched_begin() - mark a slot that a prefetch job is about to fill
 * @c: live cache
 * @slot: just linked
 * @reserve: the slot belongs to the prefetch reserve
 *
 * Context: the prefetch worker; the bucket lock of the slot's block is held.
 */
void nc_prefetched_begin(struct nc_cache *c, struct nc_slot *slot, bool reserve)
{
	struct nc_prefetch_reserve *t = &c->slots.reserve;
	u32 used;

	WRITE_ONCE(slot->tag.ahead, NC_AHEAD_UNREAD | reserve);
	WRITE_ONCE(slot->flags, slot->flags | t->taker << NC_SLOT_JOB_SHIFT);
	if (!reserve)
		return;
	WRITE_ONCE(t->pressed, false);
	atomic_inc(&t->held[t->taker]);
	used = atomic_inc_return(&t->used);
	if (used > READ_ONCE(t->own))
		WRITE_ONCE(t->own, used);
	if (READ_ONCE(t->wanted))
		WRITE_ONCE(t->wanted, READ_ONCE(t->wanted) - 1);
}

/**
 * nc_prefetched_refill() - as nc_prefetched_begin(), for a slot that the block already has
 * @c: live cache
 * @slot: linked, without valid data or fills: an invalidation has emptied it
 *
 * A slot of the reserve stays in it, and belongs to the present job.
 *
 * Context: the prefetch worker; the bucket lock of the slot's block is held.
 */
void nc_prefetched_refill(struct nc_cache *c, struct nc_slot *slot)
{
	struct nc_prefetch_reserve *r = &c->slots.reserve;
	bool reserve = READ_ONCE(slot->tag.ahead) & NC_AHEAD_RESERVE;

	if (reserve) {
		atomic_dec(&r->held[slot_job(slot)]);
		atomic_inc(&r->held[r->taker]);
	}
	WRITE_ONCE(slot->tag.ahead, NC_AHEAD_UNREAD | reserve);
	WRITE_ONCE(slot->flags, (slot->flags & (BIT(NC_SLOT_JOB_SHIFT) - 1)) |
				r->taker << NC_SLOT_JOB_SHIFT);
}

/* As nc_prefetched_begin(), for a readahead window.  Context: process; the bucket lock is held. */
void nc_prefetched_window(struct nc_slot *slot)
{
	WRITE_ONCE(slot->tag.ahead, NC_AHEAD_UNREAD);
}

/**
 * nc_prefetched_read() - count a hit on prefetched data
 * @c: live cache
 * @slot: slot of the hit; its nc_tag.ahead is not 0
 * @bio: read
 * @span: sub-blocks that @bio reads in the slot
 *
 * Context: any; inside a hit section.
 */
void nc_prefetched_read(struct nc_cache *c, struct nc_slot *slot, const struct bio *bio,
			const struct nc_span *span)
{
	if (is_first(c, slot, read_to_end(c, bio, span)))
		nc_ranges_count_used(c, slot, span->block);
}

/**
 * nc_prefetched_joined() - count a read that joins a fill of a prefetch
 * @c: live cache
 * @slot: slot of the fill; after this call its block counts neither as used nor as wasted
 * @bio: read, cut to @span
 * @span: sub-blocks that @bio reads in the slot
 *
 * Context: the bucket lock is held.
 */
void nc_prefetched_joined(struct nc_cache *c, struct nc_slot *slot, const struct bio *bio,
			  const struct nc_span *span)
{
	change_tag(slot, NC_AHEAD_UNREAD, read_to_end(c, bio, span));
	nc_ranges_count_late(c, bio->bi_iter.bi_sector, bio->bi_iter.bi_size);
}

/*
 * Handle the end of a prefetch's fill, which may have failed.  If readers that joined the fill have
 * read all of its data, no hit follows, so count the slot as finished here.  A slot without valid
 * data loses its mark: the caller knows that no other prefetch of its block is under way.  If the
 * fill of one job fails and that of another job brings the data, the slot counts for the first job:
 * its cancellation frees the slot early, and an eviction is taken from its progress.
 *
 * Context: the bucket lock is held.
 */
void nc_prefetched_came(struct nc_cache *c, struct nc_slot *slot)
{
	if (!slot->valid) {
		change_tag(slot, NC_AHEAD_UNREAD, 0);
		nc_reserve_wake(c);
	} else if (nc_prefetched_is_over(slot)) {
		count_over(c);
	}
}

/* Is the slot in the reserve, and have readers finished it?  Context: any; a hint. */
bool nc_prefetched_is_over(const struct nc_slot *slot)
{
	u8 read = READ_ONCE(slot->tag.ahead) & NC_AHEAD_RESERVE;

	return read && read > hweight64(READ_ONCE(slot->valid));
}

/* May the unread block be evicted for a job that has waited long?  Not while the job that brought
 * it is unfinished.  If that job was cancelled, no reader is expected.  Context: any; a hint.
 */
bool nc_prefetched_is_left(const struct nc_cache *c, const struct nc_slot *slot, u32 ticks)
{
	const struct nc_prefetch_reserve *r = &c->slots.reserve;
	u32 number = slot_job(slot);

	if (!(READ_ONCE(slot->tag.ahead) & NC_AHEAD_RESERVE) || !READ_ONCE(r->pressed) ||
	    READ_ONCE(r->jobs[number]))
		return false;
	return READ_ONCE(r->cancelled) & BIT(number) ||
	       (ticks >= LEFT_TICKS && ticks < NC_STAMP_FAR);
}

static void leave_reserve(struct nc_cache *c, const struct nc_slot *slot)
{
	atomic_dec(&c->slots.reserve.used);
	atomic_dec(&c->slots.reserve.held[slot_job(slot)]);
}

/* Take a slot out of the reserve, but keep its block.  Context: the bucket lock is held. */
void nc_prefetched_stays(struct nc_cache *c, struct nc_slot *slot)
{
	if (change_tag(slot, NC_AHEAD_RESERVE, 0) & NC_AHEAD_RESERVE)
		leave_reserve(c, slot);
}

/* Did an earlier job of the same number bring the unread block?  A write, which moves the stamp
 * ahead of the clock, hides this.
 */
static bool is_older(const struct nc_cache *c, const struct nc_slot *slot, u32 number)
{
	u32 now = READ_ONCE(c->hot.now), age = (now - READ_ONCE(slot->stamp)) & NC_STAMP_TICK;

	return age < NC_STAMP_FAR && age > now - READ_ONCE(c->slots.reserve.joined[number]);
}

/* Take an unlinked slot out of the reserve; count unread data as wasted.  Context: reclaim. */
void nc_prefetched_gone(struct nc_cache *c, struct nc_slot *slot, u64 block)
{
	u8 was = change_tag(slot, NC_AHEAD_UNREAD | NC_AHEAD_RESERVE, 0);
	u32 number = slot_job(slot);

	if (was & NC_AHEAD_RESERVE)
		leave_reserve(c, slot);
	if (!(was & NC_AHEAD_UNREAD))
		return;
	nc_ranges_count_wasted(c, slot, block);
	/* With several jobs of this number the loss could be of any of them. */
	if (READ_ONCE(c->slots.reserve.jobs[number]) == 1 && !is_older(c, slot, number))
		c->slots.reserve.lost(c, number,
				      (u64)hweight64(slot->valid) * c->geo.subblock_size);
}

/* Number of slots that jobs wait for and that the reserve may still get: reclaim evicts the least
 * recently used blocks for them.  Context: any; a hint.
 */
u32 nc_reserve_due(const struct nc_cache *c)
{
	u32 wanted = READ_ONCE(c->slots.reserve.wanted), used, size;

	if (likely(!wanted))
		return 0;
	size = reserve_size(c);
	used = atomic_read(&c->slots.reserve.used);
	return min(wanted, size - min(size, used));
}

/* Number of free slots that only jobs may take.  Context: any; a hint. */
u32 nc_reserve_kept(const struct nc_cache *c)
{
	u32 own = READ_ONCE(c->slots.reserve.own), used = atomic_read(&c->slots.reserve.used);

	return max(own - min(own, used), nc_reserve_due(c));
}

/* Let the reserve own the slots that a pass of reclaim has freed for jobs, up to its size, unless
 * no job waits any more.  @used: nc_prefetch_reserve.used before the pass; @freed: number of these
 * slots.  Jobs may take them slowly.  Reads that miss would take them as ordinary free slots, and
 * then reclaim would evict more blocks for the same jobs.  Context: the reclaim worker.
 */
void nc_reserve_gain(struct nc_cache *c, u32 used, u32 freed)
{
	struct nc_prefetch_reserve *r = &c->slots.reserve;
	u32 own = min(used + freed, reserve_size(c));

	if (READ_ONCE(r->wanted) && own > READ_ONCE(r->own))
		WRITE_ONCE(r->own, own);
}

/* Set the number of slots that a job could use but did not find; 0: no job waits.  Context: any. */
void nc_reserve_want(struct nc_cache *c, u64 slots)
{
	WRITE_ONCE(c->slots.reserve.wanted, min_t(u64, slots, U32_MAX));
}

/* Start reclaim if there are finished slots of the reserve to free.  Context: any. */
void nc_reserve_look(struct nc_cache *c)
{
	if (!atomic_xchg(&c->slots.reserve.over, 0))
		return;
	nc_slots_look_again(c);
	nc_slots_check(c);
}

/**
 * nc_reserve_wake() - let jobs that wait for a slot try again
 * @c: cache
 *
 * For callers that freed a slot, made a block evictable, or gave a slot to a block.
 *
 * Context: any.
 */
void nc_reserve_wake(struct nc_cache *c)
{
	struct nc_prefetch_reserve *r = &c->slots.reserve;

	if (likely(!READ_ONCE(r->waiters)))
		return;
	/* If @woken is set, the worker's next try sees the caller's change.  Orders the change
	 * before the look at @woken; pairs with the exchange in retry_waiting().  Most callers only
	 * read @woken, and leave its cache line shared.
	 */
	smp_mb();
	if (!atomic_read(&r->woken) && !atomic_xchg(&r->woken, 1))
		r->wake(c);
}

/**
 * nc_reserve_join() - get a number for a job that begins to take slots
 * @c: live cache
 *
 * The slots of its blocks carry the number.  A number is used again as late as possible, and while
 * others are free not while slots of the reserve carry it: blocks of the job before are in these.
 *
 * Context: the prefetch worker.
 * Return: the number, which the caller gives back with nc_reserve_leave().
 */
u32 nc_reserve_join(struct nc_cache *c)
{
	struct nc_prefetch_reserve *r = &c->slots.reserve;
	u32 number = r->last, spare = 0, tries;

	for (tries = 1; tries < NC_RESERVE_JOBS; tries++) {
		number = number % (NC_RESERVE_JOBS - 1) + 1;
		if (r->jobs[number])
			continue;
		if (!atomic_read(&r->held[number]))
			break;
		spare = spare ?: number;
	}
	if (tries == NC_RESERVE_JOBS)
		number = spare ?: NC_RESERVE_JOBS - 1;
	r->last = number;
	if (!r->jobs[number])
		WRITE_ONCE(r->joined[number], READ_ONCE(c->hot.now));
	WRITE_ONCE(r->cancelled, r->cancelled & ~BIT(number));
	WRITE_ONCE(r->jobs[number], r->jobs[number] + 1);
	return number;
}

/* Give a job's number back: readers need no more of it if it was @cancelled.  Context: the prefetch
 * worker.
 */
void nc_reserve_leave(struct nc_cache *c, u32 number, bool cancelled)
{
	struct nc_prefetch_reserve *r = &c->slots.reserve;

	WRITE_ONCE(r->jobs[number], r->jobs[number] - 1);
	if (cancelled && !r->jobs[number])
		WRITE_ONCE(r->cancelled, r->cancelled | BIT(number));
}

/* Number of slots that nc_prefetch_reserve.taker may still take from the reserve.  A job that needs
 * no more than there are may take all: it is then over.  Another job, which may have to wait,
 * leaves 1 / PARTS of the slots that no other job holds, at least one, to jobs that come later.
 */
u32 nc_reserve_room(const struct nc_cache *c)
{
	const struct nc_prefetch_reserve *r = &c->slots.reserve;
	u32 used = atomic_read(&r->used), size = reserve_size(c), mine, most;

	if (r->need <= size - min(size, used))
		return size - min(size, used);
	mine = min_t(u32, atomic_read(&r->held[r->taker]), used);
	most = size - min(size, used - mine);
	if (most > 1)
		most -= max(most / PARTS, 1U);
	return most - min(most, mine);
}
