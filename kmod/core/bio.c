// SPDX-License-Identifier: GPL-2.0-only
/* Helpers for bios: cut, restore, send to the origin. */
#include "cache.h"
#include "core/bio.h"
#include "core/policy_clock.h"

/* Cut a read to @sectors; device-mapper maps the rest again.  Counts the bytes of @sectors in the
 * policy's clock.  Context: map of @bio; call it once for each piece.
 */
void nc_bio_take(struct nc_cache *c, struct bio *bio, u32 sectors)
{
	nc_bio_cut(bio, sectors);
	nc_clock_add(c, bio->bi_iter.bi_size);
}

/**
 * nc_bio_memory_fits() - does the cache device accept the memory of a read?
 * @hot: has the alignment that the cache device needs; the origin may need less
 * @bio: read
 * @sectors: number of sectors to check, from the start of @bio
 *
 * If the cache device has logical blocks above 512 bytes, each segment must have whole blocks, as
 * dm-crypt requires.
 */
bool nc_bio_memory_fits(const struct nc_hot *hot, const struct bio *bio, u32 sectors)
{
	u32 mask = hot->lbs_mask ? (hot->lbs_mask << SECTOR_SHIFT) | (SECTOR_SIZE - 1) :
				   hot->dma_mask;
	struct bvec_iter iter, start = bio->bi_iter;
	struct bio_vec bv;

	start.bi_size = sectors << SECTOR_SHIFT;
	__bio_for_each_bvec(bv, bio, iter, start)
		if (bv.bv_offset & hot->dma_mask || bv.bv_len & mask)
			return false;
	return true;
}

/**
 * nc_bio_restore() - undo the changes of a lower device to a completed read
 * @bio: dm's clone
 * @iter: bi_iter of @bio at map
 * @flags: bi_flags of @bio at map
 *
 * Resets __bi_remaining, which a split by a lower driver has used up, and the poll cookie, because
 * a poller must not take one device's queue number for another's.
 *
 * Context: any.
 */
void nc_bio_restore(struct bio *bio, const struct bvec_iter *iter, unsigned short flags)
{
	bio->bi_iter = *iter;
	bio->bi_flags = flags;
	/* A driver's own mark: the head of a multipath NVMe device has set it, and a drive without
	 * paths takes it for its own.
	 */
	bio->bi_opf &= ~REQ_DRV;
	bio->bi_status = BLK_STS_OK;
	atomic_set(&bio->__bi_remaining, 1);
	bio_clear_polled(bio);
	bio->bi_cookie = BLK_QC_T_NONE;
}

/* Submit a read to @bdev.  May sleep until a request is free, also for a REQ_NOWAIT read. */
void nc_bio_send(struct bio *bio, struct block_device *bdev)
{
	bio->bi_opf &= ~REQ_NOWAIT;
	bio_set_dev(bio, bdev);
	submit_bio_noacct(bio);
}

/* Queue a read for the retry worker, which sends it to the origin.  Context: any. */
void nc_bio_retry(struct nc_target *t, struct bio *bio)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));

	io->target = t;
	nc_retry_add(&t->cache->retry, t->cache->workers.origin, bio);
}

void nc_retry_init(struct nc_retry *retry, work_func_t work)
{
	spin_lock_init(&retry->lock);
	bio_list_init(&retry->bios);
	INIT_WORK(&retry->work, work);
}

/* Add a read to a retry queue, whose work runs on @queue.  Context: any. */
void nc_retry_add(struct nc_retry *retry, struct workqueue_struct *queue, struct bio *bio)
{
	unsigned long flags;

	/* Queue the work inside the lock: once the worker has the bio, @retry may be freed. */
	spin_lock_irqsave(&retry->lock, flags);
	bio_list_add(&retry->bios, bio);
	queue_work(queue, &retry->work);
	spin_unlock_irqrestore(&retry->lock, flags);
}

/* Remove all reads from the queue and return them.  Context: the retry worker. */
struct bio_list nc_retry_take(struct nc_retry *retry)
{
	struct bio_list bios;

	spin_lock_irq(&retry->lock);
	bios = retry->bios;
	bio_list_init(&retry->bios);
	spin_unlock_irq(&retry->lock);
	return bios;
}
