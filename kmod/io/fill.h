/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fill: a run of sub-blocks that goes from the origin (after a miss) or from a write (an
 * update, see writethrough.c) into a slot.
 */
#ifndef NEARCACHE_IO_FILL_H
#define NEARCACHE_IO_FILL_H

#include <linux/bio.h>
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "core/pages.h"

struct nc_cache;
struct nc_job;
struct nc_stripe;
struct nc_target;

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

enum nc_fill_state {
	NC_FILL_START,		/* origin_wq will submit the origin read */
	NC_FILL_READING,
	NC_FILL_SENDING,	/* an update writes to the origin */
	NC_FILL_FILLED,		/* the data is here, the fill writer will submit the write */
	NC_FILL_WRITING,
};

/**
 * struct nc_fill - a fill under way
 * @list: in nc_stripe.fills; bucket lock
 * @target: table line that started it
 * @span: sub-blocks to fill; constant once on the list
 * @stale: sub-blocks written since the start: neither publish nor join them; bucket lock
 * @dropped: of an update: sub-blocks that its write invalidated, including those that it
 *	covers in part and that are not in @span
 * @slot: destination; it holds the block and cannot be evicted during the fill
 * @state: enum nc_fill_state; written by the owner of the current step
 * @refs: one of the fill itself, and one of each reader that copies once FILLED
 * @waiters: readers that joined in START or READING, linked by bi_next, the latest first;
 *	then NC_FILL_READY.  Readers add themselves under the bucket lock; the completion
 *	takes all of them without it
 * @update: the data comes from a write
 * @writer: of an update: the write, until the origin completes it
 * @ahead: a prefetch job or a readahead window started it
 * @job: of a prefetch: its prefetch job, NULL for a readahead window
 * @since: ktime in ns of the submission to the origin; 0: not measured
 * @alone: no prefetch was in flight at @since or shortly before
 * @sector: origin sector of the first byte
 * @bytes: to read from the origin, or to write to it
 * @skip: bytes at the start that do not go to the slot
 * @cache_bytes: bytes that go to the slot
 * @work: runs the next step, except the steps of the fill writer
 * @bio: of the origin, then of the cache device; after each of these on the fill writer's lists
 * @pages: hold @bytes, and zeros up to the end of the sub-block in which the origin ends
 */
struct nc_fill {
	struct list_head list;
	struct nc_target *target;
	struct nc_span span;
	u64 stale;
	u64 dropped;
	u32 slot;
	enum nc_fill_state state;
	refcount_t refs;
	struct bio *waiters;
	bool update;
	bool ahead;
	struct bio *writer;
	struct nc_job *job;
	u64 since;
	bool alone;
	sector_t sector;
	u32 bytes;
	u32 skip;
	u32 cache_bytes;
	struct work_struct work;
	struct bio bio;
	struct nc_pages pages;
};

/* Value of nc_fill.waiters once the data is here. */
#define NC_FILL_READY	((struct bio *)ERR_PTR(-EALREADY))

struct nc_fill *nc_fill_alloc(struct nc_target *t, sector_t sector, u32 bytes,
			      bool half);
void nc_fill_free(struct nc_cache *c, struct nc_fill *f);
u32 nc_fill_bytes_max(const struct nc_cache *c, bool half);
void nc_fill_shorten(const struct nc_cache *c, struct nc_span *span, bool half);
u32 nc_fill_span_bytes(const struct nc_cache *c, const struct nc_span *span);
void nc_fill_list(struct nc_fill *f, struct nc_stripe *stripe);
void nc_fill_start(struct nc_fill *f, bool nowait);
void nc_fill_init_bio(struct nc_fill *f, struct block_device *bdev,
		      blk_opf_t opf, sector_t sector, bio_end_io_t *end_io);
void nc_fill_write(struct nc_fill *f);
void nc_fill_publish(struct nc_fill *f);
bool nc_fill_wait(struct nc_fill *f, struct bio *bio);
void nc_fill_serve(struct nc_fill *f, struct bio *bio);
struct nc_fill *nc_fill_find(const struct nc_stripe *stripe,
			     struct nc_span *span);
bool nc_fill_busy(const struct nc_stripe *stripe, const struct nc_span *span);
void nc_fill_mark_stale(const struct nc_stripe *stripe, u64 block, u64 bits);
void nc_fill_drain(struct nc_cache *c);

#endif /* NEARCACHE_IO_FILL_H */
