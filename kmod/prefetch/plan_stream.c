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

/* Interval in jiffies in which the worker looks whether readers have advanced, and the same if they
 * have made no visit for the time IDLE: they pause between batches.
 */
#define LOOK		max(1, HZ / 250)
#define LOOK_IDLE	max(1, HZ / 10)
#define IDLE		(2 * HZ)
/* Interval in jiffies in which visits are compared with other reads. */
#define WEIGH		max(1, HZ / 10)
/* Interval in jiffies in which the worker looks again at the next visits: half of the least time
 * that nc_plan_pace_ahead() covers, so that evicted data returns in time.
 */
#define LOOK_BACK	max(1, HZ / 40)
/* In a full cache data is requested at most this part of the cache ahead. */
#define AHEAD_PARTS	2U
/* In a full cache data is requested at least this part of the cache ahead, or as many blocks as the
 * pipe's window has, if that is less.
 */
#define AHEAD_FIRST	32U

/* @stream: zeroed */
void nc_stream_init(struct nc_plan_stream *stream)
{
	stream->moved = jiffies;
	stream->looked_back = jiffies;
	stream->weighed = jiffies;
}

/* Allocate a job for nc_stream_begin().  Returns NULL without memory.  May sleep. */
struct nc_job *nc_stream_alloc(void)
{
	struct nc_job *job = kzalloc(sizeof(*job), GFP_KERNEL);

	if (job)
		job->piece = kvcalloc(NC_JOB_SPARE + NC_STREAM_PIECES, sizeof(*job->piece),
				      GFP_KERNEL);
	if (!job || !job->piece) {
		nc_job_free(job);
		return NULL;
	}
	job->stream = true;
	job->state = NEARCACHE_JOB_RUNNING;
	/* No second pass: readers would be faster, and read the origin for missing data. */
	job->pass = NC_JOB_PASSES - 1;
	job->at = NC_JOB_SPARE;
	return job;
}

/**
 * nc_stream_begin() - start the stream of the plan in force
 * @c: live cache, with a plan
 * @job: from nc_stream_alloc(); the callee takes it, and frees it if a stream exists
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

/* Return the first visit that the stream must not bring yet if its block takes the slot of a block
 * that is needed later.
 */
static u32 stream_end(const struct nc_cache *c)
{
	const struct nc_plan_stream *stream = &c->prefetch.stream;
	const struct nc_pipe *pipe = &c->prefetch.pipe;
	u64 first = pipe->window >> (c->hot.block_shift + SECTOR_SHIFT), ahead;

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

/* Add the next missing data of the plan up to visit @end to the job's @n pieces, as far as there is
 * room.  Returns the number of pieces.
 *
 * The stream requests data for free or spare slots at once, however far ahead.  Beyond
 * stream_end(), once there is a schedule, it requests only visits that miss under MIN.  Reclaim
 * evicts spare blocks first, and keeps @kept slots free.
 */
static u32 add_pieces(struct nc_cache *c, struct nc_job *job, u32 n, u32 end)
{
	u32 kept = nc_slots_high_mark(c) + nc_slots_reserved(c), free;
	struct nc_plan_stream *stream = &c->prefetch.stream;
	u32 near = stream->cursor.foreseen ? stream_end(c) : U32_MAX;
	struct nc_span span;
	bool spare;

	for (; n < NC_STREAM_PIECES; n++) {
		free = READ_ONCE(c->index.free.count);
		spare = (u64)free + stream->cursor.spare > (u64)kept + n;
		if (!nc_plan_ahead(c, &stream->cursor, spare ? end : min(end, stream_end(c)), near,
				   free <= kept, &span))
			break;
		job->piece[NC_JOB_SPARE + n] = span_piece(c, &span);
		stream->visit[n] = stream->cursor.at - 1;
	}
	return n;
}

/* Look again at the visits that come soon: their blocks may have been evicted, or could not be
 * read.
 */
static u32 look_back(struct nc_cache *c, struct nc_job *job)
{
	struct nc_plan_stream *stream = &c->prefetch.stream;
	u32 at = stream->cursor.at, end = min(at, stream_end(c)), n;
	unsigned long now = jiffies;

	if (time_before(now, stream->looked_back + LOOK_BACK))
		return 0;
	/* Go on behind the pieces of the last look, if there were any: data of visits of parts is
	 * added although it is cached.
	 */
	stream->cursor.at = max(stream->cursor.position, stream->back);
	if (stream->cursor.at >= end)
		stream->cursor.at = stream->cursor.position;
	n = add_pieces(c, job, 0, end);
	/* Without a piece the look may have stopped early: begin the next one at the position. */
	stream->back = n ? stream->cursor.at : 0;
	stream->cursor.at = max(at, stream->cursor.at);
	/* A look takes at most an eighth of the worker's time. */
	stream->looked_back = jiffies + 8 * (jiffies - now);
	return n;
}

/* Refill the job, which has submitted all its pieces, with the next missing data of the plan.
 * Returns false if there is none.
 */
static bool refill_stream(struct nc_cache *c, struct nc_job *job)
{
	u32 n = look_back(c, job);

	n = add_pieces(c, job, n, U32_MAX);
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

/* Leave out pieces whose visits are over, or that belong to another plan. */
static void drop_old_pieces(struct nc_cache *c, struct nc_job *job, bool all)
{
	const struct nc_plan_stream *stream = &c->prefetch.stream;

	spin_lock(&c->prefetch.lock);
	while (!nc_job_is_sent(job) &&
	       (all || stream->visit[job->at - NC_JOB_SPARE] < stream->cursor.position)) {
		job->at++;
		if (!nc_job_is_sent(job))
			job->sector = job->piece[job->at].first;
	}
	spin_unlock(&c->prefetch.lock);
}

/* Have readers read the start of @span since the stream selected it?  @span is the next data of
 * @job; it is shortened to the sub-blocks for which the result holds.
 */
bool nc_stream_is_read(struct nc_cache *c, const struct nc_job *job, struct nc_span *span)
{
	const struct nc_plan_stream *stream = &c->prefetch.stream;

	return !nc_plan_unread(c, &stream->cursor, stream->visit[job->at - NC_JOB_SPARE], span);
}

/* Is there a plan whose data a stream should bring? */
static bool stream_is_wanted(const struct nc_cache *c)
{
	return nc_plan_any(c) && !READ_ONCE(c->plan.no_prefetch) &&
	       READ_ONCE(c->hot.state) != NEARCACHE_BYPASS;
}

/* End the stream: the worker calls nc_stream_end() after the last fill. */
static void stop_stream(struct nc_cache *c, struct nc_job *job)
{
	spin_lock(&c->prefetch.lock);
	/* A plan may have come since the caller looked: see nc_stream_begin(). */
	if (!stream_is_wanted(c))
		WRITE_ONCE(job->state, NEARCACHE_JOB_DONE);
	spin_unlock(&c->prefetch.lock);
}

/* See whether readers follow the plan: at intervals, compare their visits with other reads. */
static void weigh_reads(struct nc_plan_stream *stream)
{
	u64 astray = stream->cursor.astray - stream->astray;
	u64 made = stream->cursor.made - stream->made;

	if (time_before(jiffies, stream->weighed + WEIGH))
		return;
	stream->leads = made && made >= astray;
	stream->made = stream->cursor.made;
	stream->astray = stream->cursor.astray;
	stream->weighed = jiffies;
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
	u64 number = stream->cursor.number, sought = stream->cursor.sought;
	u32 front = stream->cursor.front;
	bool other;

	if (!job || READ_ONCE(job->state) != NEARCACHE_JOB_RUNNING)
		return MAX_SCHEDULE_TIMEOUT;
	if (!stream_is_wanted(c)) {
		stop_stream(c, job);
		return MAX_SCHEDULE_TIMEOUT;
	}
	if (!nc_plan_look(c, &stream->cursor))
		return LOOK;
	/* Another plan, or readers have jumped: nc_plan_look() has reset the cursor. */
	other = stream->cursor.number != number || stream->cursor.sought != sought;
	if (other)
		stream->pace = (struct nc_plan_pace) { };
	drop_old_pieces(c, job, other);
	if (!stream->cursor.scheduled)
		nc_plan_schedule(c, &stream->cursor, &c->prefetch.paused);
	nc_plan_pace_see(&stream->pace, ktime_get_ns(), stream->cursor.front);
	weigh_reads(stream);
	if (!nc_job_is_sent(job) || refill_stream(c, job))
		return MAX_SCHEDULE_TIMEOUT;
	if (stream->cursor.front != front)
		stream->moved = jiffies;
	if (!time_before(jiffies, stream->moved + IDLE))
		return LOOK_IDLE;
	if (stream->cursor.at < stream->cursor.visits)
		return LOOK;
	/* The cursor has passed the last visit: only look_back() may still find data to bring. */
	return clamp((long)(stream->looked_back + LOOK_BACK - jiffies), 1L, (long)LOOK_IDLE);
}

/* The stream found no free slot: start reclaim, and try again after 1 jiffy, later after up to
 * LOOK_IDLE, while attempts fail.  Context: the prefetch worker.
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
 * @job: job of the stream; its plan has ended, and none of its fills is in flight
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
