/* SPDX-License-Identifier: GPL-2.0-only */
/* Per-bio data of a bio in flight, and helpers for bios. */
#ifndef NEARCACHE_CORE_BIO_H
#define NEARCACHE_CORE_BIO_H

#include <linux/bio.h>
#include <linux/device-mapper.h>
#include <linux/workqueue.h>

#include "core/index.h"
#include "core/types.h"
#include "core/write_range.h"
#include "nearcache_trace.h"

struct nc_cache;
struct nc_target;

enum nc_io_kind {
	NC_IO_ORIGIN,	/* none of the others: an empty bio, or a read in a fill, check or retry */
	NC_IO_PLAIN,	/* a hit in a hit section; no tracepoint needs its completion */
	NC_IO_HIT,	/* any other hit in a hit section, sent to the cache device */
	NC_IO_BYPASS,	/* a read sent to the origin, uncached */
	NC_IO_WRITE,	/* changes the origin, is in nc_cache.write_ranges */
	NC_IO_FLUSH,
};

/**
 * struct nc_io - per-bio data
 * @kind: enum nc_io_kind
 * @failed_hit: the cache device failed the read
 * @waits: the origin failed the read, which waits to be sent again (origin_retry.c)
 * @observed: the values of @begun, @seen and @timed are valid
 * @partial: the hit was cut because later sub-blocks of the read are not valid; for verify.c
 * @timed: emit the nearcache_latency event on completion
 * @reported: the current piece was passed to its stream, and the value of @refused is valid
 * @refused: the classifier keeps the piece out of the cache
 * @target: table line, set when a read is queued to be submitted again
 * @counter: of a NC_IO_BYPASS, the enum nearcache_counter that counts the reason
 * @slot: slot of a hit
 * @hold: of the hit section; nc_hit_lock() returned it, and nc_hit_unlock() needs it
 * @flags: bi_flags of the read at map, for nc_bio_restore()
 * @label: id of the label of a hit, from the slot's tag
 * @since: jiffies when @waits was set
 * @iter: bi_iter of the read at map, for nc_bio_restore()
 * @work: verifies the data of a hit
 * @range: sectors of a NC_IO_WRITE
 * @begun: time of the first verdict, nanoseconds
 * @seen: issuer and last verdict, for the trace events
 */
struct nc_io {
	struct_group(state,	/* one 8-byte store clears them when a read is mapped */
		u8 kind;
		bool failed_hit;
		bool waits;
		bool observed;
		bool partial;
		bool timed;
		bool reported;
		bool refused;
	);
	struct nc_target *target;
	u8 counter;
	int hold;
	u32 slot;
	unsigned short flags;
	u16 label;
	unsigned long since;
	union {
		struct {
			struct bvec_iter iter;
			struct work_struct work;
		};
		struct nc_write_range range;
	};
	u64 begun;
	struct nearcache_io seen;
};

/**
 * struct nc_retry - reads that a worker must send again
 * @lock: protects @bios; taken from I/O completion
 * @bios: the reads
 * @work: sends @bios
 */
struct nc_retry {
	spinlock_t lock;	/* protects bios */
	struct bio_list bios;
	struct work_struct work;
};

void nc_bio_take(struct nc_cache *c, struct bio *bio, u32 sectors);
bool nc_bio_memory_fits(const struct nc_hot *hot, const struct bio *bio, u32 sectors);
void nc_bio_restore(struct bio *bio, const struct bvec_iter *iter, unsigned short flags);
void nc_bio_send(struct bio *bio, struct block_device *bdev);
void nc_bio_retry(struct nc_target *t, struct bio *bio);
void nc_retry_init(struct nc_retry *retry, work_func_t work);
void nc_retry_add(struct nc_retry *retry, struct workqueue_struct *queue, struct bio *bio);
struct bio_list nc_retry_take(struct nc_retry *retry);

/* Cut a bio to @sectors; device-mapper maps the rest again.  Context: map of @bio. */
static __always_inline void nc_bio_cut(struct bio *bio, u32 sectors)
{
	if (unlikely(sectors < bio_sectors(bio)))
		dm_accept_partial_bio(bio, sectors);
}

/* The sub-blocks that a bio with @iter touches in its first block. */
static inline struct nc_span nc_bio_span(const struct nc_hot *hot, const struct bvec_iter *iter)
{
	sector_t sector = iter->bi_sector;
	u32 mask = hot->block_mask;
	u32 start = (u32)sector & mask;
	u32 end = min(start + (iter->bi_size >> SECTOR_SHIFT) - 1, mask);

	return (struct nc_span) {
		.block = sector >> hot->block_shift,
		.first = start >> hot->sub_shift,
		.last = end >> hot->sub_shift,
	};
}

/* Number of sectors of a bio that lie in @span; the bio starts in @span. */
static inline u32 nc_bio_sectors(const struct nc_hot *hot, const struct bio *bio,
				 const struct nc_span *span)
{
	sector_t end = (span->block << hot->block_shift) +
		       ((sector_t)(span->last + 1) << hot->sub_shift);

	return min_t(sector_t, end - bio->bi_iter.bi_sector, bio_sectors(bio));
}

#endif /* NEARCACHE_CORE_BIO_H */
