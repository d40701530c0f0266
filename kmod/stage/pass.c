// SPDX-License-Identifier: GPL-2.0-only
/*
 * The option on_full writethrough: when the log is full, empty it, pass writes to the origin for a
 * while, and return to the log (rules F1 to F7 of kmod/doc/stage.md).
 *
 * Under the lock of the stage, nc_stage.mode says where the next write goes.  The worker of space.c
 * enters the mode "passes", because this moves the tail; the worker of this file returns.
 */
#include <linux/blkdev.h>
#include <linux/ktime.h>

#include "core/compat.h"
#include "stage/stage.h"

/* Window: time over which the stage observes how busy the origin is, in nanoseconds. */
#define PASS_WINDOW	(2ULL * NSEC_PER_SEC)

/* Let the worker act on the mode.  Context: @s->lock. */
static void pass_kick(struct nc_stage *s)
{
	lockdep_assert_held(&s->lock);
	if (!s->pass.stopped)
		mod_delayed_work(s->queue, &s->pass.work, 0);
}

/* Enter a mode; the worker raises an event, and waiting writes may go on.  Context: @s->lock. */
static void enter_mode(struct nc_stage *s, enum nearcache_stage_mode mode)
{
	struct nc_pass *p = &s->pass;

	lockdep_assert_held(&s->lock);
	s->mode = mode;
	if (mode == NEARCACHE_STAGE_PASSES) {
		p->window = ktime_get_ns();
		p->busy_since = p->window;
		p->busy = 0;
	}
	pass_kick(s);
	queue_work(s->queue, &s->room);
}

/**
 * nc_pass_consider() - a write must wait: empty the log if it is full
 * @s: stage
 * @too_far: max_behind or max_behind_time is exceeded
 *
 * If the tail can still move, the log is not full: the write gets room soon.
 *
 * Context: @s->lock.
 */
void nc_pass_consider(struct nc_stage *s, bool too_far)
{
	const struct nc_ring *r = &s->ring;

	lockdep_assert_held(&s->lock);
	if (!READ_ONCE(s->on_full) || s->mode != NEARCACHE_STAGE_LOGS)
		return;
	if (!too_far && (r->tail.record != r->marked.record || nc_ring_has_room(r)))
		return;
	s->pass.full = nc_ring_behind(r);
	s->pass.grant = 0;
	enter_mode(s, NEARCACHE_STAGE_EMPTIES);
}

/* May a waiting write go to the log?  Context: @s->lock. */
bool nc_pass_admits(const struct nc_stage *s, const struct nc_stage_io *io)
{
	lockdep_assert_held(&s->lock);
	return s->mode == NEARCACHE_STAGE_LOGS ||
	       (s->mode == NEARCACHE_STAGE_EMPTIES &&
		nearcache_stage_blocks(io->entry_kind, io->sectors) <= s->pass.grant);
}

/* A waiting write went to the log.  Context: @s->lock. */
void nc_pass_admitted(struct nc_stage *s, const struct nc_stage_io *io)
{
	lockdep_assert_held(&s->lock);
	if (s->mode == NEARCACHE_STAGE_EMPTIES)
		s->pass.grant -= nearcache_stage_blocks(io->entry_kind, io->sectors);
}

/* An epoch of @blocks blocks was marked (rules F1 and F2).  Context: @s->lock. */
void nc_pass_marked(struct nc_stage *s, u64 blocks)
{
	struct nc_pass *p = &s->pass;
	u64 behind = nc_ring_behind(&s->ring);

	lockdep_assert_held(&s->lock);
	if (s->mode != NEARCACHE_STAGE_EMPTIES || p->begins)
		return;
	if (!s->waiting_count && behind <= p->full / 2) {
		enter_mode(s, NEARCACHE_STAGE_LOGS);
		return;
	}
	p->grant = behind > NC_EPOCH_BLOCKS_IDLE ? p->grant + blocks / 2 : 0;
	if (behind)
		return;
	/* No write can be appended any more. */
	p->begins = true;
	queue_work(s->queue, &s->space);
}

/* Begin to pass: the superblock says so, and the log is empty.  Context: @s->lock. */
void nc_pass_begin(struct nc_stage *s)
{
	lockdep_assert_held(&s->lock);
	s->pass.begins = false;
	s->pass.discarded = 0;
	enter_mode(s, NEARCACHE_STAGE_PASSES);
}

/* Count a request that is passed, and direct it to the origin.  Context: @s->lock. */
static void pass_request(struct nc_stage *s, struct bio *bio, struct nc_stage_io *io)
{
	struct nc_pass *p = &s->pass;

	lockdep_assert_held(&s->lock);
	io->kind = NC_STAGE_IO_PAST_LOG;
	if (!p->writes && !p->flushes)
		p->busy_since = ktime_get_ns();
	if (io->sectors)
		p->writes++;
	else
		p->flushes++;
	/* A return waits for this bio, and a poller may complete it late. */
	bio_clear_polled(bio);
	bio_set_dev(bio, s->origin->bdev);
}

/* The origin has completed a passed discard.  Ignore its error: a discard is advisory, as in the
 * drain, and the stage supports discards even if the origin does not.  Clear the error before dm
 * sees it: if the origin does not support discards, dm disables those of the stage, and only then
 * calls end_io of the target.
 */
static void pass_discard_end(struct bio *bio)
{
	struct nc_stage_io *io = dm_per_bio_data(bio, sizeof(*io));

	bio->bi_status = BLK_STS_OK;
	bio->bi_end_io = io->end_io;
	bio->bi_end_io(bio);
}

/* Prepare the bio of a write, discard or write-zeroes for the origin.  Context: @s->lock. */
void nc_pass_write(struct nc_stage *s, struct bio *bio, struct nc_stage_io *io)
{
	pass_request(s, bio, io);
	bio->bi_iter.bi_sector = io->sector;
	if (io->entry_kind != NEARCACHE_STAGE_DISCARD)
		return;
	s->pass.discarded |= nc_origin_print_blocks(s, io->sector, io->sectors);
	io->end_io = bio->bi_end_io;
	bio->bi_end_io = pass_discard_end;
}

/* Prepare a FLUSH for the origin.  Context: @s->lock. */
void nc_pass_flush(struct nc_stage *s, struct bio *bio, struct nc_stage_io *io)
{
	lockdep_assert_held(&s->lock);
	io->sectors = 0;
	pass_request(s, bio, io);
}

/* Must a FLUSH of a writer fail, because the stage's own flush of the origin has failed?  A return
 * in a suspend may have succeeded since, or another table may have started.  Context: @s->lock.
 */
bool nc_pass_fails_flush(struct nc_stage *s)
{
	bool fails = s->pass.flush_failed;

	lockdep_assert_held(&s->lock);
	s->pass.flush_failed = false;
	return fails;
}

/* A passed request has ended.  Context: end_io of the target. */
void nc_pass_end(struct nc_stage *s, const struct nc_stage_io *io, blk_status_t error)
{
	struct nc_pass *p = &s->pass;
	unsigned long flags;
	u32 bytes = io->sectors << SECTOR_SHIFT;

	spin_lock_irqsave(&s->lock, flags);
	if (io->sectors)
		p->writes--;
	else
		p->flushes--;
	if (!error && io->sectors && io->entry_kind == NEARCACHE_STAGE_DATA) {
		s->count.written_bytes += bytes;
		s->count.passed_bytes += bytes;
	}
	if (!p->writes && !p->flushes)
		p->busy += ktime_get_ns() - p->busy_since;
	if (!p->writes && s->mode == NEARCACHE_STAGE_RETURNS)
		pass_kick(s);
	spin_unlock_irqrestore(&s->lock, flags);
}

/* Flush the origin while writes are passed.  May sleep.  Return: 0 or the error of the origin. */
static int flush_origin(struct nc_stage *s)
{
	int r = blkdev_issue_flush(s->origin->bdev);

	if (!r)
		return 0;
	DMERR("%s: origin %s failed a flush (error %d): writes may be lost, the next flush fails",
	      nc_stage_name(s), s->origin->name, r);
	spin_lock_irq(&s->lock);
	s->pass.flush_failed = true;
	spin_unlock_irq(&s->lock);
	return r;
}

/* Make the passed writes durable.  May sleep.  Return: 0 or the error of the origin. */
int nc_pass_sync(struct nc_stage *s)
{
	bool passes;

	spin_lock_irq(&s->lock);
	passes = s->mode >= NEARCACHE_STAGE_PASSES;
	spin_unlock_irq(&s->lock);
	return passes ? flush_origin(s) : 0;
}

/* Use the log again (rule F5).  No passed write is in flight, and new writes wait.  May sleep. */
static void pass_return(struct nc_stage *s)
{
	int r = flush_origin(s), error = 0;

	/* A log that was given up may hang. */
	if (!r && !READ_ONCE(s->given_up)) {
		error = nc_origin_print_take(s, s->pass.discarded);
		r = error;
	}
	if (error)
		DMERR("%s: log %s failed a write (error %d): writes go to the origin from now on",
		      nc_stage_name(s), s->log->name, error);
	spin_lock_irq(&s->lock);
	s->pass.log_failed = error;
	enter_mode(s, r ? NEARCACHE_STAGE_PASSES : NEARCACHE_STAGE_LOGS);
	spin_unlock_irq(&s->lock);
}

/* Must the stage return?  Begins a new window if the present one is over.  Context: @s->lock. */
static bool must_return(struct nc_stage *s, u64 now)
{
	struct nc_pass *p = &s->pass;
	u64 busy = p->busy, span = now - p->window;

	lockdep_assert_held(&s->lock);
	if (p->writes || p->flushes) {
		busy += now - p->busy_since;
		p->busy_since = now;
	}
	p->busy = busy;
	if (span < PASS_WINDOW)
		return !READ_ONCE(s->on_full);
	p->window = now;
	p->busy = 0;
	return !READ_ONCE(s->on_full) || busy < span / 2;
}

static void pass_work(struct work_struct *work)
{
	struct nc_stage *s = container_of(to_delayed_work(work), struct nc_stage, pass.work);
	struct nc_pass *p = &s->pass;
	bool returns, event;
	u64 now;

	spin_lock_irq(&s->lock);
	/* Not before the lock is held: a window may have begun meanwhile. */
	now = ktime_get_ns();
	/* A writer has to hear of a failed flush first.  A log that has failed is not needed. */
	if (s->mode == NEARCACHE_STAGE_PASSES && must_return(s, now) && !p->flush_failed &&
	    !p->log_failed)
		s->mode = NEARCACHE_STAGE_RETURNS;
	if (s->mode == NEARCACHE_STAGE_PASSES && !p->stopped)
		queue_delayed_work(s->queue, &p->work,
				   nsecs_to_jiffies(p->window + PASS_WINDOW - now) + 1);
	returns = s->mode == NEARCACHE_STAGE_RETURNS && !p->writes;
	event = s->mode != p->reported;
	p->reported = s->mode;
	spin_unlock_irq(&s->lock);
	if (returns)
		pass_return(s);
	if (event)
		nc_stage_event(s);
}

/* The option on_full has changed.  Context: any. */
void nc_pass_option(struct nc_stage *s)
{
	spin_lock_irq(&s->lock);
	if (!READ_ONCE(s->on_full) && s->mode == NEARCACHE_STAGE_EMPTIES && !s->pass.begins)
		enter_mode(s, NEARCACHE_STAGE_LOGS);
	else if (s->mode != NEARCACHE_STAGE_LOGS)
		pass_kick(s);
	spin_unlock_irq(&s->lock);
}

void nc_pass_init(struct nc_stage *s)
{
	INIT_DELAYED_WORK(&s->pass.work, pass_work);
	s->pass.stopped = true;
}

/**
 * nc_pass_inherit() - take over what others must still hear from the table before this one
 * @s: stage that has not started
 * @other: another stage of its dm device: the one before it, which serves no request any more, or a
 *	table that was loaded since, which has nothing to take over
 *
 * Context: preresume; may sleep.
 */
void nc_pass_inherit(struct nc_stage *s, struct nc_stage *other)
{
	enum nearcache_stage_mode reported;
	bool failed;

	spin_lock_irq(&other->lock);
	failed = other->pass.flush_failed;
	reported = other->pass.reported;
	spin_unlock_irq(&other->lock);
	spin_lock_irq(&s->lock);
	s->pass.flush_failed |= failed;
	if (reported != NEARCACHE_STAGE_LOGS)
		s->pass.reported = reported;
	spin_unlock_irq(&s->lock);
}

/* Context: resume. */
void nc_pass_start(struct nc_stage *s)
{
	spin_lock_irq(&s->lock);
	s->pass.stopped = false;
	if (s->mode != NEARCACHE_STAGE_LOGS || s->mode != s->pass.reported)
		pass_kick(s);
	spin_unlock_irq(&s->lock);
}

/* Return to the log.  Context: after a suspend, when no request and no work is under way. */
void nc_pass_stop(struct nc_stage *s)
{
	bool returns;

	spin_lock_irq(&s->lock);
	s->pass.stopped = true;
	spin_unlock_irq(&s->lock);
	cancel_delayed_work_sync(&s->pass.work);
	spin_lock_irq(&s->lock);
	returns = s->mode >= NEARCACHE_STAGE_PASSES;
	s->mode = returns ? NEARCACHE_STAGE_RETURNS : NEARCACHE_STAGE_LOGS;
	spin_unlock_irq(&s->lock);
	if (returns)
		pass_return(s);
}
