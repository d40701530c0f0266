// SPDX-License-Identifier: GPL-2.0-only
/*
 * The read path.  A read is cut at the end of its block and where its sub-blocks change
 * between valid and missing; the piece is a hit, a miss or a bypass as a whole, and
 * device-mapper sends the rest again.
 *
 * A hit takes no lock, allocates nothing and writes no shared cache line except its slot's
 * stamp, once per tick of the policy's clock.  The bio is remapped to the cache device and
 * its payload is not touched.  The hit section (nc_cache.holds) lasts from the look-up to
 * the completion; a slot gets another block only after all hit sections that began before
 * its unlinking have ended.
 *
 * map() never sleeps (DM_TARGET_NOWAIT).
 */
#include <linux/memremap.h>

#include "cache.h"
#include "io/verify.h"
#include "io/fill.h"
#include "io/invalidate.h"
#include "core/bio.h"
#include "meta/members.h"
#include "io/miss.h"
#include "io/observe.h"
#include "io/origin_retry.h"
#include "io/read.h"

/* Sub-blocks that a read touches in its first block. */
static struct nc_span span_of(const struct nc_cache *c,
			      const struct bvec_iter *iter)
{
	sector_t sector = iter->bi_sector;
	u32 mask = c->block_mask;
	u32 start = (u32)sector & mask;
	u32 end = min(start + (iter->bi_size >> SECTOR_SHIFT) - 1, mask);

	return (struct nc_span) {
		.block = sector >> c->block_shift,
		.first = start >> c->sub_shift,
		.last = end >> c->sub_shift,
	};
}

/* Add this processor's bytes to the policy's clock. */
static noinline void set_clock(struct nc_cache *c)
{
	u64 held = this_cpu_xchg(c->stats->clock_bytes, 0);
	u32 now = (u32)div64_u64(atomic64_add_return(held, &c->clock), c->tick_bytes);
	/* The tick never decreases: another CPU may come here with an older sum. */
	u32 old = READ_ONCE(c->now);

	while ((s32)(now - old) > 0 && !try_cmpxchg(&c->now, &old, now))
		;
}

/* Count @bytes read through the device. */
static __always_inline void pass(struct nc_cache *c, u32 bytes)
{
	if (unlikely(this_cpu_add_return(c->stats->clock_bytes, bytes) > c->clock_portion))
		set_clock(c);
}

/* nc_read_take() without a function call on the hit path. */
static __always_inline void take(struct nc_cache *c, struct bio *bio, u32 sectors)
{
	if (unlikely(sectors < bio_sectors(bio)))
		dm_accept_partial_bio(bio, sectors);
	pass(c, bio->bi_iter.bi_size);
}

/**
 * nc_read_take() - cut a read and advance the policy's clock by the piece
 * @c: live cache
 * @bio: read
 * @sectors: length of the piece; device-mapper sends the rest again
 *
 * Context: map of @bio; once for each piece.
 */
void nc_read_take(struct nc_cache *c, struct bio *bio, u32 sectors)
{
	take(c, bio, sectors);
}

/* Show the policy a read of a sampled block, unless it is busy: a sample may be lost. */
static noinline void see(struct nc_cache *c, u64 block, bool cached)
{
	if (!spin_trylock(&c->policy_lock))
		return;
	c->policy_ops->read(&c->policy, block, READ_ONCE(c->now), cached);
	spin_unlock(&c->policy_lock);
}

/* First hit of a slot in this tick. */
static noinline void use(struct nc_cache *c, struct nc_slot *slot, u32 now)
{
	u64 block = nc_slot_block(slot);

	WRITE_ONCE(slot->stamp, (now & NC_STAMP_TICK) | NC_STAMP_REUSED);
	if (nc_ghost_samples(&c->policy.ghost, block))
		see(c, block, true);
}

/* Update the slot's stamp.  Inside a hit section. */
static __always_inline void touch(struct nc_cache *c, struct nc_slot *slot)
{
	u32 now = READ_ONCE(c->now);

	if (unlikely((READ_ONCE(slot->stamp) ^ now) & NC_STAMP_TICK))
		use(c, slot, now);
}

struct nc_span nc_read_span(const struct nc_cache *c,
			    const struct bvec_iter *iter)
{
	return span_of(c, iter);
}

/**
 * nc_read_cached() - test whether the start of a span is cached
 * @c: live cache
 * @span: sub-blocks; shortened to those that the answer applies to
 *
 * Context: any; a hint.
 */
bool nc_read_cached(struct nc_cache *c, struct nc_span *span)
{
	u64 valid = 0, border;
	int hold;
	u32 i;

	hold = nc_holds_take(&c->holds);
	i = nc_index_find(&c->index, span->block);
	if (i != NC_NIL)
		valid = READ_ONCE(c->index.slots[i].valid) >> span->first;
	nc_holds_give(&c->holds, hold);
	border = valid & 1 ? ~valid : valid;
	if (border)
		span->last = min_t(u32, span->last, span->first + __ffs64(border) - 1);
	return valid & 1;
}

/* Update the stamp of slot @i.  Inside a hit section. */
void nc_read_touch(struct nc_cache *c, u32 i)
{
	touch(c, &c->index.slots[i]);
}

static int to_origin(struct nc_target *t, struct bio *bio)
{
	bio_set_dev(bio, t->origin->bdev);
	return DM_MAPIO_REMAPPED;
}

static int bypass(struct nc_target *t, struct bio *bio,
		  enum nearcache_counter counter, enum nearcache_verdict verdict)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));

	io->kind = NC_IO_BYPASS;
	io->counter = counter;
	io->iter = bio->bi_iter;
	io->flags = bio->bi_flags;
	nc_prefetch_demand(t->cache);
	nc_observe(t->cache, bio, verdict);
	return to_origin(t, bio);
}

#define BYPASS(t, bio, reason)						\
	bypass(t, bio, NEARCACHE_COUNTER_BYPASS_##reason,		\
	       NEARCACHE_VERDICT_BYPASS_##reason)

/**
 * nc_read_memory_fits() - test whether the cache device accepts the memory of a read
 * @c: live cache
 * @bio: read
 * @sectors: from its start
 *
 * The cache device may need stricter alignment than the origin.  A stacked device with larger
 * logical blocks (dm-crypt) needs each segment to be whole blocks.
 */
bool nc_read_memory_fits(const struct nc_cache *c, const struct bio *bio,
			 u32 sectors)
{
	u32 mask = c->cache_lbs_mask ?
		   (c->cache_lbs_mask << SECTOR_SHIFT) | (SECTOR_SIZE - 1) :
		   c->cache_dma_mask;
	struct bvec_iter iter, start = bio->bi_iter;
	struct bio_vec bv;

	start.bi_size = sectors << SECTOR_SHIFT;
	__bio_for_each_bvec(bv, bio, iter, start)
		if (bv.bv_offset & c->cache_dma_mask || bv.bv_len & mask)
			return false;
	return true;
}

/* Shorten a hit to whole logical blocks of the cache device.  Returns false if the start is
 * not aligned, with *sectors reaching to the next boundary, or if the piece is less than a
 * block.  Also returns false if the device does not accept the memory; the rest of a read
 * that is cut this way may be accepted.
 */
static bool align_hit(const struct nc_cache *c, const struct bio *bio,
		      u32 *sectors)
{
	u32 odd = bio->bi_iter.bi_sector & c->cache_lbs_mask;

	if (odd) {
		*sectors = min(*sectors, c->cache_lbs_mask + 1 - odd);
		return false;
	}
	if (*sectors <= c->cache_lbs_mask)
		return false;
	*sectors &= ~c->cache_lbs_mask;
	return !(c->cache_lbs_mask | c->cache_dma_mask) ||
	       nc_read_memory_fits(c, bio, *sectors);
}

/* A hit while hits are checked or a plan needs them.  Returns true if the caller continues with
 * an ordinary hit; otherwise *r is the result of map.
 */
static noinline bool checked(struct nc_target *t, struct bio *bio,
			     struct nc_span *span, u32 i, int hold, int *r)
{
	sector_t first = bio->bi_iter.bi_sector, end = bio_end_sector(bio);
	struct nc_cache *c = t->cache;
	enum nc_check check = nc_check_hit(t, bio, span, i, hold);

	if (nc_foresight_any(c) && (check == NC_CHECK_DIRECT || check == NC_CHECK_STARTED))
		nc_foresight_read(c, span, first, end, true);
	switch (check) {
	case NC_CHECK_DIRECT:
		return true;
	case NC_CHECK_STARTED:
		*r = DM_MAPIO_SUBMITTED;
		return false;
	case NC_CHECK_GONE:
		*r = -EAGAIN;
		break;
	case NC_CHECK_MEMORY:
		nc_read_take(c, bio, nc_read_sectors(c, bio, span));
		*r = BYPASS(t, bio, MEMORY);
		break;
	case NC_CHECK_P2P:
		nc_read_take(c, bio, nc_read_sectors(c, bio, span));
		*r = BYPASS(t, bio, P2P);
		break;
	}
	nc_holds_give(&c->holds, hold);
	return false;
}

/* Remap a hit to the cache device and save the original for a retry. */
static __always_inline void remap(struct nc_target *t, struct bio *bio, struct nc_io *io, u32 i)
{
	u32 offset = (u32)bio->bi_iter.bi_sector & t->cache->block_mask;
	sector_t place;

	io->slot = i;
	io->iter = bio->bi_iter;
	io->flags = bio->bi_flags;
	bio_set_dev(bio, nc_members_place(t, i, &place));
	bio->bi_iter.bi_sector = place + offset;
}

/*
 * A hit: the first sub-block is valid in slot @i; take the valid run that starts there.
 * Inside a hit section; a remapped hit stays in it.
 */
static int hit(struct nc_target *t, struct bio *bio, struct nc_span *span,
	       u32 i, u64 valid, struct nc_io *io)
{
	struct nc_cache *c = t->cache;
	u64 missing = ~valid >> span->first;
	u32 run = missing ? __ffs64(missing) : NEARCACHE_SUBBLOCKS_MAX;
	u32 tagged = READ_ONCE(c->index.slots[i].tagged);
	bool partial = run <= span->last - span->first;
	bool aligned;
	u32 sectors;
	int r;

	if (unlikely(partial)) {
		span->last = span->first + run - 1;
		nc_count(c, PARTIALS);
	}
	nc_stream_admits(c, bio, io, span, NEARCACHE_VERDICT_HIT);
	io->label = nc_tag_of(tagged).label;
	if (unlikely(nc_tag_of(tagged).ahead))
		nc_ahead_read(c, &c->index.slots[i], bio, span);
	if (unlikely(READ_ONCE(c->checks))) {
		io->partial = partial;
		if (!checked(t, bio, span, i, io->hold, &r))
			return r;
	}
	sectors = nc_read_sectors(c, bio, span);
	aligned = align_hit(c, bio, &sectors);
	take(c, bio, sectors);
	if (unlikely(!aligned)) {
		nc_holds_give(&c->holds, io->hold);
		return BYPASS(t, bio, UNALIGNED);
	}
	touch(c, &c->index.slots[i]);
	nc_observe(c, bio, partial ? NEARCACHE_VERDICT_PARTIAL : NEARCACHE_VERDICT_HIT);
	io->kind = NC_IO_HIT;
	remap(t, bio, io, i);
	return DM_MAPIO_REMAPPED;
}

/* The fill counts the miss, because a queued bio may complete at any moment.  @cached: the block
 * has a slot.
 */
static int miss(struct nc_target *t, struct bio *bio, struct nc_span *span, struct nc_io *io,
		bool cached)
{
	struct nc_cache *c = t->cache;

	/* Another device's memory: the CPU must not copy data into it. */
	if (unlikely(is_pci_p2pdma_page(bio_page(bio)))) {
		nc_read_take(c, bio, nc_read_sectors(c, bio, span));
		return BYPASS(t, bio, P2P);
	}
	if (unlikely(nc_ranges_any(c)) && nc_ranges_bypassed(c, span)) {
		nc_read_take(c, bio, nc_read_sectors(c, bio, span));
		return BYPASS(t, bio, RANGE);
	}
	if (unlikely(!nc_stream_admits(c, bio, io, span, NEARCACHE_VERDICT_MISS)) &&
	    !nc_ranges_pinned(c, span->block)) {
		nc_read_take(c, bio, nc_read_sectors(c, bio, span));
		return BYPASS(t, bio, ADVICE);
	}
	/* The policy sees only reads that may be cached. */
	if (nc_ghost_samples(&c->policy.ghost, span->block))
		see(c, span->block, cached);
	switch (nc_miss_read(t, bio, span)) {
	case NC_MISS_STARTED:
	case NC_MISS_JOINED:
		return DM_MAPIO_SUBMITTED;
	case NC_MISS_FULL:
		nc_read_take(c, bio, nc_read_sectors(c, bio, span));
		return BYPASS(t, bio, FULL);
	case NC_MISS_MEMORY:
		nc_read_take(c, bio, nc_read_sectors(c, bio, span));
		return BYPASS(t, bio, MEMORY);
	case NC_MISS_WRITE:
		nc_read_take(c, bio, nc_read_sectors(c, bio, span));
		return BYPASS(t, bio, WRITE);
	case NC_MISS_VALID:
		break;
	}
	return -EAGAIN;
}

/* A miss while a plan is active: report it to the plan once its fate is known. */
static noinline int planned_miss(struct nc_target *t, struct bio *bio, struct nc_span *span,
				 struct nc_io *io, bool cached)
{
	sector_t first = bio->bi_iter.bi_sector, end = bio_end_sector(bio);
	int r = miss(t, bio, span, io, cached);

	if (r != -EAGAIN)
		nc_foresight_read(t->cache, span, first, end, false);
	return r;
}

/* Slow path: a read that is not a plain hit. */
static noinline int long_way(struct nc_target *t, struct bio *bio, struct nc_io *io)
{
	struct nc_cache *c = t->cache;
	struct nc_span span;
	u64 valid;
	int r;
	u32 i;

	memset(&io->state, 0, sizeof(io->state));
	io->kind = NC_IO_ORIGIN;
	if (unlikely(!bio_sectors(bio)))
		return to_origin(t, bio);
	if (unlikely(READ_ONCE(c->gate)) && !nc_health_admit(c))
		return BYPASS(t, bio, STATE);
	do {
		span = span_of(c, &bio->bi_iter);
		io->hold = nc_holds_take(&c->holds);
		i = nc_index_find(&c->index, span.block);
		valid = i == NC_NIL ? 0 : READ_ONCE(c->index.slots[i].valid);
		if (likely(valid & BIT_ULL(span.first))) {
			r = hit(t, bio, &span, i, valid, io);
			continue;
		}
		nc_holds_give(&c->holds, io->hold);
		valid >>= span.first;
		if (valid)
			span.last = min_t(u32, span.last, span.first + __ffs64(valid) - 1);
		r = likely(!nc_foresight_any(c)) ? miss(t, bio, &span, io, i != NC_NIL) :
						   planned_miss(t, bio, &span, io, i != NC_NIL);
	} while (r == -EAGAIN);
	return r;
}

/* Is any tracepoint enabled that reports hits? */
static __always_inline bool is_watched(void)
{
	return tracepoint_enabled(nearcache_classify) || tracepoint_enabled(nearcache_access) ||
	       tracepoint_enabled(nearcache_done) || tracepoint_enabled(nearcache_latency);
}

/* Report a plain hit; if a tracepoint wants its completion, make it an ordinary hit. */
static noinline void tell(struct nc_cache *c, struct bio *bio, struct nc_io *io)
{
	struct nc_span span = span_of(c, &bio->bi_iter);

	nc_stream_admits(c, bio, io, &span, NEARCACHE_VERDICT_HIT);
	nc_observe(c, bio, NEARCACHE_VERDICT_HIT);
	if (io->observed)
		io->kind = NC_IO_HIT;
}

/**
 * nc_read_map() - map a read
 * @t: target
 * @bio: dm's clone
 *
 * Fast path, for nearly all reads of a warm cache: a hit within one block, all sub-blocks valid,
 * no check, no plan, no prefetched data.  It uses no stack; doc/hitpath.md counts its
 * instructions.  All other reads take the slow path.
 *
 * Context: submitter's; does not sleep.
 * Return: DM_MAPIO_*.
 */
int nc_read_map(struct nc_target *t, struct bio *bio)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct nc_cache *c = t->cache;
	struct nc_slot *slot;
	u32 i, start, last, tagged;
	u64 wanted;

	/* For an empty bio @last wraps to U32_MAX, so it takes the slow path. */
	start = (u32)bio->bi_iter.bi_sector & c->block_mask;
	last = bio_sectors(bio) - 1;
	if (unlikely(READ_ONCE(c->special) || last > c->block_mask - start))
		return long_way(t, bio, io);
	io->hold = nc_holds_take(&c->holds);
	i = nc_index_find(&c->index, bio->bi_iter.bi_sector >> c->block_shift);
	if (unlikely(i == NC_NIL))
		goto other;
	slot = &c->index.slots[i];
	start = (u32)bio->bi_iter.bi_sector & c->block_mask;
	last = start + bio_sectors(bio) - 1;
	wanted = (2ULL << (last >> c->sub_shift)) - (1ULL << (start >> c->sub_shift));
	tagged = READ_ONCE(slot->tagged);
	if (unlikely(wanted & ~READ_ONCE(slot->valid) || nc_tag_of(tagged).ahead))
		goto other;
	memset(&io->state, 0, sizeof(io->state));
	io->kind = NC_IO_PLAIN;
	io->label = nc_tag_of(tagged).label;
	pass(c, bio->bi_iter.bi_size);
	touch(c, slot);
	if (is_watched())
		tell(c, bio, io);
	remap(t, bio, io, i);
	return DM_MAPIO_REMAPPED;
other:
	nc_holds_give(&c->holds, io->hold);
	return long_way(t, bio, io);
}

/**
 * nc_read_restore() - reset a completed read to the state in which it came
 * @bio: dm's clone
 * @io: its per-bio data; iter and flags are set
 *
 * A lower driver may have split the bio, which uses up __bi_remaining.  Clears the cookie, because
 * a poller must not use the queue number of one device for another.
 *
 * Context: any.
 */
void nc_read_restore(struct bio *bio, const struct nc_io *io)
{
	bio->bi_iter = io->iter;
	bio->bi_flags = io->flags;
	bio->bi_status = BLK_STS_OK;
	atomic_set(&bio->__bi_remaining, 1);
	bio_clear_polled(bio);
	bio->bi_cookie = BLK_QC_T_NONE;
}

/* Send a read, restored to the state in which it came, to the origin.  May wait for a request. */
void nc_read_again(struct nc_target *t, struct bio *bio)
{
	bio->bi_opf &= ~REQ_NOWAIT;
	bio_set_dev(bio, t->origin->bdev);
	submit_bio_noacct(bio);
}

/* Count a read that could not be served as a bypass, and send it to the origin. */
static void retry(struct nc_target *t, struct bio *bio)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));

	nc_count(t->cache, BYPASS_RETRY);
	nc_prefetch_demand(t->cache);
	nc_ranges_count_origin(t->cache, bio->bi_iter.bi_sector, bio->bi_iter.bi_size);
	nc_observe(t->cache, bio, NEARCACHE_VERDICT_BYPASS_RETRY);
	io->iter = bio->bi_iter;
	io->flags = bio->bi_flags;
	nc_read_again(t, bio);
}

/* Have a worker send a restored read to the origin.  Context: any. */
void nc_read_resubmit(struct nc_target *t, struct bio *bio)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct nc_cache *c = t->cache;
	unsigned long flags;

	io->target = t;
	/* Queue under the lock: once the worker has the bio, the cache may be freed. */
	spin_lock_irqsave(&c->retry_lock, flags);
	bio_list_add(&c->retry_bios, bio);
	queue_work(c->origin_wq, &c->retry_work);
	spin_unlock_irqrestore(&c->retry_lock, flags);
}

/* Invalidate sub-blocks that the cache device failed to read. */
static void forget(struct nc_cache *c, const struct bio *bio)
{
	struct nc_span span = span_of(c, &bio->bi_iter);
	struct nc_stripe *stripe = nc_index_stripe(&c->index, span.block);
	u32 i;

	spin_lock(&stripe->lock);
	i = nc_index_find(&c->index, span.block);
	if (i != NC_NIL)
		nc_invalidate_bits(c, stripe, i, nc_span_bits(&span));
	spin_unlock(&stripe->lock);
}

void nc_read_retry_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(work, struct nc_cache, retry_work);
	struct bio_list bios;
	struct bio *bio;

	spin_lock_irq(&c->retry_lock);
	bios = c->retry_bios;
	bio_list_init(&c->retry_bios);
	spin_unlock_irq(&c->retry_lock);
	while ((bio = bio_list_pop(&bios))) {
		struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));

		if (io->failed_hit)
			forget(c, bio);
		retry(io->target, bio);
	}
}

/* The cache device failed a hit: restore the bio and have a worker send it to the
 * origin.
 */
static int hit_failed(struct nc_target *t, struct bio *bio, struct nc_io *io)
{
	nc_count(t->cache, HIT_ERRORS);
	nc_health_error(t->cache, bio->bi_bdev, "read");
	io->kind = NC_IO_ORIGIN;
	io->failed_hit = true;
	nc_read_restore(bio, io);
	nc_read_resubmit(t, bio);
	return DM_ENDIO_INCOMPLETE;
}

/* A NOWAIT read that gets BLK_STS_AGAIN, and a read that device-mapper requeues, come again
 * and are counted then.
 */
static bool comes_again(blk_status_t error)
{
	return error == BLK_STS_AGAIN || error == BLK_STS_DM_REQUEUE;
}

/* The origin completed a read. */
static int origin_end_io(struct nc_target *t, struct bio *bio, struct nc_io *io,
			 blk_status_t *error)
{
	struct nc_cache *c = t->cache;

	if (unlikely(*error) && !comes_again(*error) &&
	    nc_outage_wait(t, bio, error))
		return DM_ENDIO_INCOMPLETE;
	if (unlikely(io->waits))
		nc_outage_answered(t, bio, !*error);
	if (io->kind == NC_IO_BYPASS && !comes_again(*error)) {
		this_cpu_inc(c->stats->count[io->counter]);
		nc_count_add(c, BYPASS_BYTES, io->iter.bi_size);
		nc_prefetch_demand(c);
		nc_ranges_count_miss(c, io->iter.bi_sector, io->iter.bi_size);
		nc_ranges_count_origin(c, io->iter.bi_sector, io->iter.bi_size);
	}
	return DM_ENDIO_DONE;
}

/**
 * nc_read_end_io() - handle the completion of a read
 * @t: target
 * @bio: dm's clone
 * @io: its per-bio data
 * @error: its status
 *
 * Context: any, including interrupts.
 * Return: DM_ENDIO_*.
 */
int nc_read_end_io(struct nc_target *t, struct bio *bio, struct nc_io *io,
		   blk_status_t *error)
{
	struct nc_cache *c = t->cache;

	if (io->kind != NC_IO_HIT && io->kind != NC_IO_PLAIN)
		return origin_end_io(t, bio, io, error);
	if (nc_sums_present(&c->sums) && !*error)
		return nc_check_end_io(t, bio);
	nc_holds_give(&c->holds, io->hold);
	if (unlikely(comes_again(*error)))
		return DM_ENDIO_DONE;
	nc_read_count_hit(c, io, &io->iter);
	return likely(!*error) ? DM_ENDIO_DONE : hit_failed(t, bio, io);
}
