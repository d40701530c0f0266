// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stream of a plan.  While a plan is in force, an internal job brings the data of the next
 * visits that is not cached, in the plan's order.  The job has few pieces at a time; when it has
 * submitted them, the worker refills it from the plan.
 *
 * While free or spare slots are left (evict/belady_schedule.c), the job fills them.  Otherwise each
 * block takes the slot of the block whose next use is farthest, as the block of a read does.  So
 * the job then requests data only as early as the latency of the origin requires (plan_pace.c):
 * with each slot that has data too early, MIN has one slot less, and readers miss more.
 */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "cache.h"
#include "evict/free_slots.h"
#include "io/fill.h"
#include "prefetch/plan_stream.h"
#include "prefetch/prefetch.h"
#include "prefetch/throttle.h"

/* Most pieces of the job at a time. */
#define PIECES		64U
/* Interval in jiffies in which the worker looks whether readers have advanced, and the same while
 * they make no visit.
 */
#define LOOK		max(1, HZ / 250)
#define LOOK_IDLE	max(1, HZ / 10)
/* In a full cache data is requested at most this part of the cache ahead. */
#define AHEAD_PARTS	2U
/* The same while the pace of the readers is unknown. */
#define AHEAD_FIRST	32U

/* Allocate a job for nc_stream_begin().  Returns NULL without memory.  May sleep. */
struct nc_job *nc_stream_alloc(void)
{
	struct nc_job *job = kzalloc(sizeof(*job), GFP_KERNEL);

	if (job)
		job->piece = kvcalloc(NC_JOB_SPARE + PIECES, sizeof(*job->piece), GFP_KERNEL);
	if (!job || !job->piece) {
		nc_job_free(job);
		return NULL;
	}
	job->stream = true;
	job->state = NEARCACHE_JOB_RUNNING;
	/* No second pass: readers are there before it. */
	job->pass = NC_JOB_PASSES - 1;
	job->at = NC_JOB_SPARE;
	return job;
}

/**
 * nc_stream_begin() - let a job bring what the plan in force says
 * @c: live cache, with a plan
 * @job: of nc_stream_alloc(); the engine owns it
 *
 * The job ends with the plan, or goes on with a plan that replaces it.
 *
 * Context: may sleep.
 */
void nc_stream_begin(struct nc_cache *c, struct nc_job *job)
{
	struct nc_prefetch *p = &c->prefetch;
	struct nc_job *spare = job;

	spin_lock(&p->lock);
	if (!p->stream.job) {
		p->stream.job = job;
		list_add_tail(&job->list, &p->jobs.waiting);
		p->jobs.count++;
		WRITE_ONCE(c->origin.demand.watched, true);
		spare = NULL;
	}
	WRITE_ONCE(p->stream.job->state, NEARCACHE_JOB_RUNNING);
	nc_prefetch_kick(p);
	spin_unlock(&p->lock);
	nc_job_free(spare);
}

/* Number of the visit up to which to look.  @full: slots come from blocks that are needed later. */
static u32 stream_end(const struct nc_cache *c, bool full)
{
	const struct nc_plan_stream *stream = &c->prefetch.stream;
	const struct nc_pipe *pipe = &c->prefetch.pipe;
	u64 first = pipe->window >> (c->hot.block_shift + SECTOR_SHIFT), ahead;

	if (!full)
		return U32_MAX;
	ahead = nc_plan_pace_ahead(&stream->pace, pipe->least);
	ahead = max(ahead, min_t(u64, first, c->index.count / AHEAD_FIRST));
	ahead = clamp_t(u64, ahead, 1, c->index.count / AHEAD_PARTS + 1);
	return min_t(u64, stream->cursor.front + ahead, U32_MAX);
}

/* The sectors of a span. */
static struct nc_piece span_piece(const struct nc_cache *c, const struct nc_span *span)
{
	u64 start = span->block << c->hot.block_shift;

	return (struct nc_piece) {
		.first = start + ((u64)span->first << c->hot.sub_shift),
		.end = min_t(u64, start + ((u64)(span->last + 1) << c->hot.sub_shift),
			     c->geo.origin_size >> SECTOR_SHIFT),
	};
}

/* Put the next missing data of the plan into the job, which has submitted all.  Returns whether
 * there is any.
 */
static bool refill_stream(struct nc_cache *c, struct nc_job *job)
{
	struct nc_plan_stream *stream = &c->prefetch.stream;
	u32 free = READ_ONCE(c->index.free.count), kept, room = PIECES, end, n = 0;
	u64 spare;
	struct nc_span span;
	bool full;

	kept = nc_slots_high_mark(c) + nc_slots_reserved(c);
	full = free <= kept;
	/* What takes free or spare slots may come any time before it is read.  Reclaim first evicts
	 * spare blocks, until @kept slots are free.
	 */
	spare = (u64)free + stream->cursor.spare;
	end = stream_end(c, spare <= kept);
	if (spare > kept)
		room = min_t(u64, spare - kept, PIECES);
	while (n < room && nc_plan_ahead(c, &stream->cursor, end, full, &span))
		job->piece[NC_JOB_SPARE + n++] = span_piece(c, &span);
	if (!n)
		return false;
	spin_lock(&c->prefetch.lock);
	job->pieces = n;
	job->at = NC_JOB_SPARE;
	job->sector = job->piece[NC_JOB_SPARE].first;
	job->due = 0;
	spin_unlock(&c->prefetch.lock);
	job->blocks = nc_job_blocks(job, c->hot.block_shift);
	return true;
}

/* Is there a plan whose data a stream should bring? */
static bool stream_is_wanted(const struct nc_cache *c)
{
	return nc_plan_any(c) && !READ_ONCE(c->plan.no_prefetch) &&
	       READ_ONCE(c->hot.state) != NEARCACHE_BYPASS;
}

/* Let the worker settle the job, when its fills have ended. */
static void stop_stream(struct nc_cache *c, struct nc_job *job)
{
	spin_lock(&c->prefetch.lock);
	/* A plan may have come since the caller looked: see nc_stream_begin(). */
	if (!stream_is_wanted(c))
		WRITE_ONCE(job->state, NEARCACHE_JOB_DONE);
	spin_unlock(&c->prefetch.lock);
}

/**
 * nc_stream_look() - let the stream follow the readers
 * @c: live cache
 *
 * Context: the prefetch worker.
 * Return: jiffies until the next call, or MAX_SCHEDULE_TIMEOUT.
 */
unsigned long nc_stream_look(struct nc_cache *c)
{
	struct nc_plan_stream *stream = &c->prefetch.stream;
	struct nc_job *job = READ_ONCE(stream->job);
	u32 front = stream->cursor.front;

	if (!job || READ_ONCE(job->state) != NEARCACHE_JOB_RUNNING)
		return MAX_SCHEDULE_TIMEOUT;
	if (!stream_is_wanted(c)) {
		stop_stream(c, job);
		return MAX_SCHEDULE_TIMEOUT;
	}
	if (!nc_plan_look(c, &stream->cursor))
		return LOOK;
	if (!stream->cursor.scheduled)
		nc_plan_schedule(c, &stream->cursor);
	nc_plan_pace_see(&stream->pace, ktime_get_ns(), stream->cursor.front);
	stream->leads = stream->cursor.followed;
	if (!nc_job_is_sent(job) || refill_stream(c, job))
		return MAX_SCHEDULE_TIMEOUT;
	return stream->cursor.front == front ? LOOK_IDLE : LOOK;
}

/* No slot is free for the stream: let reclaim evict, and try again soon, but less and less often
 * while it finds nothing to evict.  Context: the prefetch worker.
 */
void nc_stream_wait_for_slot(struct nc_cache *c, struct nc_job *job)
{
	struct nc_plan_stream *stream = &c->prefetch.stream;
	u32 wait = min(1U << min(stream->tries / 4, 10U), (u32)LOOK_IDLE);

	stream->tries++;
	nc_slots_check(c);
	spin_lock(&c->prefetch.lock);
	job->due = (jiffies + wait) ?: 1;
	spin_unlock(&c->prefetch.lock);
}

/**
 * nc_stream_end() - free the job of a stream
 * @c: cache
 * @job: its plan has ended, and no fill is in flight
 *
 * Context: the prefetch worker.
 * Return: false if another plan has come: the stream goes on.
 */
bool nc_stream_end(struct nc_cache *c, struct nc_job *job)
{
	struct nc_prefetch *p = &c->prefetch;
	bool over;

	spin_lock(&p->lock);
	over = job->state != NEARCACHE_JOB_RUNNING;
	if (over) {
		list_del(&job->list);
		p->jobs.count--;
		p->stream.job = NULL;
		p->stream.leads = false;
		WRITE_ONCE(c->origin.demand.watched, p->jobs.count);
		nc_throttle_fit_memory(c);
	}
	spin_unlock(&p->lock);
	if (over)
		nc_job_free(job);
	return over;
}
