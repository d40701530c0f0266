/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to the kernel module over generic netlink. Only the files of netlink/ use libnl.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 * @number is always the device number of a nearcache device.
 */
#ifndef HELPER_NETLINK_CLIENT_H
#define HELPER_NETLINK_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nearcache.h"
#include "nearcache_counters.h"
#include "lib/range.h"

/**
 * struct nl_run - contiguous bytes of a device, all cached or all not cached
 * @start: first byte
 * @length: bytes
 * @cached: whether the bytes are cached
 */
struct nl_run {
	uint64_t start;
	uint64_t length;
	bool cached;
};

/**
 * struct nl_range - a range of a device; nl_replacement.drop uses only @range and @label
 * @range: bytes
 * @label: name for counting; in nl_replacement.drop NULL matches any label
 * @flags: NEARCACHE_RANGE_*
 * @priority: 0 to NEARCACHE_PRIORITY_MAX
 * @expires: seconds until the range expires, 0: never
 */
struct nl_range {
	struct range range;
	const char *label;
	uint32_t flags;
	uint32_t priority;
	uint32_t expires;
};

/**
 * struct nl_room - space that pins need
 * @count: number of ranges of the device; valid only from nl_range_room()
 * @needed: bytes of cache that pins need
 * @available: bytes of cache that pins may use
 */
struct nl_room {
	uint64_t count;
	uint64_t needed;
	uint64_t available;
};

/**
 * struct nl_replacement - one change of a device's ranges; see range-replace in nearcache.yaml
 * @drop: delete each range that lies inside an element of @drop and has the element's label; an
 *	element of length 0 reaches to the end of the device
 * @keep: do not delete these ranges, although @drop matches them
 * @add: add these ranges, in place of equal ones
 * @drop_count: elements of @drop
 * @keep_count: elements of @keep
 * @add_count: elements of @add
 * @deleted: number of ranges that were deleted and not added again, set by the call
 * @room: set by the call: space that pins need after the change; if @refused, that they would need
 * @refused: set by the call: nothing was changed, because the cache has no room for the pins
 */
struct nl_replacement {
	const struct nl_range *drop;
	const struct nl_range *keep;
	const struct nl_range *add;
	size_t drop_count;
	size_t keep_count;
	size_t add_count;
	uint64_t deleted;
	struct nl_room room;
	bool refused;
};

/**
 * struct nl_label - a label and the counters of its ranges
 * @name: the label
 * @ranges: number of ranges with the label
 * @bytes: total length of these ranges
 * @id: number of the label in trace events
 * @counter: by NEARCACHE_LABEL_*
 */
struct nl_label {
	const char *name;
	uint64_t ranges;
	uint64_t bytes;
	uint32_t id;
	uint64_t counter[NEARCACHE_LABEL_COUNTER_COUNT];
};

/**
 * struct nl_job - a prefetch job
 * @id: number of the job
 * @label: names the owner of the job
 * @label_hidden: @label is unknown, as this process may not see which data others read
 * @state: NEARCACHE_JOB_*
 * @priority: 0 to NEARCACHE_PRIORITY_MAX
 * @deadline: seconds from now within which the job should finish, 0: none
 * @bandwidth: limit in bytes per second, 0: unlimited
 * @bytes: total length of the ranges of the job
 * @fetched: bytes that the job fetched from the origin
 * @present: bytes that were cached already, that a reader or another job cached meanwhile, or that
 *	readers read at the origin meanwhile
 * @left: bytes that the job tried but did not cache, for example because a read failed
 * @flying: bytes that are being fetched now
 * @peer: it reads at a peer instead of the origin
 * @peer_fd: in a request, open block device to read instead of the origin; 0: the origin
 */
struct nl_job {
	uint32_t id;
	char label[NEARCACHE_LABEL_MAX + 1];
	bool label_hidden;
	uint32_t state;
	uint32_t priority;
	uint32_t deadline;
	uint64_t bandwidth;
	uint64_t bytes;
	uint64_t fetched;
	uint64_t present;
	uint64_t left;
	uint64_t flying;
	bool peer;
	int peer_fd;
};

/**
 * struct nl_plan - the active plan, or the last one
 * @coming: number of ranges received so far of a new plan, whose submission is not complete
 * @state: NEARCACHE_PLAN_*
 * @ranges: number of ranges in the plan
 * @visits: number of visits; a visit is the reading of one block at its place in the plan
 * @blocks: number of different blocks
 * @position: visits that were made or skipped
 * @hits: visits whose first read was a hit
 * @misses: visits whose first read was not a hit
 * @skipped: visits that the position passed without a read
 * @astray: reads that belong to no visit
 * @refused: reads not cached, because no slot was free or the plan reads the cached blocks earlier
 * @sought: how often the position moved because the readers continued elsewhere in the plan
 * @memory: bytes of memory that the plan takes
 * @no_prefetch: the plan was submitted with NL_PLAN_NO_PREFETCH
 */
struct nl_plan {
	uint64_t coming;
	uint32_t state;
	uint64_t ranges;
	uint64_t visits;
	uint64_t blocks;
	uint64_t position;
	uint64_t hits;
	uint64_t misses;
	uint64_t skipped;
	uint64_t astray;
	uint64_t refused;
	uint64_t sought;
	uint64_t memory;
	bool no_prefetch;
};

int nl_residency(dev_t number, const struct range *range,
		 void (*visit)(const struct nl_run *run, void *arg), void *arg);

int nl_range_replace(dev_t number, struct nl_replacement *change);
int nl_range_room(dev_t number, struct nl_room *room);
int nl_range_each(dev_t number,
		  void (*visit)(const struct nl_range *range, void *arg),
		  void *arg);
int nl_label_each(dev_t number,
		  void (*visit)(const struct nl_label *label, void *arg),
		  void *arg);

/* Has the kernel finished the job, whatever the result? Its last reads may still be in flight. */
static inline bool nl_job_is_over(const struct nl_job *job)
{
	return job->state != NEARCACHE_JOB_RUNNING && job->state != NEARCACHE_JOB_WAITING;
}

/* Maximum number of ranges in all jobs of a device. */
#define NL_JOB_PIECES_MAX	1048576U

int nl_job_submit(dev_t number, const struct nl_job *wishes,
		  const struct range *range, size_t count, uint32_t *id);
int nl_job_get(dev_t number, uint32_t id, struct nl_job *job, bool *found);
int nl_job_each(dev_t number,
		void (*visit)(const struct nl_job *job, void *arg), void *arg);
int nl_job_left(dev_t number, uint32_t id,
		void (*visit)(const struct range *range, void *arg), void *arg);
int nl_job_end(dev_t number, uint32_t id);
int nl_job_cancel(dev_t number, uint32_t id, uint64_t *count);

/* Flags of nl_plan_submit(): continue the plan in force; do not bring data before it is read. */
#define NL_PLAN_APPEND		(1U << 0)
#define NL_PLAN_NO_PREFETCH	(1U << 1)

int nl_plan_submit(dev_t number, const struct range *range, size_t count, unsigned int flags,
		   struct nl_plan *plan);
int nl_plan_get(dev_t number, struct nl_plan *plan);
int nl_plan_left(dev_t number, void (*visit)(const struct range *range, void *arg), void *arg);
int nl_plan_clear(dev_t number, uint64_t *count);

#endif /* HELPER_NETLINK_CLIENT_H */
