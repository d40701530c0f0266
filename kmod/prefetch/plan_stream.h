/* SPDX-License-Identifier: GPL-2.0-only */
/* The stream of a plan: an internal prefetch job that brings the data of the next visits. */
#ifndef NEARCACHE_PREFETCH_PLAN_STREAM_H
#define NEARCACHE_PREFETCH_PLAN_STREAM_H

#include <linux/types.h>

#include "evict/read_plan.h"
#include "prefetch/plan_pace.h"

struct nc_cache;
struct nc_job;
struct nc_span;

/* Most pieces of the stream's job at a time. */
#define NC_STREAM_PIECES	64U

/**
 * struct nc_plan_stream - the stream of a cache
 * @job: the internal job, in nc_jobs.waiting; it has no nc_job.id and no .number.  NULL: no stream.
 *	Protected by nc_prefetch.lock
 * @cursor: position in the plan; this and the fields below are for the prefetch worker only
 * @pace: of the readers
 * @visit: for each piece of @job, its visit
 * @moved: jiffies when readers last made a visit
 * @looked_back: jiffies when the worker last looked again at visits that it had passed, or later if
 *	that took long
 * @back: visit where the next such look goes on; 0: at the position of the readers
 * @tries: attempts to get a slot since the last successful one
 * @leads: most of the latest reads were visits of the plan, so the stream need not yield to
 *	these readers
 * @made: nc_plan_cursor.made when @leads was set
 * @astray: nc_plan_cursor.astray at that time
 * @weighed: jiffies at that time
 */
struct nc_plan_stream {
	struct nc_job *job;
	struct nc_plan_cursor cursor;
	struct nc_plan_pace pace;
	u32 visit[NC_STREAM_PIECES];
	unsigned long moved;
	unsigned long looked_back;
	u32 back;
	u32 tries;
	bool leads;
	u64 made;
	u64 astray;
	unsigned long weighed;
};

void nc_stream_init(struct nc_plan_stream *stream);
struct nc_job *nc_stream_alloc(void);
void nc_stream_begin(struct nc_cache *c, struct nc_job *job);
unsigned long nc_stream_look(struct nc_cache *c);
bool nc_stream_is_read(struct nc_cache *c, const struct nc_job *job, struct nc_span *span);
void nc_stream_wait_for_slot(struct nc_cache *c, struct nc_job *job);
bool nc_stream_end(struct nc_cache *c, struct nc_job *job);

#endif /* NEARCACHE_PREFETCH_PLAN_STREAM_H */
