// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commits, one at a time (rules C1 to C5 of kmod/doc/stage.md).  Flushes that come meanwhile share
 * the next commit.
 *
 * A commit goes through the phases of enum nc_commit_phase.  A worker takes each step that may
 * sleep.  So that a small fsync costs few context switches, nc_stage_flush_map() takes the first
 * steps itself if it can, and the completion of a checked commit's flush ends the waiting bios.
 */
#include <linux/blk-cgroup.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "core/compat.h"
#include "core/tracepoints.h"
#include "stage/stage.h"

/* A descriptor, and a logical block of the origin (origin_error.c), lie in one page. */
static_assert(NEARCACHE_STAGE_BLOCK <= PAGE_SIZE);

/* An epoch is committed at this age, in jiffies, or at half of the option max_behind_time. */
#define COMMIT_AGE	(5 * HZ)

/* Request the commit of an epoch, which may be open or closed.  Context: @s->lock. */
void nc_stage_commit_want(struct nc_stage *s, u64 epoch)
{
	lockdep_assert_held(&s->lock);
	if (s->commit.wanted >= epoch)
		return;
	s->commit.wanted = epoch;
	queue_work(s->commit.queue, &s->commit.work);
}

/* The open epoch got its first entry: commit it in a while.  Context: @s->lock. */
void nc_stage_commit_started(struct nc_stage *s)
{
	unsigned long age = READ_ONCE(s->max_behind_time) * HZ / 2;

	age = age ? min_t(unsigned long, age, COMMIT_AGE) : COMMIT_AGE;
	queue_delayed_work(s->commit.queue, &s->commit.age, age);
}

static void commit_age_work(struct work_struct *work)
{
	struct nc_stage *s = container_of(to_delayed_work(work), struct nc_stage, commit.age);

	spin_lock_irq(&s->lock);
	if (s->ring.epoch_entries)
		nc_stage_commit_want(s, s->ring.open.epoch);
	spin_unlock_irq(&s->lock);
}

/* Move the bios that wait for epochs before @epoch to @over, or all if the log has failed.
 * Context: @s->lock.
 */
static void take_waiters(struct nc_stage *s, u64 epoch, struct bio_list *over)
{
	struct bio_list still = BIO_EMPTY_LIST;
	struct nc_stage_io *io;
	struct bio *bio;

	lockdep_assert_held(&s->lock);
	while ((bio = bio_list_pop(&s->commit.waiters))) {
		io = dm_per_bio_data(bio, sizeof(*io));
		/* Commits that ended before the log failed are valid. */
		bio->bi_status = io->epoch < epoch ? BLK_STS_OK : BLK_STS_IOERR;
		bio_list_add(s->failed || io->epoch < epoch ? over : &still, bio);
	}
	s->commit.waiters = still;
}

static void end_waiters(struct bio_list *over)
{
	struct bio *bio;

	while ((bio = bio_list_pop(over)))
		bio_endio(bio);
}

static void desc_endio(struct bio *bio)
{
	struct nc_stage_commit_io *io = container_of(bio, struct nc_stage_commit_io, bio);
	struct nc_stage *s = io->s;
	unsigned long flags;

	/* Inside the lock: the stage may be freed when no write is pending. */
	spin_lock_irqsave(&s->lock, flags);
	s->commit.failed |= !!bio->bi_status;
	if (!--s->commit.pending)
		wake_up(&s->commit.wait);
	spin_unlock_irqrestore(&s->lock, flags);
}

/* Fill a descriptor with the records after that of @at.  @check: NULL, or the epoch's checksum. */
static void fill_desc(const struct nc_stage *s, const struct nc_cursor *at,
		      const struct nc_epoch_check *check, struct nearcache_stage_desc *desc)
{
	const struct nc_record *record = nc_ring_record(&s->ring, at->record);
	bool commit = record->flags & NC_RECORD_COMMIT;
	u64 number = at->record + 1;
	u32 count = 0;

	memset(desc, 0, offsetof(struct nearcache_stage_desc, entry));
	desc->magic = cpu_to_le32(NEARCACHE_STAGE_DESC_MAGIC);
	desc->number = cpu_to_le64(at->number);
	desc->generation = cpu_to_le64(s->generation);
	desc->epoch = cpu_to_le64(at->epoch);
	desc->place = cpu_to_le64(at->place);
	desc->flags = cpu_to_le32(commit ? NEARCACHE_STAGE_COMMIT : 0);
	desc->time = cpu_to_le64(commit ? record->sector : 0);
	for (; (record = nc_ring_record(&s->ring, number))->kind != NC_RECORD_DESC; number++)
		desc->entry[count++] = (struct nearcache_stage_entry) {
			.sector = cpu_to_le64(record->sector),
			.sectors = cpu_to_le32(record->sectors),
			.kind = record->kind,
		};
	desc->count = cpu_to_le32(count);
	if (check) {
		desc->flags |= cpu_to_le32(NEARCACHE_STAGE_CHECKED);
		desc->data_checksum = cpu_to_le64(check->sum);
	}
	desc->checksum = nc_stage_desc_checksum(s->seed, desc);
}

/* Prepare the write of a descriptor, which is in the page of @io. */
static void prepare_desc(struct nc_stage *s, struct nc_stage_commit_io *io, u64 place,
			 blk_opf_t flags)
{
	bio_init(&io->bio, s->log->bdev, &io->vec, 1, REQ_OP_WRITE | REQ_SYNC | REQ_META | flags);
	/* Others wait for it, too: the limits of the caller's control group do not apply. */
	bio_associate_blkg_from_css(&io->bio, blkcg_root_css);
	io->bio.bi_iter.bi_sector = nc_stage_log_sector(s, nc_place_sector(place));
	io->bio.bi_end_io = desc_endio;
	__bio_add_page(&io->bio, io->page, NEARCACHE_STAGE_BLOCK, 0);
}

/* Start to write a descriptor; wait_descs() waits for it. */
static void submit_desc(struct nc_stage *s, struct nc_stage_commit_io *io, u64 place,
			blk_opf_t flags)
{
	prepare_desc(s, io, place, flags);
	spin_lock_irq(&s->lock);
	s->commit.pending++;
	spin_unlock_irq(&s->lock);
	submit_bio(&io->bio);
}

static bool descs_over(struct nc_stage *s)
{
	bool over;

	spin_lock_irq(&s->lock);
	over = !s->commit.pending;
	spin_unlock_irq(&s->lock);
	return over;
}

/* Wait for the descriptors in flight.  Return: did all writes succeed? */
static bool wait_descs(struct nc_stage *s)
{
	wait_event(s->commit.wait, descs_over(s));
	return !s->commit.failed;
}

/* Write the descriptors of a closed epoch, from @at to before record @end; the last one commits. */
static bool write_descs(struct nc_stage *s, struct nc_cursor at, u64 end)
{
	struct nc_cursor next;
	unsigned int used = 0;
	bool last;

	for (;; at = next) {
		next = at;
		nc_ring_next_desc(&s->ring, &next);
		last = next.record == end;
		if ((last || used == NC_COMMIT_BATCH) && used) {
			if (!wait_descs(s) || READ_ONCE(s->given_up))
				return false;
			used = 0;
		}
		fill_desc(s, &at, NULL, page_address(s->commit.io[used].page));
		submit_desc(s, &s->commit.io[used++], at.place, last ? REQ_PREFLUSH | REQ_FUA : 0);
		if (last)
			return wait_descs(s);
	}
}

static void trace_commit(const struct nc_stage *s)
{
	const struct nc_stage_commit *c = &s->commit;

	trace_nearcache_stage_commit(nc_stage_dev(s), c->first.epoch, c->end.place - c->first.place,
				     c->check.embedded ? 2 : c->checked,
				     ktime_get_ns() - c->closed);
}

/* The epoch is committed.  Context: any.  The stage may be freed when this has dropped the lock,
 * unless the caller is the worker.
 */
static void finish_commit(struct nc_stage *s)
{
	struct bio_list over = BIO_EMPTY_LIST;
	struct nc_stage_commit *c = &s->commit;
	unsigned long flags;

	if (trace_nearcache_stage_commit_enabled())
		trace_commit(s);
	spin_lock_irqsave(&s->lock, flags);
	s->ring.committed = c->end;
	s->count.commits++;
	c->phase = NC_COMMIT_IDLE;
	take_waiters(s, c->end.epoch, &over);
	wake_up(&c->wait);
	nc_drain_kick(s);
	if (s->failed || (s->ring.epoch_entries && c->wanted >= s->ring.open.epoch))
		queue_work(c->queue, &c->work);
	spin_unlock_irqrestore(&s->lock, flags);
	end_waiters(&over);
}

/* Enter a phase; the worker takes the next step. */
static void next_phase(struct nc_stage *s, enum nc_commit_phase phase)
{
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	s->commit.phase = phase;
	queue_work(s->commit.queue, &s->commit.work);
	spin_unlock_irqrestore(&s->lock, flags);
}

static void checked_flush_endio(struct bio *bio)
{
	struct nc_stage *s = container_of(bio, struct nc_stage_commit_io, bio)->s;

	if (!bio->bi_status) {
		finish_commit(s);
		return;
	}
	nc_stage_fail(s, "commit", blk_status_to_errno(bio->bi_status));
	next_phase(s, NC_COMMIT_IDLE);
}

static void checked_desc_endio(struct bio *bio)
{
	struct nc_stage *s = container_of(bio, struct nc_stage_commit_io, bio)->s;

	if (bio->bi_status)
		nc_stage_fail(s, "commit", blk_status_to_errno(bio->bi_status));
	next_phase(s, bio->bi_status ? NC_COMMIT_IDLE : NC_COMMIT_FLUSH);
}

/* Start to write the only descriptor of an epoch, with a checksum.  A flush follows. */
static void start_checked(struct nc_stage *s)
{
	struct nc_stage_commit *c = &s->commit;
	struct nc_stage_commit_io *io = &c->io[0];

	fill_desc(s, &c->first, &c->check, page_address(io->page));
	prepare_desc(s, io, c->first.place, 0);
	io->bio.bi_end_io = checked_desc_endio;
	submit_bio(&io->bio);
}

static void start_checked_flush(struct nc_stage *s)
{
	struct bio *bio = &s->commit.io[0].bio;

	bio_init(bio, s->log->bdev, NULL, 0, REQ_OP_WRITE | REQ_PREFLUSH | REQ_SYNC | REQ_META);
	bio_associate_blkg_from_css(bio, blkcg_root_css);
	bio->bi_end_io = checked_flush_endio;
	submit_bio(bio);
}

/* Close the open epoch.  Context: @s->lock. */
static void close_epoch(struct nc_stage *s)
{
	struct nc_stage_commit *c = &s->commit;

	lockdep_assert_held(&s->lock);
	c->first = s->ring.open;
	c->closed = ktime_get_ns();
	c->check = s->check;
	s->check = (struct nc_epoch_check) { };
	nc_ring_close(&s->ring, ktime_get_real_ns(), s->open_since);
	s->open_since = 0;
	c->end = s->ring.open;
	c->volatile_log = bdev_write_cache(s->log->bdev);
	c->checked = c->check.embedded || (!c->check.unchecked && c->volatile_log &&
					   c->end.number == c->first.number + 1);
	if (s->waiting_count)
		queue_work(s->queue, &s->room);
}

/* Take a step.  @worker: the caller may sleep.  Return: can the caller go on with the next step? */
static bool commit_step(struct nc_stage *s, bool worker)
{
	struct nc_stage_commit *c = &s->commit;
	enum nc_commit_phase phase;
	bool more = false;

	spin_lock_irq(&s->lock);
	phase = c->phase;
	switch (phase) {
	case NC_COMMIT_IDLE:
		more = !s->failed && s->ring.epoch_entries && c->wanted >= s->ring.open.epoch;
		if (more) {
			close_epoch(s);
			c->phase = NC_COMMIT_DATA;
		}
		break;
	case NC_COMMIT_DATA:
		/* The completion of the epoch's last write queues the work. */
		if (s->writes[c->first.epoch & 1])
			break;
		/* A write has failed, so data of the epoch is missing. */
		if (s->failed) {
			c->phase = NC_COMMIT_IDLE;
			break;
		}
		more = worker || c->checked;
		if (more)
			c->phase = NC_COMMIT_BUSY;
		else
			queue_work(c->queue, &c->work);
		break;
	case NC_COMMIT_FLUSH:
		more = !s->given_up;
		c->phase = more ? NC_COMMIT_BUSY : NC_COMMIT_IDLE;
		break;
	case NC_COMMIT_BUSY:
		break;
	}
	spin_unlock_irq(&s->lock);
	if (!more || phase == NC_COMMIT_IDLE)
		return more;
	if (phase == NC_COMMIT_FLUSH || c->check.embedded) {
		if (c->volatile_log) {
			start_checked_flush(s);
			return false;
		}
		finish_commit(s);
		return worker;
	}
	if (c->checked) {
		start_checked(s);
		return false;
	}
	if (write_descs(s, c->first, c->end.record)) {
		finish_commit(s);
		return true;
	}
	nc_stage_fail(s, "commit", -EIO);
	next_phase(s, NC_COMMIT_IDLE);
	return false;
}

/* The log has failed: fail the bios that wait for a commit, and raise an event.  May sleep. */
void nc_stage_fail_waiters(struct nc_stage *s)
{
	struct bio_list over = BIO_EMPTY_LIST;

	spin_lock_irq(&s->lock);
	take_waiters(s, 0, &over);
	wake_up(&s->commit.wait);
	spin_unlock_irq(&s->lock);
	end_waiters(&over);
	nc_stage_event(s);
}

static void commit_work(struct work_struct *work)
{
	struct nc_stage *s = container_of(work, struct nc_stage, commit.work);

	while (commit_step(s, true))
		;
	if (READ_ONCE(s->failed))
		nc_stage_fail_waiters(s);
}

/* A flush asks for a commit: take the steps that need no worker.  Context: map; does not wait. */
void nc_stage_commit_now(struct nc_stage *s)
{
	while (commit_step(s, false))
		;
}

static bool commit_over(struct nc_stage *s, u64 epoch)
{
	bool over;

	spin_lock_irq(&s->lock);
	over = epoch < s->ring.committed.epoch || s->failed;
	spin_unlock_irq(&s->lock);
	return over;
}

static bool commit_idle(struct nc_stage *s)
{
	bool idle;

	spin_lock_irq(&s->lock);
	idle = s->commit.phase == NC_COMMIT_IDLE;
	spin_unlock_irq(&s->lock);
	return idle;
}

/* Wait until no commit uses the stage, also none that fails.  Context: after a suspend. */
void nc_stage_commit_wait_idle(struct nc_stage *s)
{
	wait_event(s->commit.wait, commit_idle(s));
}

/**
 * nc_stage_commit_sync() - commit the open epoch
 * @s: started stage
 * @epoch: set to the number of the newest epoch that has data
 *
 * Context: may sleep, also during a suspend.
 * Return: 0, or -EIO if the log has failed.
 */
int nc_stage_commit_sync(struct nc_stage *s, u64 *epoch)
{
	int r;

	spin_lock_irq(&s->lock);
	*epoch = s->ring.open.epoch - !s->ring.epoch_entries;
	nc_ring_note_flush(&s->ring);
	nc_stage_commit_want(s, *epoch);
	spin_unlock_irq(&s->lock);
	wait_event(s->commit.wait, commit_over(s, *epoch));
	spin_lock_irq(&s->lock);
	r = *epoch < s->ring.committed.epoch ? 0 : -EIO;
	spin_unlock_irq(&s->lock);
	return r;
}

/* Recovery: write the block @desc at @place.  Return: did it succeed? */
bool nc_stage_commit_rewrite(struct nc_stage *s, const struct nearcache_stage_desc *desc, u64 place)
{
	bool written;

	memcpy(page_address(s->commit.io[0].page), desc, sizeof(*desc));
	submit_desc(s, &s->commit.io[0], place, REQ_PREFLUSH | REQ_FUA);
	written = wait_descs(s);
	/* A commit after the start tries again. */
	s->commit.failed = false;
	return written;
}

/* Return: 0 or -ENOMEM; in both cases the caller must call nc_stage_commit_destroy(). */
int nc_stage_commit_init(struct nc_stage *s)
{
	struct nc_stage_commit *c = &s->commit;
	unsigned int i;

	INIT_WORK(&c->work, commit_work);
	INIT_DELAYED_WORK(&c->age, commit_age_work);
	init_waitqueue_head(&c->wait);
	bio_list_init(&c->waiters);
	c->queue = alloc_workqueue("nearcache-commit", WQ_MEM_RECLAIM | WQ_UNBOUND | WQ_HIGHPRI, 0);
	c->io = kcalloc(NC_COMMIT_BATCH, sizeof(*c->io), GFP_KERNEL);
	if (!c->queue || !c->io)
		return -ENOMEM;
	for (i = 0; i < NC_COMMIT_BATCH; i++) {
		c->io[i].s = s;
		c->io[i].page = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!c->io[i].page)
			return -ENOMEM;
	}
	return 0;
}

void nc_stage_commit_destroy(struct nc_stage *s)
{
	struct nc_stage_commit *c = &s->commit;
	unsigned int i;

	if (c->queue) {
		cancel_delayed_work_sync(&c->age);
		destroy_workqueue(c->queue);
	}
	for (i = 0; c->io && i < NC_COMMIT_BATCH; i++)
		if (c->io[i].page)
			__free_page(c->io[i].page);
	kfree(c->io);
}
