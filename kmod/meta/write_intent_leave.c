// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records on the witness that the cache device left.  A cache device that was pulled out takes no
 * marks, and does not show later that it lacks them.  So before a write proceeds without a mark,
 * this file durably records on the witness, another device, that the cache device left.  If the
 * witness fails as well, the write fails, because the next load would trust stale data.  A write to
 * marked regions needs neither a new mark nor the witness.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>

#include "cache.h"
#include "meta/write_intent.h"
#include "meta/write_intent_leave.h"

static void fail_all(struct nc_cache *c, struct bio_list *bios)
{
	struct bio *bio;

	DMERR_LIMIT("%s: writes failed: neither cache device %u:%u nor witness %pg can record them",
		    nc_cache_name(c), MAJOR(c->dev.devt), MINOR(c->dev.devt),
		    c->intent.bdev);
	while ((bio = bio_list_pop(bios)))
		bio_io_error(bio);
}

/* Record "left" on the witness, normally with the session's number.  If another system began
 * sessions while this one slept, use a higher number than all of them: then the next load finds the
 * cache device older than the record.  @doubt: do so in any case, that system may have used another
 * witness.
 */
static int record_left(struct nc_cache *c, struct block_device *bdev, bool doubt)
{
	struct nc_intent *i = &c->intent;
	/* Not i->witness: this work does not hold nc_life.lock. */
	struct nc_witness w = { .record = &i->maps->left };
	int r = nc_witness_find(c, bdev, &w);
	u64 session = i->session, seen;

	/* A record that was moved to another witness does not count. */
	if (!r && le32_to_cpu(w.record->state) == NEARCACHE_WITNESS_MOVED)
		r = -ENOENT;
	if (r)
		return r;
	seen = le64_to_cpu(w.record->session);
	if (seen > session || doubt) {
		seen = max(seen, session);
		if (seen >= NEARCACHE_MAX_SEQUENCE)
			return -ERANGE;
		session = seen + 1;
	}
	r = nc_witness_write(c, bdev, &w, session, 0, NEARCACHE_WITNESS_LEFT);
	if (!r)
		i->session = session;
	return r;
}

/* Record "left" on the witness, then release all waiting writes.  If the witness fails, fail these
 * writes; each later write to an unmarked region then tries the witness again.
 */
void nc_intent_leave_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(work, struct nc_cache,
					  intent.leave_work);
	struct nc_intent *i = &c->intent;
	struct block_device *bdev = i->bdev;
	struct bio_list failed;
	bool left = false, doubt = READ_ONCE(i->doubt);
	int r = -EIO;

	if (READ_ONCE(i->mode) == NC_INTENT_LEAVING && bdev)
		r = record_left(c, bdev, doubt);
	bio_list_init(&failed);
	spin_lock_irq(&i->lock);
	if (i->mode == NC_INTENT_ON || (i->doubt && !doubt)) {
		/* nc_intent_doubt() or nc_intent_leave() has queued this work again. */
		spin_unlock_irq(&i->lock);
		return;
	}
	bio_list_merge(&i->batch, &i->waiting);
	bio_list_init(&i->waiting);
	if (i->mode == NC_INTENT_LEAVING && r) {
		bio_list_merge(&failed, &i->batch);
		bio_list_init(&i->batch);
	} else if (i->mode == NC_INTENT_LEAVING) {
		left = true;
		WRITE_ONCE(i->mode, NC_INTENT_LEFT);
	}
	nc_intent_queue_ready(c, &i->batch);
	spin_unlock_irq(&i->lock);
	if (!bio_list_empty(&failed))
		fail_all(c, &failed);
	if (left)
		DMWARN("%s: cache device %u:%u records no writes: a crash costs all cached data",
		       nc_cache_name(c), MAJOR(c->dev.devt), MINOR(c->dev.devt));
}

/* Is @dev the witness of the session, and does its record name the session, or a later one (see
 * record_left())?  @dev may be NULL.
 */
static bool is_witness(struct nc_cache *c, const struct dm_dev *dev)
{
	struct nc_intent *i = &c->intent;

	return dev && dev->bdev == i->bdev &&
	       !nc_witness_find(c, dev->bdev, &i->witness) &&
	       le32_to_cpu(i->witness.record->state) != NEARCACHE_WITNESS_MOVED &&
	       le64_to_cpu(i->witness.record->session) >= i->session;
}

/**
 * nc_intent_ask_again() - try again to record "left" on a witness that failed
 * @c: live cache, suspended; the previous table still exists
 *
 * Context: may sleep; nc_life.lock.
 */
void nc_intent_ask_again(struct nc_cache *c)
{
	struct nc_intent *i = &c->intent;

	lockdep_assert_held(&c->life.lock);
	flush_work(&i->leave_work);
	if (READ_ONCE(i->mode) != NC_INTENT_LEAVING)
		return;
	/* Forget a witness that the active table does not name: the old table may soon close it. */
	if (!is_witness(c, c->life.active->witness))
		i->bdev = NULL;
	queue_work(c->workers.origin, &i->leave_work);
	flush_work(&i->leave_work);
}

/* The cache device cannot be read after an image of the memory was taken: perhaps another system
 * used it meanwhile, and recovered and forgot the marks of this session.  So do not rely on the
 * marks: the witness must record "left" again, with a session number that the cache device cannot
 * have.  Context: process; nc_life.lock.
 */
void nc_intent_doubt(struct nc_cache *c)
{
	const struct dm_dev *witness = c->life.active->witness;
	struct nc_intent *i = &c->intent;

	lockdep_assert_held(&c->life.lock);
	spin_lock_irq(&i->lock);
	WRITE_ONCE(i->doubt, true);
	/* In mode LEFT, i->bdev may be a device that an older table has closed. */
	if (i->mode == NC_INTENT_LEFT && witness) {
		i->bdev = witness->bdev;
		WRITE_ONCE(i->mode, NC_INTENT_LEAVING);
	}
	if (i->mode == NC_INTENT_LEAVING)
		queue_work(c->workers.origin, &i->leave_work);
	spin_unlock_irq(&i->lock);
}
