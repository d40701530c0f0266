// SPDX-License-Identifier: GPL-2.0-only
/*
 * The read path.  A read is cut at the end of its block and where its sub-blocks change
 * between valid and missing.  The piece is a hit, a miss or a bypass as a whole; device-mapper
 * maps the rest as another read.
 *
 * A hit takes no lock, allocates nothing and writes no shared cache line except its slot's stamp,
 * once per tick of the policy's clock.  The bio is remapped to the cache device and its payload is
 * not touched.  The hit section (nc_hot.hit_srcu) lasts from the look-up to the completion; a slot
 * gets another block only after all hit sections in its part of the index that began before its
 * unlinking have ended.
 *
 * map() never sleeps (DM_TARGET_NOWAIT).
 */
#include <linux/memremap.h>

#include "cache.h"
#include "io/verify.h"
#include "io/fill.h"
#include "io/invalidate.h"
#include "core/bio.h"
#include "core/policy_clock.h"
#include "meta/members.h"
#include "io/miss.h"
#include "io/trace_io.h"
#include "io/origin_retry.h"
#include "io/read.h"

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

	hold = nc_hit_lock(&c->hot.hit_srcu, nc_index_hash(&c->index, span->block));
	i = nc_index_find(&c->index, span->block);
	if (i != NC_NIL)
		valid = READ_ONCE(c->index.slots[i].valid) >> span->first;
	nc_hit_unlock(&c->hot.hit_srcu, hold);
	border = valid & 1 ? ~valid : valid;
	if (border)
		span->last = min_t(u32, span->last, span->first + __ffs64(border) - 1);
	return valid & 1;
}

static int send_to_origin(struct nc_target *t, struct bio *bio)
{
	bio_set_dev(bio, t->origin->bdev);
	return DM_MAPIO_REMAPPED;
}

static int send_bypass(struct nc_target *t, struct bio *bio,
		       enum nearcache_counter counter, enum nearcache_verdict verdict)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));

	io->kind = NC_IO_BYPASS;
	io->counter = counter;
	io->iter = bio->bi_iter;
	io->flags = bio->bi_flags;
	nc_demand_see_bypass(&t->cache->origin.demand);
	nc_observe(t->cache, bio, verdict);
	return send_to_origin(t, bio);
}

#define BYPASS(t, bio, reason)						\
	send_bypass(t, bio, NEARCACHE_COUNTER_BYPASS_##reason,		\
		    NEARCACHE_VERDICT_BYPASS_##reason)

/* Cut a read to @span and send it to the origin. */
static int send_span_bypass(struct nc_target *t, struct bio *bio, const struct nc_span *span,
			    enum nearcache_counter counter, enum nearcache_verdict verdict)
{
	nc_bio_take(t->cache, bio, nc_bio_sectors(&t->cache->hot, bio, span));
	return send_bypass(t, bio, counter, verdict);
}

#define BYPASS_SPAN(t, bio, span, reason)				\
	send_span_bypass(t, bio, span, NEARCACHE_COUNTER_BYPASS_##reason, \
			 NEARCACHE_VERDICT_BYPASS_##reason)

/* Shorten a hit of *sectors to whole logical blocks of the cache device.  Returns false if the hit
 * must bypass the cache, because it is shorter than a logical block, its memory does not suit the
 * device, or its start is not aligned.  In the last case *sectors ends at the next boundary, so
 * that the rest of the read may hit.
 */
static bool align_hit(const struct nc_cache *c, const struct bio *bio,
		      u32 *sectors)
{
	u32 odd = bio->bi_iter.bi_sector & c->hot.lbs_mask;

	if (odd) {
		*sectors = min(*sectors, c->hot.lbs_mask + 1 - odd);
		return false;
	}
	if (*sectors <= c->hot.lbs_mask)
		return false;
	*sectors &= ~c->hot.lbs_mask;
	return !(c->hot.lbs_mask | c->hot.dma_mask) ||
	       nc_bio_memory_fits(&c->hot, bio, *sectors);
}

/* Serve a hit on the slow path while nc_hot.checks or nc_hot.planned is set: verify it, and note it
 * for the plan.  Returns true if the caller continues with an ordinary hit.  Otherwise *r is the
 * result of map, or -EAGAIN to look up again, and the hit section has ended or belongs to a check.
 */
static noinline bool hit_checked(struct nc_target *t, struct bio *bio,
				 struct nc_span *span, u32 i, int hold, int *r)
{
	sector_t first = bio->bi_iter.bi_sector, end = bio_end_sector(bio);
	struct nc_cache *c = t->cache;
	enum nc_verify check = nc_verify_hit(t, bio, span, i, hold);

	if (nc_plan_any(c) && (check == NC_VERIFY_DIRECT || check == NC_VERIFY_STARTED))
		nc_plan_read(c, span, first, end, true);
	switch (check) {
	case NC_VERIFY_DIRECT:
		return true;
	case NC_VERIFY_STARTED:
		*r = DM_MAPIO_SUBMITTED;
		return false;
	case NC_VERIFY_GONE:
		*r = -EAGAIN;
		break;
	case NC_VERIFY_MEMORY:
		*r = BYPASS_SPAN(t, bio, span, MEMORY);
		break;
	case NC_VERIFY_P2P:
		*r = BYPASS_SPAN(t, bio, span, P2P);
		break;
	}
	nc_hit_unlock(&c->hot.hit_srcu, hold);
	return false;
}

/* Remap a hit to the cache device.  Saves the state of the bio, for a retry at the origin. */
static __always_inline void remap_hit(struct nc_target *t, struct bio *bio, struct nc_io *io, u32 i)
{
	u32 offset = (u32)bio->bi_iter.bi_sector & t->cache->hot.block_mask;
	sector_t place;

	io->slot = i;
	io->iter = bio->bi_iter;
	io->flags = bio->bi_flags;
	bio_set_dev(bio, nc_members_place(t, i, &place));
	bio->bi_iter.bi_sector = place + offset;
}

/*
 * Map a hit: the first sub-block of @span is valid in slot @i.  Cuts the read to the valid run that
 * starts there.  Called in a hit section, which lasts until the completion of a remapped hit.
 */
static int read_hit(struct nc_target *t, struct bio *bio, struct nc_span *span,
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
		nc_prefetched_read(c, &c->index.slots[i], bio, span);
	if (unlikely(READ_ONCE(c->hot.checks) || READ_ONCE(c->hot.planned))) {
		io->partial = partial;
		if (!hit_checked(t, bio, span, i, io->hold, &r))
			return r;
	}
	sectors = nc_bio_sectors(&c->hot, bio, span);
	aligned = align_hit(c, bio, &sectors);
	nc_bio_cut(bio, sectors);
	nc_clock_add(c, bio->bi_iter.bi_size);
	if (unlikely(!aligned)) {
		nc_hit_unlock(&c->hot.hit_srcu, io->hold);
		return BYPASS(t, bio, UNALIGNED);
	}
	if (unlikely(nc_slot_is_first_use(&c->hot, &c->index.slots[i])))
		nc_slots_stamp(c, &c->index.slots[i]);
	nc_observe(c, bio, partial ? NEARCACHE_VERDICT_PARTIAL : NEARCACHE_VERDICT_HIT);
	io->kind = NC_IO_HIT;
	remap_hit(t, bio, io, i);
	return DM_MAPIO_REMAPPED;
}

/* Map a miss.  nc_miss_read() counts it, because a queued bio may complete at any moment.
 * @cached: the block has a slot.  Returns -EAGAIN if the caller must look up again.
 */
static int read_miss(struct nc_target *t, struct bio *bio, struct nc_span *span, struct nc_io *io,
		     bool cached)
{
	struct nc_cache *c = t->cache;

	/* Another device's memory: the CPU must not copy data into it. */
	if (unlikely(is_pci_p2pdma_page(bio_page(bio))))
		return BYPASS_SPAN(t, bio, span, P2P);
	if (unlikely(nc_ranges_any(c)) && nc_ranges_bypassed(c, span))
		return BYPASS_SPAN(t, bio, span, RANGE);
	if (unlikely(!nc_stream_admits(c, bio, io, span, NEARCACHE_VERDICT_MISS)) &&
	    !nc_ranges_pinned(c, span->block))
		return BYPASS_SPAN(t, bio, span, ADVICE);
	/* After the bypasses above: the policy sees only reads whose data may be cached. */
	if (nc_ghost_samples(&c->policy.keep.ghost, span->block))
		nc_slots_sample(c, span->block, cached);
	switch (nc_miss_read(t, bio, span)) {
	case NC_MISS_STARTED:
	case NC_MISS_JOINED:
		return DM_MAPIO_SUBMITTED;
	case NC_MISS_FULL:
		if ((span->last + 1) << c->hot.sub_shift > c->hot.block_mask)
			nc_demand_see_passed(&c->origin.demand, span->block);
		return BYPASS_SPAN(t, bio, span, FULL);
	case NC_MISS_MEMORY:
		return BYPASS_SPAN(t, bio, span, MEMORY);
	case NC_MISS_WRITE:
		return BYPASS_SPAN(t, bio, span, WRITE);
	case NC_MISS_PEER:
		return BYPASS_SPAN(t, bio, span, PEER);
	case NC_MISS_VALID:
		break;
	}
	return -EAGAIN;
}

/* Map a miss while a plan is in force: report it to the plan, unless it must be looked up again. */
static noinline int planned_miss(struct nc_target *t, struct bio *bio, struct nc_span *span,
				 struct nc_io *io, bool cached)
{
	sector_t first = bio->bi_iter.bi_sector, end = bio_end_sector(bio);
	int r;

	nc_plan_refresh(t->cache);
	r = read_miss(t, bio, span, io, cached);
	if (r != -EAGAIN)
		nc_plan_read(t->cache, span, first, end, false);
	return r;
}

/* Slow path: map a read that is not a plain hit. */
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
		return send_to_origin(t, bio);
	if (unlikely(READ_ONCE(c->hot.gate)) && !nc_health_admit(c))
		return BYPASS(t, bio, STATE);
	do {
		span = nc_bio_span(&c->hot, &bio->bi_iter);
		io->hold = nc_hit_lock(&c->hot.hit_srcu, nc_index_hash(&c->index, span.block));
		i = nc_index_find(&c->index, span.block);
		valid = i == NC_NIL ? 0 : READ_ONCE(c->index.slots[i].valid);
		if (likely(valid & BIT_ULL(span.first))) {
			r = read_hit(t, bio, &span, i, valid, io);
			continue;
		}
		nc_hit_unlock(&c->hot.hit_srcu, io->hold);
		valid >>= span.first;
		if (valid)
			span.last = min_t(u32, span.last, span.first + __ffs64(valid) - 1);
		r = likely(!nc_plan_any(c)) ? read_miss(t, bio, &span, io, i != NC_NIL) :
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
static noinline void trace_hit(struct nc_cache *c, struct bio *bio, struct nc_io *io)
{
	struct nc_span span = nc_bio_span(&c->hot, &bio->bi_iter);

	nc_stream_admits(c, bio, io, &span, NEARCACHE_VERDICT_HIT);
	nc_observe(c, bio, NEARCACHE_VERDICT_HIT);
	if (io->observed)
		io->kind = NC_IO_HIT;
}

/* Fast path of a read within one block.  If the read is no plain hit, it takes the slow path.
 * @planned: note the hit for the plan.
 */
static __always_inline int map_within_block(struct nc_target *t, struct bio *bio, struct nc_io *io,
					    bool planned)
{
	struct nc_cache *c = t->cache;
	struct nc_slot *slot;
	u32 i, hash, start, last, tagged;
	u64 wanted;

	hash = nc_index_hash(&c->index, bio->bi_iter.bi_sector >> c->hot.block_shift);
	io->hold = nc_hit_lock(&c->hot.hit_srcu, hash);
	i = nc_index_find_hashed(&c->index, bio->bi_iter.bi_sector >> c->hot.block_shift, hash);
	if (unlikely(i == NC_NIL))
		goto other;
	slot = &c->index.slots[i];
	start = (u32)bio->bi_iter.bi_sector & c->hot.block_mask;
	last = start + bio_sectors(bio) - 1;
	wanted = (2ULL << (last >> c->hot.sub_shift)) - (1ULL << (start >> c->hot.sub_shift));
	tagged = READ_ONCE(slot->tagged);
	if (unlikely(wanted & ~READ_ONCE(slot->valid) || nc_tag_of(tagged).ahead))
		goto other;
	memset(&io->state, 0, sizeof(io->state));
	io->kind = NC_IO_PLAIN;
	io->label = nc_tag_of(tagged).label;
	nc_clock_add(c, bio->bi_iter.bi_size);
	if (unlikely(nc_slot_is_first_use(&c->hot, slot)))
		nc_slots_stamp(c, slot);
	if (planned)
		nc_plan_hit(c, bio);
	if (is_watched())
		trace_hit(c, bio, io);
	remap_hit(t, bio, io, i);
	return DM_MAPIO_REMAPPED;
other:
	nc_hit_unlock(&c->hot.hit_srcu, io->hold);
	return long_way(t, bio, io);
}

/* Does a read stay within one block?  For an empty bio the last sector wraps to U32_MAX. */
static __always_inline bool is_within_block(const struct nc_cache *c, const struct bio *bio)
{
	return bio_sectors(bio) - 1 <=
	       c->hot.block_mask - ((u32)bio->bi_iter.bi_sector & c->hot.block_mask);
}

/* Map a read while nc_hot.slow_path is set, or one that crosses blocks.  If a plan is the only
 * reason, use a second copy of the fast path, which notes the hit.
 */
static noinline int map_slowly(struct nc_target *t, struct bio *bio, struct nc_io *io)
{
	const struct nc_hot *hot = &t->cache->hot;

	if (READ_ONCE(hot->gate) || READ_ONCE(hot->checks) || READ_ONCE(hot->needs_alignment) ||
	    !is_within_block(t->cache, bio))
		return long_way(t, bio, io);
	return map_within_block(t, bio, io, true);
}

/* Map a read.  Fast path: a hit within one block, all sub-blocks valid, no observer, no prefetched
 * data that is unread or in the reserve.  The fast path keeps no variable on the stack;
 * doc/hitpath.md counts its instructions.  Does not sleep.  Returns DM_MAPIO_*.
 */
int nc_read_map(struct nc_target *t, struct bio *bio)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));

	if (unlikely(READ_ONCE(t->cache->hot.slow_path) || !is_within_block(t->cache, bio)))
		return map_slowly(t, bio, io);
	return map_within_block(t, bio, io, false);
}

/* A read failed in the cache: count a bypass, and send the read to the origin. */
static void retry_at_origin(struct nc_target *t, struct bio *bio)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));

	nc_count(t->cache, BYPASS_RETRY);
	nc_demand_see_bypass(&t->cache->origin.demand);
	nc_ranges_count_origin(t->cache, bio->bi_iter.bi_sector, bio->bi_iter.bi_size);
	nc_observe(t->cache, bio, NEARCACHE_VERDICT_BYPASS_RETRY);
	io->iter = bio->bi_iter;
	io->flags = bio->bi_flags;
	nc_bio_send(bio, t->origin->bdev);
}

/* Invalidate the sub-blocks of a read that the cache device failed. */
static void forget_subblocks(struct nc_cache *c, const struct bio *bio)
{
	struct nc_span span = nc_bio_span(&c->hot, &bio->bi_iter);
	struct nc_bucket_lock *bucket = nc_index_bucket(&c->index, span.block);
	u32 i;

	spin_lock(&bucket->lock);
	i = nc_index_find(&c->index, span.block);
	if (i != NC_NIL)
		nc_invalidate_bits(c, bucket, i, nc_span_bits(&span));
	spin_unlock(&bucket->lock);
}

void nc_read_retry_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(work, struct nc_cache, retry.work);
	struct bio_list bios = nc_retry_take(&c->retry);
	struct bio *bio;

	while ((bio = bio_list_pop(&bios))) {
		struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));

		if (io->failed_hit)
			forget_subblocks(c, bio);
		retry_at_origin(io->target, bio);
	}
}

/* Restore a hit that the cache device failed, and have a worker send it to the origin. */
static int hit_failed(struct nc_target *t, struct bio *bio, struct nc_io *io)
{
	nc_count(t->cache, HIT_ERRORS);
	nc_health_error(t->cache, bio->bi_bdev, "read");
	io->kind = NC_IO_ORIGIN;
	io->failed_hit = true;
	nc_bio_restore(bio, &io->iter, io->flags);
	nc_bio_retry(t, bio);
	return DM_ENDIO_INCOMPLETE;
}

/* Will the read be submitted again, and be counted then?  True for a NOWAIT read that gets
 * BLK_STS_AGAIN, and for a read that device-mapper requeues.
 */
static bool comes_again(blk_status_t error)
{
	return error == BLK_STS_AGAIN || error == BLK_STS_DM_REQUEUE;
}

/* Handle a read that the origin completed: queue it for a retry, or count a bypass. */
static int origin_end_io(struct nc_target *t, struct bio *bio, struct nc_io *io,
			 blk_status_t *error)
{
	struct nc_cache *c = t->cache;

	if (unlikely(*error) && !comes_again(*error) &&
	    nc_origin_retry_wait(t, bio, error))
		return DM_ENDIO_INCOMPLETE;
	if (unlikely(io->waits))
		nc_origin_retry_answered(t, bio, !*error);
	if (io->kind == NC_IO_BYPASS && !comes_again(*error)) {
		this_cpu_inc(c->hot.counters->count[io->counter]);
		nc_count_add(c, BYPASS_BYTES, io->iter.bi_size);
		nc_demand_see_bypass(&c->origin.demand);
		nc_ranges_count_miss(c, io->iter.bi_sector, io->iter.bi_size);
		nc_ranges_count_origin(c, io->iter.bi_sector, io->iter.bi_size);
	}
	return DM_ENDIO_DONE;
}

/* Completion of a read, except a plain hit that succeeded.  A hit that the cache device failed is
 * retried at the origin.  Context: any, also interrupts.  Returns DM_ENDIO_*.
 */
int nc_read_end_io(struct nc_target *t, struct bio *bio, struct nc_io *io,
		   blk_status_t *error)
{
	struct nc_cache *c = t->cache;

	if (io->kind != NC_IO_HIT && io->kind != NC_IO_PLAIN)
		return origin_end_io(t, bio, io, error);
	if (nc_sums_present(&c->sums) && !*error)
		return nc_verify_end_io(t, bio);
	nc_hit_unlock(&c->hot.hit_srcu, io->hold);
	if (unlikely(comes_again(*error)))
		return DM_ENDIO_DONE;
	nc_read_count_hit(c, io, &io->iter);
	return likely(!*error) ? DM_ENDIO_DONE : hit_failed(t, bio, io);
}
