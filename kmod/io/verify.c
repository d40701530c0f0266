// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks of cached data.  A hit on whole sub-blocks goes to the reader's own pages, whose data is
 * then compared with the checksums.  All other checks read into pages of the cache: hits on parts
 * of sub-blocks, hits that are compared with the origin, the reads of a scrub, and hits that failed
 * the check of the reader's pages, because the reader may have modified its pages meanwhile.
 *
 *	START ---> SLOT ---> gone
 *	(NOWAIT      |
 *	 readers)    +-----> SERVED ---> ORIGIN ---> gone
 *	                     (the reader has its data; the comparison follows)
 *
 * Wrong data on the cache device causes no I/O error: the read goes to the origin, and the
 * sub-blocks are invalidated and filled again.  A mismatch does not count if a valid bit under the
 * same bucket lock was cleared, or a slot was evicted, since the check looked at the index: then a
 * write may have changed the data.  Valid data changes in no other way, because a fill writes only
 * sub-blocks that are not valid.
 */
#include <linux/blk-cgroup.h>
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
#include "io/trace_io.h"
#include "core/tracepoints.h"

/* Most bytes to checksum in the completion of a read, which may be an interrupt: a few us. */
#define INLINE_MAX	(32U << 10)

enum check_state {
	CHECK_START,	/* nc_workers.cache will submit the read of the slot */
	CHECK_SLOT,	/* the slot is being read */
	CHECK_SERVED,	/* nc_workers.origin will submit the read of the origin */
	CHECK_ORIGIN,	/* the origin is being read */
};

/**
 * struct check - a check of cached data in flight, which counts in nc_fills.count
 * @target: table line that started the check
 * @reader: read to serve; NULL for a scrub, and after the read was served
 * @span: sub-blocks to check, all of them valid at the start
 * @slot: slot of these sub-blocks
 * @drops: nc_bucket_lock.drops at the start
 * @hold: hit section, until the slot was read
 * @compare: also compare the data with the origin
 * @done: called at the end of a scrub's check with the number of bytes read; otherwise NULL
 * @state: enum check_state
 * @work: runs the next step
 * @bio: bio to the cache device, then to the origin
 * @sum: checksums of the data that was last read, per sub-block of the block
 * @pages: data, whole sub-blocks
 */
struct check {
	struct nc_target *target;
	struct bio *reader;
	struct nc_span span;
	u32 slot;
	u32 drops;
	int hold;
	bool compare;
	nc_verify_done_fn *done;
	enum check_state state;
	struct work_struct work;
	struct bio bio;
	__le32 sum[NEARCACHE_SUBBLOCKS_MAX];
	struct nc_pages pages;
};

static void check_work(struct work_struct *work);

/* Shall this hit be compared with the origin?  True for one hit in every nc_hot.verify. */
static bool hit_sampled(struct nc_cache *c)
{
	u32 every = READ_ONCE(c->hot.verify);

	if (!every || this_cpu_inc_return(c->hot.counters->unverified) < every)
		return false;
	this_cpu_write(c->hot.counters->unverified, 0);
	return true;
}

/* Can the first @sectors of a hit be read into the reader's own pages and be checked there? */
static bool whole_subblocks(const struct nc_cache *c, const struct bio *bio,
			    u32 sectors)
{
	u32 mask = (1U << c->hot.sub_shift) - 1;

	return !(((u32)bio->bi_iter.bi_sector | sectors) & mask) &&
	       nc_bio_memory_fits(&c->hot, bio, sectors);
}

static u32 check_span_bytes(const struct nc_cache *c, const struct nc_span *span)
{
	return (span->last - span->first + 1) * c->geo.subblock_size;
}

/* Allocate a check of @span without a reader.  Returns NULL if no memory is free within the cap. */
static struct check *check_alloc(struct nc_target *t, const struct nc_span *span,
				 bool compare)
{
	struct nc_cache *c = t->cache;
	/* Comparisons hold memory while the origin hangs: leave half of the memory to others. */
	struct check *k = nc_pages_alloc(c, offsetof(struct check, pages),
					 check_span_bytes(c, span),
					 READ_ONCE(c->fills.memory_max) >> compare, false);

	if (!k)
		return NULL;
	k->target = t;
	k->reader = NULL;
	k->span = *span;
	k->compare = compare;
	k->done = NULL;
	k->state = CHECK_START;
	INIT_WORK(&k->work, check_work);
	return k;
}

/* Prepare to read the slot in the hit section @hold.  Returns true if all of the span is valid: the
 * check owns @hold then.  If not, returns false: the caller frees the check.
 */
static bool check_begin(struct check *k, int hold)
{
	struct nc_cache *c = k->target->cache;
	struct nc_bucket_lock *bucket = nc_index_bucket(&c->index, k->span.block);
	u64 bits = nc_span_bits(&k->span);
	bool valid;

	k->hold = hold;
	spin_lock(&bucket->lock);
	k->slot = nc_index_find(&c->index, k->span.block);
	k->drops = bucket->drops;
	valid = k->slot != NC_NIL &&
		(c->index.slots[k->slot].valid & bits) == bits;
	spin_unlock(&bucket->lock);
	if (valid)
		atomic_inc(&c->fills.count);
	return valid;
}

static void check_end(struct check *k)
{
	struct nc_cache *c = k->target->cache;

	if (k->done)
		k->done(c, check_span_bytes(c, &k->span));
	bio_uninit(&k->bio);
	nc_pages_free(c, k, &k->pages);
	if (atomic_dec_and_test(&c->fills.count))
		wake_up(&c->fills.idle);
}

static void check_end_io(struct bio *bio)
{
	struct check *k = bio->bi_private;

	queue_work(k->target->cache->workers.completion, &k->work);
}

static void check_init_bio(struct check *k, struct block_device *bdev, sector_t sector,
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
	check_init_bio(k, bdev, place + ((sector_t)k->span.first << c->hot.sub_shift),
		       check_span_bytes(c, &k->span));
	submit_bio_noacct(&k->bio);
}

/* Read the origin into the pages that held the slot's data. */
static void submit_origin(struct check *k)
{
	struct nc_target *t = k->target;
	struct nc_cache *c = t->cache;
	u32 bytes = nc_fill_span_bytes(c, &k->span);
	struct bvec_iter rest = { .bi_size = check_span_bytes(c, &k->span) };

	/* The slot has zeros behind the end of the origin: compare with zeros there. */
	bvec_iter_advance(k->pages.vecs, &rest, bytes);
	while (rest.bi_size) {
		struct bio_vec bv = bvec_iter_bvec(k->pages.vecs, rest);

		memzero_bvec(&bv);
		bvec_iter_advance(k->pages.vecs, &rest, bv.bv_len);
	}
	k->state = CHECK_ORIGIN;
	bio_uninit(&k->bio);
	check_init_bio(k, t->origin->bdev,
		       (k->span.block << c->hot.block_shift) +
			 ((sector_t)k->span.first << c->hot.sub_shift), bytes);
	bio_associate_blkg_from_css(&k->bio, blkcg_root_css);
	submit_bio_noacct(&k->bio);
}

/* Fill the invalidated sub-blocks @bits again. */
static void repair_subblocks(struct check *k, u64 bits)
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

/* Invalidate the sub-blocks @bits, which are @unreadable or wrong.  Spares wrong sub-blocks if
 * k->drops shows that a write or eviction may have changed them.  Returns the invalidated ones.
 */
static u64 drop_damaged(struct check *k, u64 bits, bool unreadable)
{
	struct nc_cache *c = k->target->cache;
	struct nc_bucket_lock *bucket = nc_index_bucket(&c->index, k->span.block);

	spin_lock(&bucket->lock);
	if ((unreadable || bucket->drops == k->drops) &&
	    nc_index_find(&c->index, k->span.block) == k->slot)
		bits = nc_invalidate_bits(c, bucket, k->slot, bits);
	else
		bits = 0;
	spin_unlock(&bucket->lock);
	return bits;
}

/* Invalidate, report and refill @bits, which are unreadable or wrong. */
static void report_damage(struct check *k, u64 bits, enum nc_damage what)
{
	struct nc_cache *c = k->target->cache;
	u64 block = k->span.block << c->hot.block_shift;
	struct block_device *bdev;
	sector_t place;

	bits = drop_damaged(k, bits, what == NC_DAMAGE_UNREADABLE);
	if (!bits)
		return;
	bdev = nc_members_place(k->target, k->slot, &place);
	nc_count_add(c, DAMAGED, hweight64(bits));
	trace_nearcache_damage(c->dev.dm_devt, block, k->slot, bits,
			       what == NC_DAMAGE_DIFFERS);
	nc_health_damage(c, bdev, what, block + ((u64)__ffs64(bits) << c->hot.sub_shift),
			 hweight64(bits) << c->hot.sub_shift);
	/* Without checksums other hits may return wrong data as well, and nothing detects it. */
	if (what == NC_DAMAGE_DIFFERS && !k->done && !nc_sums_present(&c->sums))
		nc_health_differs(c, bdev);
	repair_subblocks(k, bits);
}

/* Handle a slot that cannot be read.  Read errors of a scrub do not count towards a bypass of the
 * device: a scrub finds in minutes the bad sectors that reads meet in months.
 */
static void slot_unreadable(struct check *k)
{
	struct nc_cache *c = k->target->cache;
	u64 bits = nc_span_bits(&k->span);

	if (k->done) {
		report_damage(k, bits, NC_DAMAGE_UNREADABLE);
		return;
	}
	nc_count(c, HIT_ERRORS);
	nc_health_error(c, k->bio.bi_bdev, "read");
	repair_subblocks(k, drop_damaged(k, bits, true));
}

/* Checksum the pages.  Compare data of the slot with the stored checksums, if any; compare data of
 * the origin with the checksums of the slot's data.  Returns the sub-blocks that differ.
 */
static u64 judge_pages(struct check *k)
{
	struct nc_cache *c = k->target->cache;
	struct bvec_iter iter = { .bi_size = check_span_bytes(c, &k->span) };
	u64 bad = 0;
	u32 sub;

	for (sub = k->span.first; sub <= k->span.last; sub++) {
		__le32 sum = nc_pages_sum(k->pages.vecs, &iter, c->geo.subblock_size);
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

/* Serve the reader, if any: from the pages if @good, otherwise from the origin. */
static void serve_reader(struct check *k, bool good)
{
	struct nc_target *t = k->target;
	struct nc_cache *c = t->cache;
	struct bio *reader = k->reader;
	sector_t start = (k->span.block << c->hot.block_shift) +
			 ((sector_t)k->span.first << c->hot.sub_shift);

	if (!reader)
		return;
	k->reader = NULL;
	count_hit(c, reader);
	if (!good) {
		nc_bio_retry(t, reader);
		return;
	}
	nc_pages_copy(&k->pages, check_span_bytes(c, &k->span),
		      (reader->bi_iter.bi_sector - start) << SECTOR_SHIFT, reader);
	bio_endio(reader);
}

/* Completion worker: serve the reader after the slot was read, perhaps with an error. */
static void slot_done(struct check *k)
{
	struct nc_cache *c = k->target->cache;
	bool failed = k->bio.bi_status;
	u64 bad = failed ? 0 : judge_pages(k);

	nc_hit_unlock(&c->hot.hit_srcu, k->hold);
	if (failed)
		slot_unreadable(k);
	else if (bad)
		report_damage(k, bad, NC_DAMAGE_CHECKSUM);
	serve_reader(k, !failed && !bad);
	if (k->compare && !failed && !bad) {
		k->state = CHECK_SERVED;
		queue_work(c->workers.origin, &k->work);
		return;
	}
	check_end(k);
}

/* Completion worker: compare after the origin was read, unless the origin failed. */
static void origin_done(struct check *k)
{
	u64 bad;

	if (!k->bio.bi_status) {
		nc_count(k->target->cache, VERIFIED);
		bad = judge_pages(k);
		if (bad)
			report_damage(k, bad, NC_DAMAGE_DIFFERS);
	}
	check_end(k);
}

/* Start a check for a reader; if its sub-blocks are invalid by now, send the reader to the origin.
 * Context: nc_workers.cache.
 */
static void start_check(struct check *k)
{
	struct nc_target *t = k->target;
	struct nc_cache *c = t->cache;
	struct bio *reader = k->reader;
	int hold = nc_hit_lock(&c->hot.hit_srcu, nc_index_hash(&c->index, k->span.block));

	if (check_begin(k, hold)) {
		submit_slot(k);
		return;
	}
	nc_hit_unlock(&c->hot.hit_srcu, hold);
	nc_pages_free(c, k, &k->pages);
	count_hit(c, reader);
	nc_bio_retry(t, reader);
}

static void check_work(struct work_struct *work)
{
	struct check *k = container_of(work, struct check, work);

	switch (k->state) {
	case CHECK_START:
		start_check(k);
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

/* Cut and report k->reader, which the check owns from here on. */
static void take_reader(struct check *k, u32 slot, u32 sectors)
{
	struct nc_io *io = dm_per_bio_data(k->reader, sizeof(*io));
	struct nc_cache *c = k->target->cache;

	nc_bio_take(c, k->reader, sectors);
	if (unlikely(nc_slot_is_first_use(&c->hot, &c->index.slots[slot])))
		nc_slots_stamp(c, &c->index.slots[slot]);
	nc_observe(c, k->reader, io->partial ? NEARCACHE_VERDICT_PARTIAL :
						NEARCACHE_VERDICT_HIT);
	bio_clear_polled(k->reader);
}

/**
 * nc_verify_hit() - decide how to serve a hit while hits are checked
 * @t: target
 * @bio: read that starts in @span
 * @span: valid sub-blocks that the read covers; shortened to the longest check
 * @slot: slot that holds these sub-blocks
 * @hold: hit section; belongs to the check on NC_VERIFY_STARTED
 *
 * On NC_VERIFY_STARTED the bio was cut to @span and may already be complete.
 *
 * Context: map; does not sleep.
 * Return: see enum nc_verify.
 */
enum nc_verify nc_verify_hit(struct nc_target *t, struct bio *bio,
			     struct nc_span *span, u32 slot, int hold)
{
	struct nc_cache *c = t->cache;
	bool sums = nc_sums_present(&c->sums);
	struct check *k;
	bool compare;
	u32 sectors;

	if (unlikely(is_pci_p2pdma_page(bio_page(bio))))
		return sums ? NC_VERIFY_P2P : NC_VERIFY_DIRECT;
	compare = hit_sampled(c);
	if (!sums && !compare)
		return NC_VERIFY_DIRECT;
	nc_fill_shorten(c, span, false);
	sectors = nc_bio_sectors(&c->hot, bio, span);
	if (!compare && whole_subblocks(c, bio, sectors))
		return NC_VERIFY_DIRECT;
	k = check_alloc(t, span, compare);
	if (!k && (!sums || whole_subblocks(c, bio, sectors)))
		return NC_VERIFY_DIRECT;
	if (!k)
		k = check_alloc(t, span, false);
	if (!k)
		return NC_VERIFY_MEMORY;
	k->reader = bio;
	/* Submitting may wait for a request, so leave it to a worker. */
	if (bio->bi_opf & REQ_NOWAIT) {
		take_reader(k, slot, sectors);
		nc_hit_unlock(&c->hot.hit_srcu, hold);
		queue_work(c->workers.cache, &k->work);
		return NC_VERIFY_STARTED;
	}
	if (!check_begin(k, hold)) {
		nc_pages_free(c, k, &k->pages);
		return NC_VERIFY_GONE;
	}
	take_reader(k, slot, sectors);
	submit_slot(k);
	return NC_VERIFY_STARTED;
}

/* Do the reader's pages, which hold whole sub-blocks, match the checksums? */
static bool hit_is_sound(struct nc_cache *c, const struct bio *bio,
			 const struct nc_io *io)
{
	struct nc_span span = nc_bio_span(&c->hot, &io->iter);
	struct bvec_iter iter = io->iter;
	u32 sub;

	for (sub = span.first; sub <= span.last; sub++)
		if (nc_pages_sum(bio->bi_io_vec, &iter, c->geo.subblock_size) !=
		    READ_ONCE(*nc_sums_of(&c->sums, io->slot, sub)))
			return false;
	return true;
}

/* nc_workers.cache: read the slot again, into pages of the cache, because the reader's pages do not
 * match.  A write to the sub-blocks, or a program that modifies the pages, may be the cause.
 */
static void again_work(struct work_struct *work)
{
	struct nc_io *io = container_of(work, struct nc_io, work);
	struct bio *bio = dm_bio_from_per_bio_data(io, sizeof(*io));
	struct nc_target *t = io->target;
	struct nc_cache *c = t->cache;
	struct nc_span span = nc_bio_span(&c->hot, &bio->bi_iter);
	struct check *k = check_alloc(t, &span, false);

	if (k) {
		k->reader = bio;
		start_check(k);
		return;
	}
	count_hit(c, bio);
	nc_bio_retry(t, bio);
}

static void read_again(struct nc_cache *c, struct bio *bio, struct nc_io *io)
{
	nc_hit_unlock(&c->hot.hit_srcu, io->hold);
	io->kind = NC_IO_ORIGIN;
	nc_bio_restore(bio, &io->iter, io->flags);
	INIT_WORK(&io->work, again_work);
	queue_work(c->workers.cache, &io->work);
}

/* Completion worker: check the pages of a hit of more than INLINE_MAX bytes. */
static void hit_work(struct work_struct *work)
{
	struct nc_io *io = container_of(work, struct nc_io, work);
	struct bio *bio = dm_bio_from_per_bio_data(io, sizeof(*io));
	struct nc_cache *c = io->target->cache;

	if (!hit_is_sound(c, bio, io)) {
		read_again(c, bio, io);
		return;
	}
	nc_hit_unlock(&c->hot.hit_srcu, io->hold);
	io->kind = NC_IO_ORIGIN;
	nc_bio_restore(bio, &io->iter, io->flags);
	count_hit(c, bio);
	bio_endio(bio);
}

/**
 * nc_verify_end_io() - check a hit that the cache device completed against its checksums
 * @t: target
 * @bio: dm's clone, whole sub-blocks, read without an error
 *
 * Context: any, including interrupts.
 * Return: DM_ENDIO_DONE if the data is sound; DM_ENDIO_INCOMPLETE: a worker completes @bio later.
 */
int nc_verify_end_io(struct nc_target *t, struct bio *bio)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct nc_cache *c = t->cache;

	io->target = t;
	if (io->iter.bi_size > INLINE_MAX) {
		INIT_WORK(&io->work, hit_work);
		queue_work(c->workers.completion, &io->work);
		return DM_ENDIO_INCOMPLETE;
	}
	if (unlikely(!hit_is_sound(c, bio, io))) {
		read_again(c, bio, io);
		return DM_ENDIO_INCOMPLETE;
	}
	nc_hit_unlock(&c->hot.hit_srcu, io->hold);
	nc_read_count_hit(c, io, &io->iter);
	return DM_ENDIO_DONE;
}

/**
 * nc_verify_scrub() - check cached data for a scrub
 * @t: live target
 * @span: sub-blocks, after nc_fill_shorten()
 * @compare: also compare the data with the origin
 * @done: called in a completion worker at the end of the check, only after NC_VERIFY_STARTED
 *
 * Context: process; may wait for a request.
 * Return: NC_VERIFY_STARTED, NC_VERIFY_MEMORY or NC_VERIFY_GONE.
 */
enum nc_verify nc_verify_scrub(struct nc_target *t, const struct nc_span *span,
			       bool compare, nc_verify_done_fn *done)
{
	struct check *k = check_alloc(t, span, compare);
	struct nc_cache *c = t->cache;
	int hold;

	if (!k)
		return NC_VERIFY_MEMORY;
	hold = nc_hit_lock(&c->hot.hit_srcu, nc_index_hash(&c->index, span->block));
	if (!check_begin(k, hold)) {
		nc_hit_unlock(&c->hot.hit_srcu, hold);
		nc_pages_free(c, k, &k->pages);
		return NC_VERIFY_GONE;
	}
	k->done = done;
	submit_slot(k);
	return NC_VERIFY_STARTED;
}
