// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks of cached data.  A read of whole sub-blocks goes to the reader's own pages
 * and is judged there by its checksums.  Everything else is judged in pages of our own:
 * reads of parts of sub-blocks, hits that are compared with the origin, what a scrub
 * looks at, and a read that seemed wrong, because the reader may have written to its
 * pages meanwhile.
 *
 *	START ---> SLOT ---> gone
 *	(NOWAIT      |
 *	 readers)    +-----> SERVED ---> ORIGIN ---> gone
 *	                     (the reader has its data; to be compared)
 *
 * Data that is wrong there is no error for anybody: the reader is sent to the origin,
 * the sub-blocks are dropped and filled anew.  It is not wrong if something of its
 * stripe became invalid or was evicted since the check looked at the index: then a write
 * may have changed it.  (A slot does not get other data without that: a fill writes only
 * where nothing is valid.)
 */
#include <linux/blk-cgroup.h>
#include <linux/crc32c.h>
#include <linux/memremap.h>

#include "cache.h"
#include "io/verify.h"
#include "io/fill.h"
#include "io/invalidate.h"
#include "core/bio.h"
#include "meta/members.h"
#include "io/miss.h"
#include "core/pages.h"
#include "io/read.h"
#include "io/scrub.h"
#include "io/observe.h"
#include "core/tracepoints.h"

/* Bytes that are summed where the read completes, which may be an interrupt: a few
 * microseconds.
 */
#define INLINE_MAX	(32U << 10)

enum check_state {
	CHECK_START,	/* cache_wq is to submit the read of the slot */
	CHECK_SLOT,
	CHECK_SERVED,	/* origin_wq is to submit the read of the origin */
	CHECK_ORIGIN,
};

/**
 * struct check - a check through our pages, under way
 * @target: table line that started it; it counts as one of the cache's fills
 * @reader: read to be served, NULL when there is none, or not any more
 * @span: sub-blocks that are looked at, all of them valid at the start
 * @slot: where they are
 * @drops: of the stripe at the start
 * @hold: of nc_cache.holds, until the slot was read
 * @compare: with the origin, too
 * @scrub: it was a scrub that asked
 * @state: enum check_state
 * @work: runs the next step
 * @bio: of the cache device, then of the origin
 * @sum: of the sub-blocks as the slot has them
 * @pages: whole sub-blocks
 */
struct check {
	struct nc_target *target;
	struct bio *reader;
	struct nc_span span;
	u32 slot;
	u32 drops;
	int hold;
	bool compare;
	bool scrub;
	enum check_state state;
	struct work_struct work;
	struct bio bio;
	__le32 sum[NEARCACHE_SUBBLOCKS_MAX];
	struct nc_pages pages;
};

static void check_work(struct work_struct *work);

/* CRC-32C of the next @bytes; moves @iter behind them. */
static __le32 sum_next(const struct bio_vec *vecs, struct bvec_iter *iter,
		       u32 bytes)
{
	u32 crc = ~0U;

	while (bytes) {
		struct bio_vec bv = bvec_iter_bvec(vecs, *iter);
		u32 n = min(bv.bv_len, bytes);
		char *data = bvec_kmap_local(&bv);

		crc = crc32c(crc, data, n);
		kunmap_local(data);
		bvec_iter_advance(vecs, iter, n);
		bytes -= n;
	}
	return cpu_to_le32(~crc);
}

/**
 * nc_check_fill() - checksums of what a fill is about to write to its slot
 * @f: fill that has its data
 *
 * Nobody else's: none of the sub-blocks is valid, and no other fill covers them.
 *
 * Context: may take long.
 */
void nc_check_fill(struct nc_fill *f)
{
	struct nc_cache *c = f->target->cache;
	struct bvec_iter iter = { .bi_size = f->skip + f->cache_bytes };
	u32 sub;

	if (!nc_sums_present(&c->sums))
		return;
	bvec_iter_advance(f->pages.vecs, &iter, f->skip);
	for (sub = f->span.first; sub <= f->span.last; sub++)
		WRITE_ONCE(*nc_sums_of(&c->sums, f->slot, sub),
			   sum_next(f->pages.vecs, &iter, c->geo.subblock_size));
}

/* Is this hit one of those that are compared with the origin? */
static bool sampled(struct nc_cache *c)
{
	u32 every = READ_ONCE(c->verify);

	if (!every || this_cpu_inc_return(c->stats->unverified) < every)
		return false;
	this_cpu_write(c->stats->unverified, 0);
	return true;
}

/* Can the reader's own pages be judged, and take the data from the cache device? */
static bool whole_subblocks(const struct nc_cache *c, const struct bio *bio,
			    u32 sectors)
{
	u32 mask = (1U << c->sub_shift) - 1;

	return !(((u32)bio->bi_iter.bi_sector | sectors) & mask) &&
	       nc_read_memory_fits(c, bio, sectors);
}

static u32 span_bytes(const struct nc_cache *c, const struct nc_span *span)
{
	return (span->last - span->first + 1) * c->geo.subblock_size;
}

/* A check of @span for nobody yet. */
static struct check *check_alloc(struct nc_target *t, const struct nc_span *span,
				 bool compare)
{
	struct nc_cache *c = t->cache;
	/* An origin that hangs may hold comparisons: the rest is for others. */
	struct check *k = nc_pages_alloc(c, offsetof(struct check, pages),
					 span_bytes(c, span),
					 READ_ONCE(c->fill_memory_max) >> compare, false);

	if (!k)
		return NULL;
	k->target = t;
	k->reader = NULL;
	k->span = *span;
	k->compare = compare;
	k->scrub = false;
	k->state = CHECK_START;
	INIT_WORK(&k->work, check_work);
	return k;
}

/* @hold is the check's if all of the span is valid.  Returns whether
 * it is.
 */
static bool check_begin(struct check *k, int hold)
{
	struct nc_cache *c = k->target->cache;
	struct nc_stripe *stripe = nc_index_stripe(&c->index, k->span.block);
	u64 bits = nc_span_bits(&k->span);
	bool valid;

	k->hold = hold;
	spin_lock(&stripe->lock);
	k->slot = nc_index_find(&c->index, k->span.block);
	k->drops = stripe->drops;
	valid = k->slot != NC_NIL &&
		(c->index.slots[k->slot].valid & bits) == bits;
	spin_unlock(&stripe->lock);
	if (valid)
		atomic_inc(&c->fills);
	return valid;
}

static void check_end(struct check *k)
{
	struct nc_cache *c = k->target->cache;

	if (k->scrub)
		nc_scrub_checked(c, span_bytes(c, &k->span));
	bio_uninit(&k->bio);
	nc_pages_free(c, k, &k->pages);
	if (atomic_dec_and_test(&c->fills))
		wake_up(&c->fill_idle);
}

static void check_end_io(struct bio *bio)
{
	struct check *k = bio->bi_private;

	queue_work(k->target->cache->wq, &k->work);
}

static void init_bio(struct check *k, struct block_device *bdev, sector_t sector,
		     u32 bytes)
{
	bio_init(&k->bio, bdev, k->pages.vecs, k->pages.count,
		 REQ_OP_READ | (k->reader ? k->reader->bi_opf & REQ_SYNC : 0));
	k->bio.bi_vcnt = k->pages.count;
	k->bio.bi_iter.bi_sector = sector;
	k->bio.bi_iter.bi_size = bytes;
	k->bio.bi_end_io = check_end_io;
	k->bio.bi_private = k;
}

static void submit_slot(struct check *k)
{
	struct nc_target *t = k->target;
	struct nc_cache *c = t->cache;
	struct block_device *bdev;
	sector_t place;

	k->state = CHECK_SLOT;
	bdev = nc_members_place(t, k->slot, &place);
	init_bio(k, bdev, place + ((sector_t)k->span.first << c->sub_shift),
		 span_bytes(c, &k->span));
	submit_bio_noacct(&k->bio);
}

/* The origin's data, into the pages that the slot's was in. */
static void submit_origin(struct check *k)
{
	struct nc_target *t = k->target;
	struct nc_cache *c = t->cache;
	u32 bytes = nc_fill_span_bytes(c, &k->span);
	struct bvec_iter rest = { .bi_size = span_bytes(c, &k->span) };

	/* Past its end there are zeros. */
	bvec_iter_advance(k->pages.vecs, &rest, bytes);
	while (rest.bi_size) {
		struct bio_vec bv = bvec_iter_bvec(k->pages.vecs, rest);

		memzero_bvec(&bv);
		bvec_iter_advance(k->pages.vecs, &rest, bv.bv_len);
	}
	k->state = CHECK_ORIGIN;
	bio_uninit(&k->bio);
	init_bio(k, t->origin->bdev,
		 (k->span.block << c->block_shift) +
			 ((sector_t)k->span.first << c->sub_shift), bytes);
	bio_associate_blkg_from_css(&k->bio, blkcg_root_css);
	submit_bio_noacct(&k->bio);
}

/* Bring dropped sub-blocks again. */
static void repair(struct check *k, u64 bits)
{
	while (bits) {
		u32 first = __ffs64(bits);
		u64 above = ~(bits >> first);
		u32 run = above ? __ffs64(above) : NEARCACHE_SUBBLOCKS_MAX;
		struct nc_span span = { k->span.block, first, first + run - 1 };

		nc_miss_fill(k->target, &span);
		bits &= ~nc_span_bits(&span);
	}
}

/* Sub-blocks that could not be read, or hold what they should not: drop them.  The
 * latter not if somebody was faster.  Returns those that were dropped.
 */
static u64 drop(struct check *k, u64 bits, bool unreadable)
{
	struct nc_cache *c = k->target->cache;
	struct nc_stripe *stripe = nc_index_stripe(&c->index, k->span.block);

	spin_lock(&stripe->lock);
	if ((unreadable || stripe->drops == k->drops) &&
	    nc_index_find(&c->index, k->span.block) == k->slot)
		bits = nc_invalidate_bits(c, stripe, k->slot, bits);
	else
		bits = 0;
	spin_unlock(&stripe->lock);
	return bits;
}

/* @bits cannot be read, are not what was cached, or not what the origin has. */
static void damaged(struct check *k, u64 bits, enum nc_damage what)
{
	struct nc_cache *c = k->target->cache;
	u64 block = k->span.block << c->block_shift;
	struct block_device *bdev;
	sector_t place;

	bits = drop(k, bits, what == NC_DAMAGE_UNREADABLE);
	if (!bits)
		return;
	bdev = nc_members_place(k->target, k->slot, &place);
	nc_count_add(c, DAMAGED, hweight64(bits));
	trace_nearcache_damage(c->dm_devt, block, k->slot, bits,
			       what == NC_DAMAGE_DIFFERS);
	nc_health_damage(c, bdev, what, block + ((u64)__ffs64(bits) << c->sub_shift),
			 hweight64(bits) << c->sub_shift);
	/* Not by chance, or not unnoticed: a scrub, or checksums. */
	if (what == NC_DAMAGE_DIFFERS && !k->scrub && !nc_sums_present(&c->sums))
		nc_health_differs(c, bdev);
	repair(k, bits);
}

/* The slot cannot be read.  A scrub meets in minutes what readers meet in months, so for
 * it that is no reason to do without the device.
 */
static void unreadable(struct check *k)
{
	struct nc_cache *c = k->target->cache;
	u64 bits = nc_span_bits(&k->span);

	if (k->scrub) {
		damaged(k, bits, NC_DAMAGE_UNREADABLE);
		return;
	}
	nc_count(c, HIT_ERRORS);
	nc_health_error(c, k->bio.bi_bdev, "read");
	repair(k, drop(k, bits, true));
}

/* Sum what the pages hold: of the slot, or of the origin.  Returns sub-blocks of which
 * it is not what it should be: what was cached, or what the slot holds.
 */
static u64 judge(struct check *k)
{
	struct nc_cache *c = k->target->cache;
	struct bvec_iter iter = { .bi_size = span_bytes(c, &k->span) };
	u64 bad = 0;
	u32 sub;

	for (sub = k->span.first; sub <= k->span.last; sub++) {
		__le32 sum = sum_next(k->pages.vecs, &iter, c->geo.subblock_size);
		__le32 other = sum;

		if (k->state == CHECK_ORIGIN)
			other = k->sum[sub];
		else if (nc_sums_present(&c->sums))
			other = READ_ONCE(*nc_sums_of(&c->sums, k->slot, sub));
		if (sum != other)
			bad |= BIT_ULL(sub);
		k->sum[sub] = sum;
	}
	return bad;
}

static void count_hit(struct nc_cache *c, struct bio *reader)
{
	nc_read_count_hit(c, dm_per_bio_data(reader, sizeof(struct nc_io)), &reader->bi_iter);
}

/* The reader gets its data, from here or from the origin. */
static void serve(struct check *k, bool good)
{
	struct nc_target *t = k->target;
	struct nc_cache *c = t->cache;
	struct bio *reader = k->reader;
	sector_t start = (k->span.block << c->block_shift) +
			 ((sector_t)k->span.first << c->sub_shift);

	if (!reader)
		return;
	k->reader = NULL;
	count_hit(c, reader);
	if (!good) {
		nc_read_resubmit(t, reader);
		return;
	}
	nc_pages_copy(&k->pages, span_bytes(c, &k->span),
		      (reader->bi_iter.bi_sector - start) << SECTOR_SHIFT, reader);
	bio_endio(reader);
}

/* Completion worker: the slot was read. */
static void slot_done(struct check *k)
{
	struct nc_cache *c = k->target->cache;
	bool failed = k->bio.bi_status;
	u64 bad = failed ? 0 : judge(k);

	nc_holds_give(&c->holds, k->hold);
	if (failed)
		unreadable(k);
	else if (bad)
		damaged(k, bad, NC_DAMAGE_CHECKSUM);
	serve(k, !failed && !bad);
	if (k->compare && !failed && !bad) {
		k->state = CHECK_SERVED;
		queue_work(c->origin_wq, &k->work);
		return;
	}
	check_end(k);
}

/* Completion worker: the origin was read, or cannot be. */
static void origin_done(struct check *k)
{
	u64 bad;

	if (!k->bio.bi_status) {
		nc_count(k->target->cache, VERIFIED);
		bad = judge(k);
		if (bad)
			damaged(k, bad, NC_DAMAGE_DIFFERS);
	}
	check_end(k);
}

/* cache_wq: a check that has a reader, and may come too late. */
static void start(struct check *k)
{
	struct nc_target *t = k->target;
	struct nc_cache *c = t->cache;
	struct bio *reader = k->reader;
	int hold = nc_holds_take(&c->holds);

	if (check_begin(k, hold)) {
		submit_slot(k);
		return;
	}
	nc_holds_give(&c->holds, hold);
	nc_pages_free(c, k, &k->pages);
	count_hit(c, reader);
	nc_read_resubmit(t, reader);
}

static void check_work(struct work_struct *work)
{
	struct check *k = container_of(work, struct check, work);

	switch (k->state) {
	case CHECK_START:
		start(k);
		break;
	case CHECK_SLOT:
		slot_done(k);
		break;
	case CHECK_SERVED:
		submit_origin(k);
		break;
	case CHECK_ORIGIN:
		origin_done(k);
		break;
	}
}

/* The reader is the check's from here on. */
static void take_reader(struct check *k, u32 slot, u32 sectors)
{
	struct nc_io *io = dm_per_bio_data(k->reader, sizeof(*io));
	struct nc_cache *c = k->target->cache;

	nc_read_take(c, k->reader, sectors);
	nc_read_touch(c, slot);
	nc_observe(c, k->reader, io->partial ? NEARCACHE_VERDICT_PARTIAL :
						NEARCACHE_VERDICT_HIT);
	bio_clear_polled(k->reader);
}

/**
 * nc_check_hit() - how to serve a hit of a cache that is checked
 * @t: target
 * @bio: read that starts in @span
 * @span: valid sub-blocks that the read covers; shortened to what one check takes
 * @slot: where they are
 * @hold: of nc_cache.holds; the check's from NC_CHECK_STARTED on
 *
 * On NC_CHECK_STARTED the bio was cut to @span and may already be complete.
 *
 * Context: map; does not sleep.
 * Return: see enum nc_check.
 */
enum nc_check nc_check_hit(struct nc_target *t, struct bio *bio,
			   struct nc_span *span, u32 slot, int hold)
{
	struct nc_cache *c = t->cache;
	bool sums = nc_sums_present(&c->sums);
	struct check *k;
	bool compare;
	u32 sectors;

	if (unlikely(is_pci_p2pdma_page(bio_page(bio))))
		return sums ? NC_CHECK_P2P : NC_CHECK_DIRECT;
	compare = sampled(c);
	if (!sums && !compare)
		return NC_CHECK_DIRECT;
	nc_fill_shorten(c, span, false);
	sectors = nc_read_sectors(c, bio, span);
	if (!compare && whole_subblocks(c, bio, sectors))
		return NC_CHECK_DIRECT;
	k = check_alloc(t, span, compare);
	if (!k && (!sums || whole_subblocks(c, bio, sectors)))
		return NC_CHECK_DIRECT;
	if (!k)
		k = check_alloc(t, span, false);
	if (!k)
		return NC_CHECK_MEMORY;
	k->reader = bio;
	/* Submitting may have to wait for a request. */
	if (bio->bi_opf & REQ_NOWAIT) {
		take_reader(k, slot, sectors);
		nc_holds_give(&c->holds, hold);
		queue_work(c->cache_wq, &k->work);
		return NC_CHECK_STARTED;
	}
	if (!check_begin(k, hold)) {
		nc_pages_free(c, k, &k->pages);
		return NC_CHECK_GONE;
	}
	take_reader(k, slot, sectors);
	submit_slot(k);
	return NC_CHECK_STARTED;
}

/* Does the reader have what was cached? */
static bool hit_is_sound(struct nc_cache *c, const struct bio *bio,
			 const struct nc_io *io)
{
	struct nc_span span = nc_read_span(c, &io->iter);
	struct bvec_iter iter = io->iter;
	u32 sub;

	for (sub = span.first; sub <= span.last; sub++)
		if (sum_next(bio->bi_io_vec, &iter, c->geo.subblock_size) !=
		    READ_ONCE(*nc_sums_of(&c->sums, io->slot, sub)))
			return false;
	return true;
}

/* cache_wq: what the reader got is wrong.  That may be the fault of a write, or of who
 * writes to the reader's pages: read the slot again.
 */
static void again_work(struct work_struct *work)
{
	struct nc_io *io = container_of(work, struct nc_io, work);
	struct bio *bio = dm_bio_from_per_bio_data(io, sizeof(*io));
	struct nc_target *t = io->target;
	struct nc_cache *c = t->cache;
	struct nc_span span = nc_read_span(c, &bio->bi_iter);
	struct check *k = check_alloc(t, &span, false);

	if (k) {
		k->reader = bio;
		start(k);
		return;
	}
	count_hit(c, bio);
	nc_read_resubmit(t, bio);
}

static void read_again(struct nc_cache *c, struct bio *bio, struct nc_io *io)
{
	nc_holds_give(&c->holds, io->hold);
	io->kind = NC_IO_ORIGIN;
	nc_read_restore(bio, io);
	INIT_WORK(&io->work, again_work);
	queue_work(c->cache_wq, &io->work);
}

/* Completion worker: sum a long read. */
static void hit_work(struct work_struct *work)
{
	struct nc_io *io = container_of(work, struct nc_io, work);
	struct bio *bio = dm_bio_from_per_bio_data(io, sizeof(*io));
	struct nc_cache *c = io->target->cache;

	if (!hit_is_sound(c, bio, io)) {
		read_again(c, bio, io);
		return;
	}
	nc_holds_give(&c->holds, io->hold);
	io->kind = NC_IO_ORIGIN;
	nc_read_restore(bio, io);
	count_hit(c, bio);
	bio_endio(bio);
}

/**
 * nc_check_end_io() - the cache device completed a hit that its checksums judge
 * @t: target
 * @bio: dm's clone, whole sub-blocks, read without an error
 *
 * Context: any, interrupts too.
 * Return: DM_ENDIO_*.
 */
int nc_check_end_io(struct nc_target *t, struct bio *bio)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct nc_cache *c = t->cache;

	io->target = t;
	if (io->iter.bi_size > INLINE_MAX) {
		INIT_WORK(&io->work, hit_work);
		queue_work(c->wq, &io->work);
		return DM_ENDIO_INCOMPLETE;
	}
	if (unlikely(!hit_is_sound(c, bio, io))) {
		read_again(c, bio, io);
		return DM_ENDIO_INCOMPLETE;
	}
	nc_holds_give(&c->holds, io->hold);
	nc_read_count_hit(c, io, &io->iter);
	return DM_ENDIO_DONE;
}

/**
 * nc_check_scrub() - look at cached data that nobody reads
 * @t: live target
 * @span: sub-blocks, no more than nc_fill_shorten() leaves
 * @compare: with the origin, too
 *
 * nc_scrub_checked() is called when that is over.
 *
 * Context: process; may wait for a request.
 * Return: NC_CHECK_STARTED, NC_CHECK_MEMORY or NC_CHECK_GONE.
 */
enum nc_check nc_check_scrub(struct nc_target *t, const struct nc_span *span,
			     bool compare)
{
	struct check *k = check_alloc(t, span, compare);
	struct nc_cache *c = t->cache;
	int hold;

	if (!k)
		return NC_CHECK_MEMORY;
	hold = nc_holds_take(&c->holds);
	if (!check_begin(k, hold)) {
		nc_holds_give(&c->holds, hold);
		nc_pages_free(c, k, &k->pages);
		return NC_CHECK_GONE;
	}
	k->scrub = true;
	submit_slot(k);
	return NC_CHECK_STARTED;
}
