/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel module's generic netlink family. Only the files of netlink/ use libnl.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 * @number is always the number of a nearcache device.
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
 * @cached: they are cached
 */
struct nl_run {
	uint64_t start;
	uint64_t length;
	bool cached;
};

/**
 * struct nl_range - a range of a device
 * @range: bytes
 * @label: for counting; to drop: NULL matches any label
 * @flags: NEARCACHE_RANGE_*; to drop: not used
 * @priority: 0 to NEARCACHE_PRIORITY_MAX; to drop: not used
 * @expires: seconds until it expires, 0: never; to drop: not used
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
 * @count: number of ranges
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
 * @drop: delete the ranges inside one of these that have its label; length 0: to the device's end
 * @keep: ranges to keep although @drop matches them
 * @add: ranges to add, replacing equal ones
 * @drop_count: elements of @drop
 * @keep_count: elements of @keep
 * @add_count: elements of @add
 * @deleted: result: ranges that were deleted and not added again
 * @room: result: space that pins need afterwards, or would need
 * @refused: result: the cache has no room for the pins, so nothing was changed
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
 * @ranges: with this label
 * @bytes: total of these ranges
 * @id: number in trace events
 * @counter: NEARCACHE_LABEL_*
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
 * @label: owner's label
 * @state: NEARCACHE_JOB_*
 * @priority: 0 to NEARCACHE_PRIORITY_MAX
 * @deadline: seconds left, 0: none
 * @bandwidth: bytes per second, 0: unlimited
 * @bytes: total of its ranges
 * @fetched: bytes fetched from the origin
 * @present: bytes that were already cached
 * @left: bytes not fetched
 * @flying: bytes being fetched now
 */
struct nl_job {
	uint32_t id;
	char label[NEARCACHE_LABEL_MAX + 1];
	uint32_t state;
	uint32_t priority;
	uint32_t deadline;
	uint64_t bandwidth;
	uint64_t bytes;
	uint64_t fetched;
	uint64_t present;
	uint64_t left;
	uint64_t flying;
};

/**
 * struct nl_plan - the active plan, or the last one
 * @coming: ranges received so far of a plan that is being submitted
 * @state: NEARCACHE_PLAN_*
 * @ranges: in the plan
 * @visits: block visits that the ranges make
 * @blocks: different blocks among them
 * @position: visits completed
 * @hits: visits whose first read was a hit
 * @misses: visits whose first read was a miss
 * @skipped: visits without a read
 * @astray: reads outside any visit
 * @refused: reads that were not cached, because the plan needs their slots
 * @sought: how often the position was found again elsewhere in the plan
 * @memory: bytes of memory
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

int nl_job_submit(dev_t number, const struct nl_job *wishes,
		  const struct range *range, size_t count, uint32_t *id);
int nl_job_get(dev_t number, uint32_t id, struct nl_job *job, bool *found);
int nl_job_each(dev_t number,
		void (*visit)(const struct nl_job *job, void *arg), void *arg);
int nl_job_end(dev_t number, uint32_t id);
int nl_job_cancel(dev_t number, uint32_t id, uint64_t *count);

int nl_plan_submit(dev_t number, const struct range *range, size_t count, struct nl_plan *plan);
int nl_plan_get(dev_t number, struct nl_plan *plan);
int nl_plan_clear(dev_t number, uint64_t *count);

#endif /* HELPER_NETLINK_CLIENT_H */
