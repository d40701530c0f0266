// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes: their places in the ring, their completion, writes that wait for room, and flushes.
 *
 * nc_stage_write_map() never waits: bios that the same task mapped before are submitted only after
 * it returns, so a wait for the commit of their epoch would be a deadlock.  A write that finds no
 * room goes to a list instead, and a worker appends it later.
 */
#include <linux/ktime.h>

#include "core/compat.h"
#include "stage/stage.h"

/* Must writes wait because of max_behind or max_behind_time?  Context: @s->lock. */
static bool behind_too_far(const struct nc_stage *s, u64 now)
{
	u64 bytes = READ_ONCE(s->max_behind);
	u64 ns = READ_ONCE(s->max_behind_time) * (u64)NSEC_PER_SEC;
	u64 since = s->open_since;

	if (bytes && nc_ring_behind(&s->ring) * NEARCACHE_STAGE_BLOCK > bytes)
		return true;
	if (!ns)
		return false;
	if (s->ring.marked.record != s->ring.open.record)
		since = nc_ring_behind_since(&s->ring);
	return since && now > since + ns;
}

/* Commit the open epoch and move the tail, to make room for a waiting write.  Context: @s->lock. */
static void make_room(struct nc_stage *s)
{
	if (s->ring.epoch_entries)
		nc_stage_commit_want(s, s->ring.open.epoch);
	nc_space_check(s);
	nc_pass_consider(s, behind_too_far(s, ktime_get_real_ns()));
}

/* Is the open epoch long enough to be committed?  Context: @s->lock. */
static bool epoch_long(const struct nc_ring *r)
{
	u64 blocks = r->head - r->open.place;

	/* The drain has nothing to do: give it work. */
	if (r->marked.record == r->open.record && blocks >= NC_EPOCH_BLOCKS_IDLE)
		return true;
	return r->epoch_entries >= r->epoch_entries_max / 2 || blocks >= r->epoch_blocks_max;
}

/* Give a write its place, and prepare its bio.  @small: its copy, or NULL.  Context: @s->lock.
 * Return: false: it must wait.
 */
static bool append_write(struct nc_stage *s, struct bio *bio, struct nc_stage_io *io,
			 struct nc_small_write *small)
{
	struct nc_ring *r = &s->ring;
	bool data = io->entry_kind == NEARCACHE_STAGE_DATA;
	bool first = !r->epoch_entries;
	u64 now = ktime_get_real_ns(), place;

	lockdep_assert_held(&s->lock);
	if (s->writes[0] + s->writes[1] >= NC_STAGE_WRITES_MAX || behind_too_far(s, now) ||
	    nc_ring_append(r, io->entry_kind, io->sector, io->sectors, &place) != NC_APPENDED)
		return false;
	if (io->fua)
		nc_ring_note_flush(r);
	if (!s->open_since) {
		s->open_since = now;
		nc_stage_commit_started(s);
	}
	io->at = nc_place_sector(place);
	io->epoch = r->open.epoch;
	s->writes[io->epoch & 1]++;
	if (epoch_long(r))
		nc_stage_commit_want(s, io->epoch);
	nc_space_check(s);
	if (!data)
		s->check.embedded = false;
	if (data) {
		nc_small_write_count(s, small, first, place);
		/* The entry has its place: the log device must not refuse the write. */
		bio->bi_opf &= ~(REQ_FUA | REQ_NOWAIT);
		bio_clear_polled(bio);
		bio_set_dev(bio, s->log->bdev);
		bio->bi_iter.bi_sector = nc_stage_log_sector(s, io->at);
	}
	return true;
}

/* Complete a discard or write-zeroes: no data has to be written for it. */
static void finish_entry(struct nc_stage *s, struct bio *bio)
{
	bio->bi_status = BLK_STS_OK;
	bio_endio(bio);
}

/**
 * nc_stage_write_map() - map a write, write-zeroes or discard
 * @s: stage
 * @bio: with sectors
 *
 * Context: map of the target.
 * Return: DM_MAPIO_*.
 */
int nc_stage_write_map(struct nc_stage *s, struct bio *bio)
{
	struct nc_stage_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct nc_small_write *small = NULL;
	unsigned long flags;
	bool appended = false;
	int r = DM_MAPIO_SUBMITTED;

	io->s = s;
	io->kind = NC_STAGE_IO_WRITE;
	io->fua = bio->bi_opf & REQ_FUA;
	io->entry_kind = bio_op(bio) == REQ_OP_WRITE ? NEARCACHE_STAGE_DATA :
			 bio_op(bio) == REQ_OP_DISCARD ? NEARCACHE_STAGE_DISCARD :
							 NEARCACHE_STAGE_ZEROES;
	io->sector = dm_target_offset(s->ti, bio->bi_iter.bi_sector);
	io->sectors = bio_sectors(bio);
	/* Ignore it, like the origin: an entry would read as zeros only until the tail moves. */
	if (io->entry_kind == NEARCACHE_STAGE_DISCARD &&
	    !bdev_max_discard_sectors(s->origin->bdev)) {
		io->kind = NC_STAGE_IO_PASSED;
		finish_entry(s, bio);
		return DM_MAPIO_SUBMITTED;
	}
	/* The mode may change before the lock is taken.  Without a copy, the commit is ordinary. */
	if (io->entry_kind == NEARCACHE_STAGE_DATA && !READ_ONCE(s->mode))
		small = nc_small_write_copy(s, bio);

	spin_lock_irqsave(&s->lock, flags);
	if (unlikely(s->failed || s->read_only)) {
		io->kind = NC_STAGE_IO_PASSED;
		r = DM_MAPIO_KILL;
	} else if (!s->mode && !s->waiting_count && append_write(s, bio, io, small)) {
		appended = true;
	} else if (s->mode == NEARCACHE_STAGE_PASSES) {
		nc_pass_write(s, bio, io);
		r = DM_MAPIO_REMAPPED;
	} else if (bio->bi_opf & REQ_NOWAIT) {
		io->kind = NC_STAGE_IO_PASSED;
		make_room(s);
		spin_unlock_irqrestore(&s->lock, flags);
		nc_small_write_free(small);
		bio_wouldblock_error(bio);
		return DM_MAPIO_SUBMITTED;
	} else if (s->pushback && dm_noflush_suspending(s->ti)) {
		io->kind = NC_STAGE_IO_PASSED;
		r = DM_MAPIO_REQUEUE;
	} else {
		bio_list_add(&s->waiting, bio);
		s->waiting_count++;
		nc_stage_waits(s);
		make_room(s);
		/* While the stage empties the log, it may still have a grant for this write. */
		if (s->mode == NEARCACHE_STAGE_EMPTIES)
			queue_work(s->queue, &s->room);
	}
	spin_unlock_irqrestore(&s->lock, flags);
	if (!appended) {
		nc_small_write_free(small);
		return r;
	}
	if (small) {
		nc_small_write_submit(s, small, io);
		return DM_MAPIO_SUBMITTED;
	}
	if (io->entry_kind == NEARCACHE_STAGE_DATA)
		return DM_MAPIO_REMAPPED;
	finish_entry(s, bio);
	return DM_MAPIO_SUBMITTED;
}

/* Append a waiting write, or pass it.  Context: @s->lock.  Return: false: it must wait. */
static bool place_waiting(struct nc_stage *s, struct bio *bio, struct nc_stage_io *io)
{
	if (s->mode == NEARCACHE_STAGE_PASSES) {
		nc_pass_write(s, bio, io);
		return true;
	}
	if (!nc_pass_admits(s, io) || !append_write(s, bio, io, NULL)) {
		make_room(s);
		return false;
	}
	nc_pass_admitted(s, io);
	return true;
}

/* Append or pass the waiting writes, as far as there is room, and send them. */
void nc_stage_room_work(struct work_struct *work)
{
	struct nc_stage *s = container_of(work, struct nc_stage, room);
	struct nc_stage_io *io;
	struct bio *bio;
	bool failed;

	for (;;) {
		spin_lock_irq(&s->lock);
		bio = bio_list_peek(&s->waiting);
		failed = s->failed || s->read_only;
		if (bio) {
			io = dm_per_bio_data(bio, sizeof(*io));
			if (!failed && !place_waiting(s, bio, io))
				bio = NULL;
		}
		if (bio) {
			bio_list_pop(&s->waiting);
			s->waiting_count--;
		}
		spin_unlock_irq(&s->lock);
		if (!bio)
			return;
		if (failed) {
			io->kind = NC_STAGE_IO_PASSED;
			bio_io_error(bio);
		} else if (io->kind == NC_STAGE_IO_PAST_LOG ||
			   io->entry_kind == NEARCACHE_STAGE_DATA) {
			submit_bio_noacct(bio);
		} else {
			finish_entry(s, bio);
		}
		cond_resched();
	}
}

/* Take the writes that wait for room.  Context: @s->lock. */
static struct bio_list take_waiting(struct nc_stage *s)
{
	struct bio_list bios = s->waiting;

	lockdep_assert_held(&s->lock);
	bio_list_init(&s->waiting);
	s->waiting_count = 0;
	return bios;
}

/* End writes that take_waiting() has taken. */
static void end_waiting(struct bio_list *bios, blk_status_t status)
{
	struct nc_stage_io *io;
	struct bio *bio;

	while ((bio = bio_list_pop(bios))) {
		io = dm_per_bio_data(bio, sizeof(*io));
		io->kind = NC_STAGE_IO_PASSED;
		bio->bi_status = status;
		bio_endio(bio);
	}
}

/* From now on, hand writes that must wait back to device-mapper, or (@on false) queue them. */
void nc_stage_push_back(struct nc_stage *s, bool on)
{
	struct bio_list bios = BIO_EMPTY_LIST;

	spin_lock_irq(&s->lock);
	s->pushback = on;
	if (on)
		bios = take_waiting(s);
	spin_unlock_irq(&s->lock);
	end_waiting(&bios, BLK_STS_DM_REQUEUE);
}

/* The log has failed: fail all further writes and commits.  The commit worker raises the event.
 * Context: any.
 */
void nc_stage_fail(struct nc_stage *s, const char *what, int error)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&s->lock, flags);
	first = !s->failed;
	WRITE_ONCE(s->failed, true);
	queue_work(s->commit.queue, &s->commit.work);
	queue_work(s->queue, &s->room);
	spin_unlock_irqrestore(&s->lock, flags);
	if (!first)
		return;
	DMERR("%s: log %s: %s: error %d; writes fail from now on, committed epochs are drained",
	      nc_stage_name(s), s->log->name, what, error);
}

/**
 * nc_stage_give_up() - give up the log: fail all requests that need it, and stop the drain
 * @s: stage
 *
 * Requests that were sent to the log device end when its driver ends them.
 *
 * Context: may sleep.
 */
void nc_stage_give_up(struct nc_stage *s)
{
	struct bio_list bios;

	spin_lock_irq(&s->lock);
	WRITE_ONCE(s->given_up, true);
	WRITE_ONCE(s->failed, true);
	queue_work(s->commit.queue, &s->commit.work);
	bios = take_waiting(s);
	WRITE_ONCE(s->drain.stop, true);
	spin_unlock_irq(&s->lock);
	wake_up(&s->drain.wait);
	DMERR("%s: log %s is given up: requests that need it fail, and the drain has stopped",
	      nc_stage_name(s), s->log->name);
	/* The workers may wait for the log. */
	end_waiting(&bios, BLK_STS_IOERR);
	nc_stage_fail_waiters(s);
}

/* A write to the log has ended: put it into the overlay map.  Return: false: there is no room. */
static bool insert_write(struct nc_stage *s, const struct nc_stage_io *io)
{
	struct nc_extent entry = {
		.sector = io->sector, .sectors = io->sectors, .at = io->at, .kind = io->entry_kind,
	};
	unsigned long flags;
	bool overflow;

	spin_lock_irqsave(&s->map_lock, flags);
	nc_overlay_insert(&s->overlay, &entry);
	WRITE_ONCE(s->mapped, true);
	overflow = s->overlay.overflow;
	spin_unlock_irqrestore(&s->map_lock, flags);
	if (WARN_ON_ONCE(overflow))
		nc_stage_fail(s, "overlay map", -ENOSPC);
	return !overflow;
}

/* Complete a write.  Return: true: a FUA write must wait for its commit. */
static bool count_write(struct nc_stage *s, struct bio *bio, struct nc_stage_io *io, bool error)
{
	unsigned long flags;
	bool waits;

	spin_lock_irqsave(&s->lock, flags);
	waits = io->fua && !error && !s->failed;
	if (!error && io->entry_kind == NEARCACHE_STAGE_DATA)
		s->count.written_bytes += (u64)io->sectors << SECTOR_SHIFT;
	if (waits) {
		io->kind = NC_STAGE_IO_WAITER;
		bio_list_add(&s->commit.waiters, bio);
		nc_stage_commit_want(s, io->epoch);
	}
	if (!--s->writes[io->epoch & 1] && s->commit.phase == NC_COMMIT_DATA)
		queue_work(s->commit.queue, &s->commit.work);
	if (s->waiting_count)
		queue_work(s->queue, &s->room);
	spin_unlock_irqrestore(&s->lock, flags);
	return waits;
}

/**
 * nc_stage_write_end() - a write to the log, or a wait for a commit, has ended
 * @s: stage
 * @bio: NC_STAGE_IO_WRITE or NC_STAGE_IO_WAITER
 * @error: set for a FUA write whose commit failed
 *
 * Context: end_io of the target.
 * Return: DM_ENDIO_*.
 */
int nc_stage_write_end(struct nc_stage *s, struct bio *bio, blk_status_t *error)
{
	struct nc_stage_io *io = dm_per_bio_data(bio, sizeof(*io));

	if (io->kind == NC_STAGE_IO_WAITER)
		return DM_ENDIO_DONE;
	if (*error)
		nc_stage_fail(s, "write", blk_status_to_errno(*error));
	else if (!insert_write(s, io))
		*error = BLK_STS_IOERR;
	if (count_write(s, bio, io, *error))
		return DM_ENDIO_INCOMPLETE;
	if (io->fua && !*error)
		*error = BLK_STS_IOERR;
	return DM_ENDIO_DONE;
}

/* Map a flush: it ends with the commit of the open epoch, or of the last one if that is empty.
 * While writes are passed, or passed ones may not be durable yet, it goes to the origin.
 */
int nc_stage_flush_map(struct nc_stage *s, struct bio *bio)
{
	struct nc_stage_io *io = dm_per_bio_data(bio, sizeof(*io));
	bool failed, waits;

	io->s = s;
	io->kind = NC_STAGE_IO_WAITER;
	spin_lock_irq(&s->lock);
	failed = nc_pass_fails_flush(s) || s->failed;
	if (!failed && s->mode >= NEARCACHE_STAGE_PASSES) {
		nc_pass_flush(s, bio, io);
		spin_unlock_irq(&s->lock);
		return DM_MAPIO_REMAPPED;
	}
	io->epoch = s->ring.open.epoch - !s->ring.epoch_entries;
	waits = !failed && io->epoch >= s->ring.committed.epoch;
	if (!failed)
		nc_ring_note_flush(&s->ring);
	if (waits) {
		bio_list_add(&s->commit.waiters, bio);
		s->commit.wanted = max(s->commit.wanted, io->epoch);
	}
	spin_unlock_irq(&s->lock);
	if (failed)
		return DM_MAPIO_KILL;
	if (waits)
		nc_stage_commit_now(s);
	else
		bio_endio(bio);
	return DM_MAPIO_SUBMITTED;
}
