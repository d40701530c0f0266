// SPDX-License-Identifier: GPL-2.0-only
/*
 * The drain: writes committed epochs to the origin, in batches, one after the other, and marks them
 * (rules D1 to D5 of kmod/doc/stage.md).
 *
 * Of each epoch, the drain writes only the newest version of each sector, in the order of the
 * sectors.  An overlay map of the epoch alone finds these versions.  dm-kcopyd has memory of its
 * own for the copies, so the drain goes on while memory is short.
 */
#include <linux/dm-kcopyd.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/compat.h"
#include "core/tracepoints.h"
#include "stage/stage.h"

/* Time between attempts while the origin fails. */
#define DRAIN_RETRY	HZ
/* To make up for copies that began late, the drain may exceed the rate for this time, ns. */
#define DRAIN_BURST	(100 * NSEC_PER_MSEC)
/* Sectors of zeros that are written at a time: 64 KiB. */
#define DRAIN_ZERO_SECTORS	128U
/* A copy has the length that the origin writes in this time, in nanoseconds, within limits, in
 * sectors.  A longer read of the log would delay hits of a cache on the same drive.
 */
#define DRAIN_COPY_TIME	(NSEC_PER_MSEC / 2)
#define DRAIN_COPY_MIN	64U
#define DRAIN_COPY_MAX	NEARCACHE_STAGE_WRITE_MAX
/* Limits of a batch (D5): its length, in units of nc_ring.epoch_blocks_max; and the time after
 * which it takes no further epoch, ns.  Writers that wait for room wait until the batch ends, and
 * the drain repeats a batch after an error.
 */
#define DRAIN_BATCH_EPOCHS	3U
#define DRAIN_BATCH_AGE		(5ULL * NSEC_PER_SEC)

static void drain_job_over(int read_error, unsigned long write_error, void *context)
{
	struct nc_drain_job *job = context;
	struct nc_stage *s = job->s;
	struct nc_drain *d = &s->drain;
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	d->log_error |= !!read_error;
	d->origin_error |= !!write_error;
	if (!read_error && !write_error)
		s->count.drained_bytes += (u64)job->sectors << SECTOR_SHIFT;
	job->sectors = 0;
	job->next = d->free;
	d->free = job;
	d->in_flight--;
	d->progress = ktime_get_ns();
	/* Inside the lock: the stage may be freed when no job is in flight. */
	wake_up(&d->wait);
	spin_unlock_irqrestore(&s->lock, flags);
}

static bool drain_must_end(struct nc_drain *d)
{
	return READ_ONCE(d->stop) || READ_ONCE(d->log_error) || READ_ONCE(d->origin_error);
}

/* Count a new request of the drain; if it is the only one, start the watch.  Context: @s->lock. */
static void count_request(struct nc_stage *s)
{
	lockdep_assert_held(&s->lock);
	if (s->drain.in_flight++)
		return;
	s->drain.progress = ktime_get_ns();
	queue_delayed_work(s->queue, &s->watch, HZ);
}

/* Count a request that drain_work() waits for. */
static void begin_request(struct nc_stage *s)
{
	spin_lock_irq(&s->lock);
	count_request(s);
	spin_unlock_irq(&s->lock);
}

/* It has ended.  @failed: the origin failed it, so the attempt fails. */
static void end_request(struct nc_stage *s, bool failed)
{
	spin_lock_irq(&s->lock);
	s->drain.origin_error |= failed;
	s->drain.in_flight--;
	s->drain.progress = ktime_get_ns();
	spin_unlock_irq(&s->lock);
}

/* Does a copy in flight write to any of these sectors?  It belongs to an earlier epoch of the
 * batch, and the caller must wait until it ends.  Context: @s->lock.
 */
static bool copy_overlaps(const struct nc_stage *s, u64 sector, u32 sectors)
{
	const struct nc_drain_job *job = s->drain.jobs;
	u32 i;

	lockdep_assert_held(&s->lock);
	if (!s->drain.joined)
		return false;
	for (i = 0; i < NC_DRAIN_JOBS; i++, job++)
		if (job->sectors && job->sector < sector + sectors &&
		    sector < job->sector + job->sectors)
			return true;
	return false;
}

static bool drain_overlaps(struct nc_stage *s, u64 sector, u32 sectors)
{
	bool found;

	spin_lock_irq(&s->lock);
	found = copy_overlaps(s, sector, sectors);
	spin_unlock_irq(&s->lock);
	return found;
}

/* Take a job for a copy to these sectors.  Return: false: a copy in flight must end first. */
static bool take_job(struct nc_stage *s, u64 sector, u32 sectors, struct nc_drain_job **job)
{
	struct nc_drain *d = &s->drain;

	spin_lock_irq(&s->lock);
	*job = copy_overlaps(s, sector, sectors) ? NULL : d->free;
	if (*job) {
		d->free = (*job)->next;
		(*job)->sector = sector;
		(*job)->sectors = sectors;
		count_request(s);
	}
	spin_unlock_irq(&s->lock);
	return *job;
}

static bool drain_idle(struct nc_stage *s)
{
	bool idle;

	spin_lock_irq(&s->lock);
	idle = !s->drain.in_flight;
	spin_unlock_irq(&s->lock);
	return idle;
}

/* Wait until the rate allows a copy of @bytes. */
static void wait_for_rate(struct nc_stage *s, u32 bytes)
{
	struct nc_drain *d = &s->drain;
	u64 now = ktime_get_ns(), rate;

	for (;;) {
		rate = READ_ONCE(s->rate);
		/* A new rate begins without debt. */
		if (!rate || rate != d->rate)
			d->next = now;
		d->rate = rate;
		if (!rate || drain_must_end(d))
			return;
		if (now >= d->next)
			break;
		wait_event_timeout(d->wait, drain_must_end(d) || READ_ONCE(s->rate) != rate,
				   nsecs_to_jiffies(d->next - now) + 1);
		now = ktime_get_ns();
	}
	d->next = max(d->next, now > DRAIN_BURST ? now - DRAIN_BURST : 0) +
		  div64_u64((u64)bytes * NSEC_PER_SEC, rate);
}

/* Copy @sectors sectors of @x, from @offset on, to the origin.  Return: false: stop the epoch. */
static bool drain_copy(struct nc_stage *s, const struct nc_extent *x, u32 offset, u32 sectors)
{
	struct nc_drain *d = &s->drain;
	struct nc_drain_job *job = NULL;
	struct dm_io_region from = {
		.bdev = s->log->bdev,
		.sector = nc_stage_log_sector(s, x->at + offset),
		.count = sectors,
	}, to = {
		.bdev = s->origin->bdev,
		.sector = x->sector + offset,
		.count = sectors,
	};

	wait_for_rate(s, sectors << SECTOR_SHIFT);
	wait_event(d->wait, drain_must_end(d) || take_job(s, to.sector, sectors, &job));
	if (!job)
		return false;
	dm_kcopyd_copy(d->kcopyd, &from, 1, &to, 0, drain_job_over, job);
	return true;
}

/* Send a discard, write-zeroes or write of zeros to the origin, and wait. */
static int clear_sectors(struct nc_stage *s, blk_opf_t opf, u64 sector, u32 sectors)
{
	struct dm_io_region region = {
		.bdev = s->origin->bdev, .sector = sector, .count = sectors,
	};
	struct dm_io_request request = {
		.bi_opf = opf | REQ_SYNC,
		.mem.type = DM_IO_VMA,
		.mem.ptr.vma = s->drain.zeros,
		.client = s->drain.io,
	};
	int r;

	begin_request(s);
	r = nc_dm_io(&request, &region);
	/* Writes replace a failed write-zeroes, and a discard may fail. */
	end_request(s, r && opf == REQ_OP_WRITE);
	return r;
}

/* Write zeros.  Return: 0 or the error. */
static int drain_zeros(struct nc_stage *s, u64 sector, u32 sectors)
{
	u32 at, part;
	int r = 0;

	for (at = 0; at < sectors && !r; at += part) {
		part = min(sectors - at, DRAIN_ZERO_SECTORS);
		wait_for_rate(s, part << SECTOR_SHIFT);
		if (drain_must_end(&s->drain))
			return -EINTR;
		r = clear_sectors(s, REQ_OP_WRITE, sector + at, part);
	}
	return r;
}

/* Discard an extent on the origin, or write zeros.  Return: false: stop the epoch. */
static bool drain_clear(struct nc_stage *s, const struct nc_extent *x)
{
	struct block_device *bdev = s->origin->bdev;
	bool offload = bdev_write_zeroes_sectors(bdev) && !s->drain.no_zeroes;
	struct nc_drain *d = &s->drain;
	int r;

	wait_event(d->wait, drain_must_end(d) || !drain_overlaps(s, x->sector, x->sectors));
	if (drain_must_end(d))
		return false;
	if (x->kind == NEARCACHE_STAGE_DISCARD) {
		/* A discard is advisory: ignore its errors. */
		if (bdev_max_discard_sectors(bdev))
			clear_sectors(s, REQ_OP_DISCARD, x->sector, x->sectors);
		return true;
	}
	/* The log does not record whether the writer asked to keep the space: always keep it. */
	if (offload && !clear_sectors(s, REQ_OP_WRITE_ZEROES | REQ_NOUNMAP, x->sector, x->sectors))
		return true;
	r = drain_zeros(s, x->sector, x->sectors);
	if (r)
		return false;
	s->drain.no_zeroes |= offload;
	return true;
}

/* Write the newest versions within the epoch.  Return: have all writes been submitted? */
static bool write_pieces(struct nc_stage *s)
{
	struct nc_extent *x = nc_overlay_find(&s->drain.pieces, 0);
	u32 offset, sectors;

	for (; x; x = nc_extent_next(x)) {
		if (x->kind != NEARCACHE_STAGE_DATA) {
			if (!drain_clear(s, x))
				return false;
			continue;
		}
		for (offset = 0; offset < x->sectors; offset += sectors) {
			sectors = min(x->sectors - offset, s->drain.copy_sectors);
			if (!drain_copy(s, x, offset, sectors))
				return false;
		}
	}
	return true;
}

/* Find the newest versions within the epoch that begins at @from, before record @end. */
static void find_pieces(struct nc_stage *s, const struct nc_cursor *from, u64 end)
{
	struct nc_ring *r = &s->ring;
	u64 number = from->record, place = from->place;
	const struct nc_record *record;

	nc_overlay_clear(&s->drain.pieces);
	for (; number < end; number++) {
		record = nc_ring_record(r, number);
		if (record->kind == NC_RECORD_DESC) {
			place++;
			continue;
		}
		if (record->kind != NEARCACHE_STAGE_SKIP)
			nc_overlay_insert(&s->drain.pieces, &(struct nc_extent) {
				.sector = record->sector, .sectors = record->sectors,
				.at = nc_place_sector(place), .kind = record->kind,
			});
		place += nearcache_stage_blocks(record->kind, record->sectors);
		cond_resched();
	}
	WARN_ON_ONCE(s->drain.pieces.overflow);
}

/* Begin to measure how fast copies are. */
static void measure_copies(struct nc_stage *s)
{
	s->drain.since = ktime_get_ns();
	s->drain.since_bytes = READ_ONCE(s->count.drained_bytes);
}

/* Choose the length of copies by those that ended since measure_copies().  Too few copies do not
 * show how fast the origin is, nor do copies that the option rate delayed.
 */
static void choose_length(struct nc_stage *s)
{
	struct nc_drain *d = &s->drain;
	u64 sectors = (READ_ONCE(s->count.drained_bytes) - d->since_bytes) >> SECTOR_SHIFT;
	u64 length = div64_u64(sectors * DRAIN_COPY_TIME, ktime_get_ns() - d->since + 1);

	if (sectors < (u64)NC_DRAIN_JOBS * d->copy_sectors || READ_ONCE(s->rate))
		return;
	d->copy_sectors = clamp(rounddown_pow_of_two(length | 1), (u64)DRAIN_COPY_MIN,
				(u64)DRAIN_COPY_MAX);
}

/* May the batch that began at time @begun take the epoch that begins at @end? */
static bool batch_goes_on(struct nc_stage *s, u64 begun, const struct nc_cursor *end)
{
	u64 age = READ_ONCE(s->max_behind_time) * (u64)NSEC_PER_SEC / 2;
	struct nc_ring *r = &s->ring;
	bool on;

	if (s->drain.alone || drain_must_end(&s->drain) ||
	    ktime_get_ns() - begun >= DRAIN_BATCH_AGE)
		return false;
	spin_lock_irq(&s->lock);
	on = end->record != r->committed.record && s->mode == NEARCACHE_STAGE_LOGS &&
	     !(nc_ring_record(r, end->record)->flags & NC_RECORD_FLUSHED) && !s->waiting_count &&
	     !(age && ktime_get_real_ns() > nc_ring_behind_since(r) + age);
	spin_unlock_irq(&s->lock);
	return on;
}

/* Does the epoch from @from to @to touch a sector of the fingerprint? */
static bool touches_print(const struct nc_stage *s, const struct nc_cursor *from,
			  const struct nc_cursor *to)
{
	const struct nc_record *record;
	u64 number;

	for (number = from->record; number < to->record; number++) {
		record = nc_ring_record(&s->ring, number);
		if (record->kind != NC_RECORD_DESC && record->kind != NEARCACHE_STAGE_SKIP &&
		    nc_origin_print_blocks(s, record->sector, record->sectors))
			return true;
		cond_resched();
	}
	return false;
}

/* Add the epoch that begins at @end to the batch, if D5 allows it.  @from: begin of the batch;
 * @begun: time when its drain began.  Then @end is the end of that epoch, and the pieces are its
 * newest versions; otherwise both are unchanged.  Return: was it added?
 */
static bool join_epoch(struct nc_stage *s, const struct nc_cursor *from, u64 begun,
		       struct nc_cursor *end)
{
	struct nc_cursor next = *end;

	if (!batch_goes_on(s, begun, end))
		return false;
	nc_ring_next_epoch(&s->ring, &next);
	if (next.place - from->place >= DRAIN_BATCH_EPOCHS * s->ring.epoch_blocks_max ||
	    touches_print(s, end, &next))
		return false;
	s->drain.joined = true;
	find_pieces(s, end, next.record);
	*end = next;
	choose_length(s);
	measure_copies(s);
	return true;
}

/* Write a batch of epochs to the origin and flush it.  @from: its first epoch; @end: its end, which
 * moves with each epoch that the batch takes.  Return: 0; -EINTR: stopped; -EIO: the origin failed;
 * -ENODATA: the log cannot be read; -ESTALE: another host wrote to the origin.
 */
static int drain_batch(struct nc_stage *s, const struct nc_cursor *from, struct nc_cursor *end)
{
	struct nc_drain *d = &s->drain;
	bool all;
	u64 begun;
	int r;

	spin_lock_irq(&s->lock);
	d->log_error = false;
	d->origin_error = false;
	d->joined = false;
	spin_unlock_irq(&s->lock);
	find_pieces(s, from, end->record);
	begin_request(s);
	r = nc_origin_print_expect(s);
	end_request(s, r == -ESTALE);
	if (r)
		return r;
	measure_copies(s);
	begun = d->since;
	do {
		all = !d->pieces.overflow && write_pieces(s);
	} while (all && join_epoch(s, from, begun, end));
	wait_event(d->wait, drain_idle(s));
	if (READ_ONCE(d->log_error) || d->pieces.overflow)
		return -ENODATA;
	if (READ_ONCE(d->origin_error))
		return -EIO;
	if (!all)
		return -EINTR;
	choose_length(s);
	begin_request(s);
	r = blkdev_issue_flush(s->origin->bdev);
	end_request(s, r);
	return r ? -EIO : 0;
}

/* Record that the epochs before @end are durable on the origin.  Return: false: the log has
 * failed, and the drain ends.  A copy of the superblock may have the mark nevertheless, and a start
 * that takes it does not repeat the batch: so the drain must not repeat a part of it (D4).
 */
static bool mark_batch(struct nc_stage *s, const struct nc_cursor *end)
{
	struct nc_cursor from = s->ring.marked, at = from;
	u64 time = 0;
	int r;

	/* The time is that of the last commit, in that epoch's last descriptor. */
	for (; at.record != end->record; nc_ring_next_desc(&s->ring, &at))
		time = nc_ring_record(&s->ring, at.record)->sector;
	/* D4: with an older copy that lacks the mark, a start would drain the batch again, over
	 * the next one.
	 */
	r = nc_stage_super_mark(s, end->number - 1, end->epoch - 1, time, s->drain.joined);
	if (r) {
		s->drain.ended = true;
		nc_stage_fail(s, "superblock", r);
		DMERR("%s: log %s: epoch %llu is on the origin, but is not marked: the drain ends",
		      nc_stage_name(s), s->log->name, end->epoch - 1);
		return false;
	}
	spin_lock_irq(&s->lock);
	s->ring.marked = *end;
	s->drained_time = time;
	nc_space_check(s);
	nc_pass_marked(s, end->place - from.place);
	if (s->waiting_count)
		queue_work(s->queue, &s->room);
	spin_unlock_irq(&s->lock);
	nc_stage_event(s);
	return true;
}

/* Find the oldest epoch that is committed and not marked. */
static bool next_epoch(struct nc_stage *s, struct nc_cursor *from, struct nc_cursor *end)
{
	bool found;

	spin_lock_irq(&s->lock);
	*from = s->ring.marked;
	found = from->record != s->ring.committed.record;
	spin_unlock_irq(&s->lock);
	*end = *from;
	if (found)
		nc_ring_next_epoch(&s->ring, end);
	return found;
}

/* Drain all epochs that are committed.  After a failed write to the log, the drain goes on as long
 * as it can read the log and write marks.
 */
static void drain_work(struct work_struct *work)
{
	struct nc_stage *s = container_of(work, struct nc_stage, drain.work);
	struct nc_drain *d = &s->drain;
	struct nc_cursor from, end;
	u64 begun;
	int r;

	/* Idle time gives no credit against the rate. */
	d->next = max(d->next, ktime_get_ns());
	while (!READ_ONCE(d->stop) && !d->ended && next_epoch(s, &from, &end)) {
		begun = ktime_get_ns();
		r = drain_batch(s, &from, &end);
		trace_nearcache_stage_drain(nc_stage_dev(s), from.epoch, end.place - from.place, r,
					    ktime_get_ns() - begun);
		switch (r) {
		case 0:
			d->alone = false;
			WRITE_ONCE(s->origin_error, 0);
			nc_drain_set_retrying(s, false);
			if (!mark_batch(s, &end))
				return;
			break;
		case -ESTALE:
		case -EIO:
			d->alone = true;
			nc_drain_set_retrying(s, true);
			if (r == -EIO)
				nc_origin_error_find(s);
			wait_event_timeout(d->wait, READ_ONCE(d->stop), DRAIN_RETRY);
			break;
		case -ENODATA:
			/* The first epochs of the batch may be readable. */
			if (d->joined) {
				d->alone = true;
				break;
			}
			nc_stage_fail(s, "read of the drain", -EIO);
			return;
		}
		cond_resched();
	}
}

/* Let the worker drain all committed epochs.  Context: any. */
void nc_drain_kick(struct nc_stage *s)
{
	if (!READ_ONCE(s->drain.stop))
		queue_work(s->drain.queue, &s->drain.work);
}

void nc_drain_start(struct nc_stage *s)
{
	/* nc_stage_give_up() may run meanwhile. */
	spin_lock_irq(&s->lock);
	WRITE_ONCE(s->drain.stop, s->given_up);
	spin_unlock_irq(&s->lock);
	nc_drain_kick(s);
}

/* End the drain, in the middle of an epoch if need be; waits for the copies in flight. */
void nc_drain_stop(struct nc_stage *s)
{
	WRITE_ONCE(s->drain.stop, true);
	wake_up(&s->drain.wait);
	cancel_work_sync(&s->drain.work);
	/* If it hung, its requests have ended now, and the time of the suspend is no failure. */
	nc_drain_look(s);
}

/* Return: 0 or a negative error; in both cases the caller must call nc_drain_destroy(). */
int nc_drain_init(struct nc_stage *s)
{
	struct nc_drain *d = &s->drain;
	u32 i;

	INIT_WORK(&d->work, drain_work);
	d->stop = true;
	d->copy_sectors = DRAIN_COPY_MIN;
	d->queue = alloc_workqueue("nearcache-drain", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	d->jobs = kcalloc(NC_DRAIN_JOBS, sizeof(*d->jobs), GFP_KERNEL);
	if (!d->queue || !d->jobs)
		return -ENOMEM;
	for (i = 0; i < NC_DRAIN_JOBS; i++) {
		d->jobs[i].s = s;
		d->jobs[i].next = d->free;
		d->free = &d->jobs[i];
	}
	d->block = vmalloc(NEARCACHE_STAGE_BLOCK);
	if (!d->block)
		return -ENOMEM;
	d->zeros = vzalloc(DRAIN_ZERO_SECTORS << SECTOR_SHIFT);
	if (!d->zeros)
		return -ENOMEM;
	d->io = dm_io_client_create();
	if (IS_ERR(d->io)) {
		d->io = NULL;
		return -ENOMEM;
	}
	d->kcopyd = dm_kcopyd_client_create(NULL);
	if (IS_ERR(d->kcopyd)) {
		d->kcopyd = NULL;
		return -ENOMEM;
	}
	return nc_overlay_init(&d->pieces, 2 * NEARCACHE_STAGE_EPOCH_ENTRIES,
			       nc_place_sector(s->ring.blocks));
}

void nc_drain_destroy(struct nc_stage *s)
{
	struct nc_drain *d = &s->drain;

	if (d->queue)
		destroy_workqueue(d->queue);
	if (d->kcopyd)
		dm_kcopyd_client_destroy(d->kcopyd);
	nc_overlay_destroy(&d->pieces);
	if (d->io)
		dm_io_client_destroy(d->io);
	vfree(d->zeros);
	vfree(d->block);
	kfree(d->jobs);
}
