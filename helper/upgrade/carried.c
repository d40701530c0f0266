// SPDX-License-Identifier: GPL-2.0-only
/* Ranges, plan and jobs of a device, which only the kernel has: read them, and give them back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/error.h"
#include "upgrade/upgrade.h"

/* Tries to read a list that changes meanwhile. */
#define TRIES		20
#define PAUSE_US	(50 * 1000)

/* Seconds since boot, with those of a system sleep. */
uint64_t upgrade_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec;
}

/* The time when a period ends that has @left seconds; 0 stays 0: never. */
static uint32_t end_of(uint32_t left)
{
	return left ? (uint32_t)(upgrade_seconds() + left) : 0;
}

/* The opposite of end_of(), at least 1 second. */
static uint32_t left_of(uint32_t end)
{
	uint64_t now = upgrade_seconds();

	return !end ? 0 : end > now ? (uint32_t)(end - now) : 1;
}

int upgrade_list_add(struct upgrade_list *list, const struct range *range)
{
	size_t room = list->room ? 2 * list->room : 64;
	struct range *longer;

	if (list->count == list->room) {
		longer = reallocarray(list->range, room, sizeof(*longer));
		if (!longer)
			return fail_memory();
		list->range = longer;
		list->room = room;
	}
	list->range[list->count++] = *range;
	return 0;
}

static void list_free(struct upgrade_list *list)
{
	free(list->range);
	*list = (struct upgrade_list){ 0 };
}

static void free_ranges(struct upgrade_device *dev)
{
	size_t i;

	for (i = 0; i < dev->ranges; i++)
		free((void *)dev->range[i].label);
	free(dev->range);
	dev->range = NULL;
	dev->ranges = 0;
}

static void free_jobs(struct upgrade_device *dev)
{
	size_t i;

	for (i = 0; i < dev->jobs; i++)
		list_free(&dev->job[i].left);
	free(dev->job);
	dev->job = NULL;
	dev->jobs = 0;
}

void upgrade_device_free(struct upgrade_device *dev)
{
	free_ranges(dev);
	free_jobs(dev);
	list_free(&dev->plan);
	free(dev->table);
	dev->table = NULL;
	while (dev->claims)
		close(dev->claim[--dev->claims]);
	if (dev->mounted >= 0)
		close(dev->mounted);
	dev->mounted = -1;
}

static void take_range(const struct nl_range *range, void *arg)
{
	struct upgrade_device *dev = arg;
	struct nl_range *longer = reallocarray(dev->range, dev->ranges + 1, sizeof(*longer));

	if (!longer) {
		fail_memory();
		return;
	}
	dev->range = longer;
	longer += dev->ranges;
	*longer = *range;
	longer->label = strdup(range->label);
	longer->expires = end_of(range->expires);
	if (longer->label)
		dev->ranges++;
	else
		fail_memory();
}

static void take_job(const struct nl_job *job, void *arg)
{
	struct upgrade_device *dev = arg;
	struct upgrade_job *longer;

	if (nl_job_is_over(job))
		return;
	longer = reallocarray(dev->job, dev->jobs + 1, sizeof(*longer));
	if (!longer) {
		fail_memory();
		return;
	}
	dev->job = longer;
	longer[dev->jobs] = (struct upgrade_job){ .job = *job };
	longer[dev->jobs++].job.deadline = end_of(job->deadline);
}

static void take_left(const struct range *range, void *arg)
{
	upgrade_list_add(arg, range);
}

static int read_ranges(struct upgrade_device *dev)
{
	free_ranges(dev);
	nl_range_each(dev->number, take_range, dev);
	return fail_code();
}

static int read_jobs(struct upgrade_device *dev)
{
	size_t i;

	free_jobs(dev);
	nl_job_each(dev->number, take_job, dev);
	for (i = 0; i < dev->jobs && !fail_code(); i++)
		if (dev->job[i].job.peer)
			return fail(CODE_BUSY,
				    "job %u of '%s' reads at a peer: wait for it, or 'nearcache cancel %s %u'",
				    dev->job[i].job.id, dev->name, dev->name, dev->job[i].job.id);
		else
			nl_job_left(dev->number, dev->job[i].job.id, take_left, &dev->job[i].left);
	return fail_code() && dev->jobs ?
	       fail_add("the jobs of '%s' cannot be carried over: wait for them, or 'nearcache cancel %s --all'",
			dev->name, dev->name) : (int)fail_code();
}

static int read_plan(struct upgrade_device *dev)
{
	struct nl_plan plan;

	list_free(&dev->plan);
	dev->planned = false;
	if (nl_plan_get(dev->number, &plan))
		return fail_code();
	if (plan.coming)
		return fail(CODE_BUSY,
			    "a plan is being submitted to '%s': try again when it is complete",
			    dev->name);
	if (plan.state != NEARCACHE_PLAN_RUNNING)
		return 0;
	dev->no_prefetch = plan.no_prefetch;
	if (nl_plan_left(dev->number, take_left, &dev->plan))
		return fail_add("the plan of '%s' cannot be carried over: wait for its end, or 'nearcache plan %s --clear'",
				dev->name, dev->name);
	dev->planned = dev->plan.count;
	return 0;
}

/* Read a list that may change meanwhile, until it does not. */
static int read_list(struct upgrade_device *dev, int (*read)(struct upgrade_device *dev))
{
	int tries = 0;

	while (read(dev) == CODE_BUSY && tries++ < TRIES) {
		fail_reset();
		usleep(PAUSE_US);
	}
	return fail_code();
}

int upgrade_carried_read(struct upgrade_device *dev)
{
	return read_list(dev, read_ranges) || read_list(dev, read_jobs) ||
	       read_list(dev, read_plan) ? fail_code() : 0;
}

static int restore_ranges(const struct upgrade_device *dev)
{
	struct nl_replacement change = { .add_count = dev->ranges };
	struct nl_range *range;
	size_t i;

	if (!dev->ranges)
		return 0;
	range = calloc(dev->ranges, sizeof(*range));
	if (!range)
		return fail_memory();
	for (i = 0; i < dev->ranges; i++) {
		range[i] = dev->range[i];
		range[i].expires = left_of(range[i].expires);
	}
	change.add = range;
	if (!nl_range_replace(dev->number, &change) && change.refused)
		fail(CODE_DEVICE, "the cache of '%s' has no room for its pins any more", dev->name);
	free(range);
	return fail_code();
}

/* A plan in force stays: the table is the old one, or this run was killed after it gave the plan. */
static int restore_plan(const struct upgrade_device *dev)
{
	struct nl_plan plan;

	if (!dev->planned || nl_plan_get(dev->number, &plan))
		return fail_code();
	return plan.state == NEARCACHE_PLAN_RUNNING ? 0 :
	       nl_plan_submit(dev->number, dev->plan.range, dev->plan.count,
			      dev->no_prefetch ? NL_PLAN_NO_PREFETCH : 0, &plan);
}

/* Where a list ends: a job reads its ranges in order. */
static uint64_t end_of_list(const struct upgrade_list *list)
{
	const struct range *last = list->range + list->count - 1;

	return list->count ? last->start + last->length : 0;
}

/* Is @job, perhaps further on, among the jobs of @now? */
static bool is_known(const struct upgrade_job *job, const struct upgrade_device *now)
{
	const struct upgrade_job *known;
	size_t i;

	for (i = 0; i < now->jobs; i++) {
		known = &now->job[i];
		if (!strcmp(known->job.label, job->job.label) &&
		    known->job.priority == job->job.priority &&
		    (!known->left.count || end_of_list(&known->left) == end_of_list(&job->left)))
			return true;
	}
	return false;
}

static int submit_job(const struct upgrade_device *dev, const struct upgrade_job *job)
{
	struct nl_job wishes = job->job;
	uint32_t id;

	wishes.deadline = left_of(wishes.deadline);
	return job->left.count ? nl_job_submit(dev->number, &wishes, job->left.range,
					       job->left.count, &id) : 0;
}

/* @now: the device, with the jobs that it knows. */
static int restore_jobs(const struct upgrade_device *dev, const struct upgrade_device *now)
{
	int error = 0;
	size_t i;

	for (i = 0; i < dev->jobs && !error; i++)
		if (!is_known(&dev->job[i], now))
			error = submit_job(dev, &dev->job[i]);
	return error;
}

/*
 * Give a new table what the old one had. What cannot be given back does not prevent the rest. A
 * table that this run has loaded knows none of the jobs, although others may have submitted new
 * ones. If a killed run loaded it, or it is the old one, it may know them.
 */
int upgrade_carried_restore(const struct upgrade_device *dev)
{
	struct upgrade_device now = { .number = dev->number };
	bool unknown = dev->jobs && !dev->fresh && read_list(&now, read_jobs);

	if (restore_ranges(dev) | restore_plan(dev) | (unknown || restore_jobs(dev, &now)))
		fail_add("device '%s' works, but lacks some of its ranges, its plan or its jobs",
			 dev->name);
	free_jobs(&now);
	return fail_code();
}
