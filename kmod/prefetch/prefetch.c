// SPDX-License-Identifier: GPL-2.0-only
/*
 * The prefetch engine.  One worker per cache turns jobs into fills that no reader waits for.  These
 * are listed like other fills, so a user's read can join them, and a write makes them stale.  The
 * worker submits them under a plug, which merges reads of adjacent data into long requests.
 *
 * Jobs yield to users' I/O: see throttle.c.  Jobs use at most half of the fill memory.
 *
 * A job may read at a peer instead of at the origin: see peer_fills.c.
 */
#include <linux/blkdev.h>
#include <linux/file.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "evict/prefetch_reserve.h"
#include "cache.h"
#include "io/fill.h"
#include "io/miss.h"
#include "prefetch/peer_fills.h"
#include "prefetch/throttle.h"
#include "prefetch/prefetch.h"
#include "prefetch/slot_wait.h"
#include "ranges/lookup.h"
#include "io/read.h"
#include "evict/free_slots.h"

/* Most bytes that a job submits per turn: alone, and while other readers use the origin. */
#define TURN_BYTES	(4U << 20)
#define TURN_SHARED	(256U << 10)
/* Wait until this many bytes may be submitted, so that requests for adjacent data are long. */
#define REQUEST_BYTES	(TURN_BYTES / 4)
/* Turns per second of a job with a bandwidth limit. */
#define TURNS_LIMITED	8U
/* Most index look-ups per turn. */
#define TURN_STEPS	1024U
#define NEVER		((unsigned long)MAX_SCHEDULE_TIMEOUT)
/* Only the present job has to wait, until job->due; other jobs may run. */
#define STUCK		(NEVER - 1)

/* Bytes that may be submitted now; 0 while they are too few for a request of useful length. */
static u64 send_room(const struct nc_cache *c)
{
	const struct nc_prefetch *p = &c->prefetch;
	u64 memory = READ_ONCE(c->fills.memory_max) / 2, window = p->pipe.window, left;

	/* With nothing in flight allow some bytes even with a tiny window, so that jobs proceed. */
	if (!p->flying)
		return max_t(u64, min(window, memory), TURN_SHARED);
	if (p->shared)
		memory = min_t(u64, memory, TURN_SHARED);
	left = min(window - min(window, p->reading), memory - min(memory, p->flying));
	return left >= min_t(u64, REQUEST_BYTES, min(window, memory) / 2) ? left : 0;
}

static u64 job_span_bytes(const struct nc_cache *c, const struct nc_span *span)
{
	return nc_fill_span_bytes(c, span);
}

/*
 * Set nc_job.since to the time when the job was 1/2 to 1 cache size earlier in its list (@blocks).
 * A reader is less than this ahead of a late job.  So an older read was for an earlier visit of the
 * block, and has_passed() must ignore it.
 */
static void job_note_time(const struct nc_cache *c, struct nc_job *job)
{
	if (!job->larger || job->blocks + c->index.count / 2 > job->noted)
		return;
	job->noted = job->blocks;
	job->since = job->since_next;
	job->since_next = nc_demand_stamp();
}

/* Set the position of the job to the end of @span, or to its next piece. */
static void job_advance(const struct nc_cache *c, struct nc_job *job, const struct nc_span *span)
{
	u64 next = (span->block << c->hot.block_shift) +
		   ((u64)(span->last + 1) << c->hot.sub_shift);

	job->sector = next;
	if (next >= job->piece[job->at].end) {
		job->at++;
		if (!nc_job_is_sent(job))
			job->sector = job->piece[job->at].first;
	}
	if (nc_job_is_sent(job) || job->sector >> c->hot.block_shift != span->block) {
		job->blocks--;
		job_note_time(c, job);
	}
}

/* The job's next sub-blocks, up to the end of the block. */
static struct nc_span span_at(const struct nc_cache *c, const struct nc_job *job)
{
	u64 block = job->sector >> c->hot.block_shift, start = block << c->hot.block_shift;
	u64 end = min(job->piece[job->at].end, start + (1U << c->hot.block_shift)) - start;

	return (struct nc_span) {
		.block = block,
		.first = (u32)(job->sector - start) >> c->hot.sub_shift,
		.last = (u32)(end - 1) >> c->hot.sub_shift,
	};
}

static void job_read_done(struct nc_fill *f, u64 took)
{
	nc_throttle_see_read(f->target->cache, f->bytes, took, !f->bio.bi_status);
}

static void job_joined(struct nc_fill *f, u32 bytes)
{
	nc_demand_see_met(&f->target->cache->origin.demand, bytes);
}

static void job_fill_done(struct nc_fill *f, u64 bits, int error)
{
	struct nc_cache *c = f->target->cache;
	u64 got = min_t(u64, hweight64(bits) * c->geo.subblock_size, f->bytes);
	struct nc_prefetch *p = &c->prefetch;
	struct nc_job *job = f->owner;

	if (bits)
		nc_count(c, FILLS);
	nc_count_add(c, PREFETCHED_BYTES, got);
	spin_lock(&p->lock);
	if (f->ops->peer) {
		p->peers_flying -= f->bytes;
	} else {
		p->flying -= f->bytes;
		if (!p->flying) {
			WRITE_ONCE(c->origin.demand.clean_since, ktime_get_ns());
			WRITE_ONCE(c->origin.demand.disturbed, false);
		}
	}
	job->flying -= f->bytes;
	/* The next pass counts @got as present. */
	if (got == f->bytes ||
	    !nc_job_keep(job, f->sector, f->sector + (f->bytes >> SECTOR_SHIFT), f->bytes)) {
		job->fetched += got;
		job->left += f->bytes - got;
	}
	if (job->peer && f->state == NC_FILL_READING)
		WRITE_ONCE(job->failures, job->failures + 1);
	else if (error)
		p->failed = jiffies;
	else if (!nc_job_is_lost(job))
		WRITE_ONCE(job->failures, 0);
	nc_prefetch_kick(p);
	spin_unlock(&p->lock);
	/* Last: afterwards a suspend goes on. */
	if (f->ops->peer)
		nc_peer_fill_end(p);
}

static const struct nc_fill_ops job_fill_ops = {
	.ahead = true,
	.user = NC_SLOT_JOB,
	.read_done = job_read_done,
	.joined = job_joined,
	.done = job_fill_done,
};

static const struct nc_fill_ops stream_fill_ops = {
	.ahead = true,
	.user = NC_SLOT_STREAM,
	.read_done = job_read_done,
	.joined = job_joined,
	.done = job_fill_done,
};

static const struct nc_fill_ops peer_fill_ops = {
	.ahead = true,
	.user = NC_SLOT_JOB,
	.peer = true,
	.done = job_fill_done,
};

/* Account a fill of @job before nc_fill_start(). */
static void add_flying(struct nc_cache *c, struct nc_job *job, struct nc_fill *f)
{
	struct nc_prefetch *p = &c->prefetch;

	f->owner = job;
	spin_lock(&p->lock);
	job->flying += f->bytes;
	if (job->peer) {
		p->peers_flying += f->bytes;
	} else {
		if (!p->flying)
			nc_pipe_begin(&p->pipe, ktime_get_ns());
		p->flying += f->bytes;
		p->reading += f->bytes;
		nc_pipe_sent(&p->pipe, p->reading);
		WRITE_ONCE(c->origin.demand.disturbed, true);
	}
	spin_unlock(&p->lock);
}

static const struct nc_fill_ops *fill_ops_of(const struct nc_job *job)
{
	if (job->stream)
		return &stream_fill_ops;
	return job->peer ? &peer_fill_ops : &job_fill_ops;
}

/* Start a fill at the start of @span. */
static enum nc_miss start_fill(struct nc_cache *c, struct nc_span *span, struct nc_job *job)
{
	enum nc_miss result;
	struct nc_fill *f;

	result = nc_miss_prefetch(c->life.active, span, fill_ops_of(job), &f);
	if (result != NC_MISS_STARTED)
		return result;
	if (job->peer)
		nc_peer_fill_aim(c, job, f);
	add_flying(c, job, f);
	nc_fill_start(f, false);
	nc_slots_check(c);
	return result;
}

/* Bring the missing data at the start of @span, which is shortened to the part that was handled.
 * Adds submitted bytes to @sent.  Returns jiffies to wait, STUCK, or NEVER (until a fill ends).
 */
static unsigned long fetch_span(struct nc_cache *c, struct nc_job *job, struct nc_span *span,
				u64 *sent)
{
	struct nc_prefetch *p = &c->prefetch;
	u64 present = 0, left = 0;
	enum nc_miss result;

	if (unlikely(nc_ranges_any(c)) && nc_ranges_bypassed(c, span)) {
		left = job_span_bytes(c, span);
		goto looked;
	}
	if (job->peer && !nc_peer_fill_begin(p))
		return STUCK;
	result = start_fill(c, span, job);
	if (job->peer && result != NC_MISS_STARTED)
		nc_peer_fill_end(p);
	switch (result) {
	case NC_MISS_STARTED:
		*sent += job_span_bytes(c, span);
		p->stream.tries = job->stream ? 0 : p->stream.tries;
		break;
	case NC_MISS_JOINED:
	case NC_MISS_PEER:
		present = job_span_bytes(c, span);
		/* A stream looks again at data that it is bringing. */
		if (!job->stream)
			nc_demand_see_met(&c->origin.demand, present);
		break;
	case NC_MISS_VALID:
		/* The next job_step() looks the same data up again. */
		return 0;
	case NC_MISS_MEMORY:
		return READ_ONCE(p->flying) ? NEVER : NC_SHORTAGE;
	case NC_MISS_FULL:
		if (job->stream) {
			nc_stream_wait_for_slot(c, job);
			return STUCK;
		}
		if (nc_job_waits_for_slot(c, job, span->block))
			return STUCK;
		left = job_span_bytes(c, span);
		break;
	case NC_MISS_WRITE:
		left = job_span_bytes(c, span);
		spin_lock(&p->lock);
		if (nc_job_keep(job, job->sector, job->sector + (left >> SECTOR_SHIFT), left))
			left = 0;
		spin_unlock(&p->lock);
		break;
	}
looked:
	nc_job_set_waits(c, job, false);
	spin_lock(&p->lock);
	job->present += present;
	job->left += left;
	job_advance(c, job, span);
	spin_unlock(&p->lock);
	return 0;
}

/* Did a user's read bring a cached block from the origin, in this tick or the one before? */
static bool was_just_read(struct nc_cache *c, u64 block)
{
	int hold = nc_hit_lock(&c->hot.hit_srcu, nc_index_hash(&c->index, block));
	u32 i = nc_index_find(&c->index, block);
	bool found = false;

	if (i != NC_NIL) {
		const struct nc_slot *slot = &c->index.slots[i];
		u16 stamp = READ_ONCE(slot->stamp);

		found = !(stamp & NC_STAMP_REUSED) && !READ_ONCE(slot->tag.ahead) &&
			((READ_ONCE(c->hot.now) - stamp) & NC_STAMP_TICK) <= 1;
	}
	nc_hit_unlock(&c->hot.hit_srcu, hold);
	return found;
}

/* Have readers read the start of @span, because the job was late?  If the job brought the data now,
 * it would be behind its readers, hold a slot, and be evicted unread.
 *
 * A stream asks the plan, which knows the sub-blocks that were read, and shortens @span to those
 * for which the result holds.  Another job, if it is larger than the cache, asks for reads at the
 * origin.  It leaves out whole blocks only, as readers may not have reached a part of a block yet,
 * and leaves out no pinned block.
 */
static bool has_passed(struct nc_cache *c, const struct nc_job *job, struct nc_span *span)
{
	const struct nc_piece *piece = &job->piece[job->at];
	u64 block = span->block, start = block << c->hot.block_shift;

	if (job->stream)
		return nc_stream_is_read(c, job, span);
	return job->larger && !job->peer && piece->first <= start &&
	       piece->end > start + c->hot.block_mask && !nc_ranges_pinned(c, block) &&
	       nc_demand_take_passed(&c->origin.demand, block, job->since);
}

/* Handle the next data of the job, at most @most bytes of one block.  Returns as fetch_span(). */
static unsigned long job_step(struct nc_cache *c, struct nc_job *job, u64 most, u64 *sent)
{
	u64 subs = max(most >> (c->hot.sub_shift + SECTOR_SHIFT), 1ULL);
	struct nc_span span = span_at(c, job);

	c->slots.reserve.need = job->blocks;
	if (!nc_read_cached(c, &span) && !has_passed(c, job, &span)) {
		span.last = min_t(u64, span.last, span.first + subs - 1);
		return fetch_span(c, job, &span, sent);
	}
	if (nc_demand_reads(&c->origin.demand) && was_just_read(c, span.block))
		nc_demand_see_met(&c->origin.demand, job_span_bytes(c, &span));
	nc_job_set_waits(c, job, false);
	spin_lock(&c->prefetch.lock);
	job->present += job_span_bytes(c, &span);
	job_advance(c, job, &span);
	spin_unlock(&c->prefetch.lock);
	return 0;
}

/* Return the jiffies at which the next bytes may be sent, if @sent bytes are sent now at @rate. */
static unsigned long pace_delay(unsigned long due, u64 sent, u64 rate)
{
	unsigned long now = jiffies;

	if (!due || time_before(due, now))
		due = now;
	/* Never 0, which would mean no delay. */
	return (due + div64_u64(sent * HZ + rate / 2, rate)) ?: 1;
}

/* Let a job submit at most @most bytes.  Returns jiffies to wait before any job's next turn. */
static unsigned long job_turn(struct nc_cache *c, struct nc_job *job, u64 most)
{
	struct nc_prefetch *p = &c->prefetch;
	struct blk_plug plug;
	unsigned long wait = 0;
	u64 sent = 0;
	u32 steps;

	if (!job->number && !job->stream)
		job->number = nc_reserve_join(c);
	c->slots.reserve.taker = job->number;
	blk_start_plug(&plug);
	for (steps = 0; !wait && steps < TURN_STEPS && sent < most && !nc_job_is_sent(job) &&
	     READ_ONCE(job->state) == NEARCACHE_JOB_RUNNING && !READ_ONCE(p->paused); steps++)
		wait = job_step(c, job, most - sent, &sent);
	blk_finish_plug(&plug);
	spin_lock(&p->lock);
	if (job->bandwidth && sent)
		job->pace = pace_delay(job->pace, sent, job->bandwidth);
	if (p->shared && sent && !job->peer)
		p->due = pace_delay(p->due, sent, p->rate);
	spin_unlock(&p->lock);
	return wait == STUCK ? 0 : wait;
}

/* Give up the job's place among the jobs that take slots, and let the others try again. */
static void leave_reserve_jobs(struct nc_cache *c, struct nc_job *job)
{
	nc_job_set_waits(c, job, false);
	if (job->number)
		nc_reserve_leave(c, job->number, job->state == NEARCACHE_JOB_CANCELLED);
	nc_reserve_wake(c);
}

/* Begin another pass of a job that has submitted all pieces, or end it; no fill is in flight. */
static void settle_job(struct nc_cache *c, struct nc_job *job)
{
	struct nc_prefetch *p = &c->prefetch;
	struct nc_piece *pieces = NULL;
	struct nc_job *gone = NULL;
	struct file *peer = NULL;

	if (job->stream) {
		nc_stream_end(c, job);
		return;
	}
	/* Drop this job's demand for slots; other jobs that wait will report their demand again. */
	nc_reserve_want(c, 0);
	spin_lock(&p->lock);
	if (job->state == NEARCACHE_JOB_RUNNING && job->kept && !nc_job_is_lost(job)) {
		nc_job_again(job);
		job->due = (jiffies + HZ) ?: 1;
		spin_unlock(&p->lock);
		job->blocks = nc_job_blocks(job, c->hot.block_shift);
		job->noted = job->blocks;
		nc_reserve_wake(c);
		return;
	}
	spin_unlock(&p->lock);
	leave_reserve_jobs(c, job);
	spin_lock(&p->lock);
	job->left += job->again;
	if (nc_job_is_lost(job))
		job->left = job->bytes - job->fetched - job->present;
	if (job->state == NEARCACHE_JOB_RUNNING)
		job->state = job->left ? NEARCACHE_JOB_INCOMPLETE : NEARCACHE_JOB_DONE;
	swap(pieces, job->piece);
	swap(peer, job->peer);
	gone = nc_jobs_end(&p->jobs, job);
	WRITE_ONCE(c->origin.demand.watched, p->jobs.count);
	nc_throttle_fit_memory(c);
	nc_health_event(c, NEARCACHE_EVENT_JOB_OVER);
	spin_unlock(&p->lock);
	if (peer)
		fput(peer);
	kvfree(pieces);
	nc_job_free(gone);
}

/* Cancel job @id, or with 0 all jobs that are not over.  Returns their number. */
static u32 cancel_jobs(struct nc_jobs *jobs, u32 id)
{
	struct nc_job *job;
	u32 count = 0;

	list_for_each_entry(job, &jobs->waiting, list) {
		if ((id && job->id != id) || job->stream || job->state != NEARCACHE_JOB_RUNNING)
			continue;
		WRITE_ONCE(job->state, NEARCACHE_JOB_CANCELLED);
		count++;
	}
	return count;
}

/* After nc_reserve_wake(), let jobs that wait for a slot try again, at most once in NC_SHORTAGE.
 * Returns jiffies until they may, or NEVER.
 */
static unsigned long retry_waiting(struct nc_cache *c)
{
	struct nc_prefetch *p = &c->prefetch;
	unsigned long now = jiffies;

	if (!atomic_read(&c->slots.reserve.woken))
		return NEVER;
	if (time_before(now, p->retried + NC_SHORTAGE))
		return p->retried + NC_SHORTAGE - now;
	p->retried = now;
	/* Fully ordered, before the look for slots: see nc_reserve_wake(). */
	atomic_xchg(&c->slots.reserve.woken, 0);
	spin_lock(&p->lock);
	nc_jobs_retry(&p->jobs);
	spin_unlock(&p->lock);
	return NEVER;
}

/* Let the next job have a turn, or settle it.  Returns jiffies until the next call; 0: at once. */
static unsigned long look_at_jobs(struct nc_cache *c)
{
	struct nc_prefetch *p = &c->prefetch;
	unsigned long wait = retry_waiting(c), held = nc_throttle_wait(c);
	unsigned long look = nc_stream_look(c);
	struct nc_job *job;
	bool sent, ill;
	u64 most;

	spin_lock(&p->lock);
	/* Cancel rather than wait: bypass lasts until a reload. */
	if (READ_ONCE(c->hot.state) == NEARCACHE_BYPASS)
		cancel_jobs(&p->jobs, 0);
	look = min(look, nc_peer_jobs_look(p));
	wait = min(wait, look);
	most = send_room(c);
	ill = READ_ONCE(c->hot.state) != NEARCACHE_NORMAL;
	/* Without room, job_fill_done() runs the worker again. */
	job = nc_jobs_pick(&p->jobs, jiffies, held || !most,
			   ill || p->peers_held || nc_peer_fills_enough(c), &wait);
	sent = job && (nc_job_is_sent(job) || job->state != NEARCACHE_JOB_RUNNING);
	spin_unlock(&p->lock);
	if (!job)
		return held ? min(wait, held) : wait;
	if (sent) {
		settle_job(c, job);
		return 0;
	}
	if (job->peer)
		most = NC_JOB_PEER_BYTES - READ_ONCE(job->flying);
	if (most > REQUEST_BYTES)
		most = round_down(most, REQUEST_BYTES);
	most = min_t(u64, most, p->shared && !job->peer ? TURN_SHARED : TURN_BYTES);
	/* Many small turns keep the rate of a limited job even. */
	if (job->bandwidth)
		most = min(most, job->bandwidth / TURNS_LIMITED);
	wait = job_turn(c, job, max(most, 1ULL));
	return min(wait, look);
}

static void prefetch_work(struct work_struct *work)
{
	struct nc_prefetch *p = container_of(to_delayed_work(work), struct nc_prefetch, work);
	struct nc_cache *c = container_of(p, struct nc_cache, prefetch);
	unsigned long wait;

	do {
		if (READ_ONCE(p->paused))
			return;
		wait = look_at_jobs(c);
		cond_resched();
	} while (!wait);
	if (wait < NEVER)
		queue_delayed_work(p->wq, &p->work, wait);
}

/**
 * nc_prefetch_submit() - queue a job
 * @c: live cache
 * @job: filled in; pieces are whole sub-blocks; on success the engine owns the job
 *
 * Context: may sleep.
 * Return: number of the job, or -EMLINK: too many jobs or pieces.
 */
s64 nc_prefetch_submit(struct nc_cache *c, struct nc_job *job)
{
	struct nc_prefetch *p = &c->prefetch;
	s64 id = -EMLINK;

	/* A job that fits into the cache replaces the retention threshold, because all of its data
	 * can stay.  For a larger job the threshold still decides which blocks stay.
	 */
	if (job->bytes <= (u64)c->index.count * c->geo.block_size)
		WRITE_ONCE(c->policy.retain.on, false);
	job->blocks = nc_job_blocks(job, c->hot.block_shift);
	job->larger = job->blocks > c->index.count;
	job->since = nc_demand_stamp();
	job->since_next = job->since;
	job->noted = job->blocks;
	spin_lock(&p->lock);
	if (nc_jobs_add(&p->jobs, job)) {
		id = job->id;
		WRITE_ONCE(c->origin.demand.watched, true);
		nc_prefetch_kick(p);
	}
	spin_unlock(&p->lock);
	return id;
}

/**
 * nc_prefetch_cancel() - cancel a job, or all of them
 * @c: cache
 * @id: number of the job; 0: all
 *
 * Does not wait for fills in flight, after which the worker ends the job.
 *
 * Context: may sleep.
 * Return: number of jobs that were running.
 */
u32 nc_prefetch_cancel(struct nc_cache *c, u32 id)
{
	struct nc_prefetch *p = &c->prefetch;
	u32 count;

	spin_lock(&p->lock);
	count = cancel_jobs(&p->jobs, id);
	if (count)
		nc_prefetch_kick(p);
	spin_unlock(&p->lock);
	return count;
}

/* Stop submitting until nc_prefetch_resume().  Does not wait for the worker.  Context: process. */
void nc_prefetch_rest(struct nc_cache *c)
{
	struct nc_prefetch *p = &c->prefetch;

	spin_lock(&p->lock);
	WRITE_ONCE(p->paused, true);
	spin_unlock(&p->lock);
}

/* Stop submitting, before the table is suspended.  May sleep, also for a request to the origin. */
void nc_prefetch_pause(struct nc_cache *c)
{
	nc_prefetch_rest(c);
	cancel_delayed_work_sync(&c->prefetch.work);
}

/* Go on with the jobs after a dm table went live. */
void nc_prefetch_resume(struct nc_cache *c)
{
	struct nc_prefetch *p = &c->prefetch;

	if (c->life.active->mode != NEARCACHE_READ_ONLY)
		nc_peer_jobs_cancel(c);
	spin_lock(&p->lock);
	WRITE_ONCE(p->paused, false);
	p->peers_held = false;
	nc_jobs_retry(&p->jobs);
	nc_prefetch_kick(p);
	spin_unlock(&p->lock);
}

/* nc_prefetch_reserve.wake.  Not while paused: reclaim may run when the workqueue is freed. */
static void wake_worker(struct nc_cache *c)
{
	if (!READ_ONCE(c->prefetch.paused))
		mod_delayed_work(c->prefetch.wq, &c->prefetch.work, 0);
}

/* nc_prefetch_reserve.lost: count the data as left out, although the job had brought it. */
static void job_lost(struct nc_cache *c, u32 number, u64 bytes)
{
	struct nc_prefetch *p = &c->prefetch;
	struct nc_job *job;

	spin_lock(&p->lock);
	list_for_each_entry(job, &p->jobs.waiting, list)
		if (job->number == number) {
			bytes = min(bytes, job->fetched);
			job->fetched -= bytes;
			job->left += bytes;
			break;
		}
	spin_unlock(&p->lock);
}

void nc_prefetch_init(struct nc_cache *c)
{
	struct nc_prefetch *p = &c->prefetch;

	INIT_DELAYED_WORK(&p->work, prefetch_work);
	spin_lock_init(&p->lock);
	init_waitqueue_head(&p->peers_idle);
	nc_jobs_init(&p->jobs);
	p->paused = true;
	p->retried = jiffies - NC_SHORTAGE;
	p->asked = jiffies - NC_PRESSED;
	c->slots.reserve.wake = wake_worker;
	c->slots.reserve.lost = job_lost;
	c->origin.changed = nc_peer_jobs_cancel;
	nc_throttle_init(p);
	nc_stream_init(&p->stream);
	nc_demand_init(&c->origin.demand, nc_throttle_measure_user);
}

/* Allocate the workqueue and nc_demand.passed.  Returns 0 or -ENOMEM. */
int nc_prefetch_alloc(struct nc_cache *c)
{
	struct nc_demand *d = &c->origin.demand;

	d->passed = kvcalloc(NC_DEMAND_PASSED, sizeof(*d->passed), GFP_KERNEL);
	if (!d->passed)
		return -ENOMEM;
	c->prefetch.wq = alloc_workqueue("nearcache_p/%s", WQ_MEM_RECLAIM | WQ_UNBOUND, 1,
					 dm_device_name(c->dev.owner));
	return c->prefetch.wq ? 0 : -ENOMEM;
}

/* Free the engine and its jobs.  The caller ensures that the prefetch is paused and no fill is in
 * flight.  Reclaim may still run, and call job_lost().
 */
void nc_prefetch_destroy(struct nc_cache *c)
{
	struct nc_prefetch *p = &c->prefetch;
	LIST_HEAD(jobs);

	cancel_delayed_work_sync(&p->work);
	if (p->wq)
		destroy_workqueue(p->wq);
	spin_lock(&p->lock);
	nc_jobs_detach(&p->jobs, &jobs);
	spin_unlock(&p->lock);
	nc_jobs_free(&jobs);
	kvfree(c->origin.demand.passed);
}
