// SPDX-License-Identifier: GPL-2.0-only
#include "top/sample_labels_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block/dm_unprivileged.h"
#include "lib/error.h"
#include "lib/sanitize.h"

/* Number of attempts to read the labels and jobs, which may change while they are read. */
#define TRIES	4

static void add_label(const struct nl_label *label, void *arg)
{
	struct top_device *device = arg;
	struct top_label *longer = reallocarray(device->label, device->labels + 1,
						sizeof(*longer));

	if (!longer) {
		fail_memory();
		return;
	}
	device->label = longer;
	longer += device->labels++;
	memset(longer, 0, sizeof(*longer));
	snprintf(longer->name, sizeof(longer->name), "%s", label->name);
	text_clean(longer->name);
	longer->id = label->id;
	longer->ranges = label->ranges;
	longer->bytes = label->bytes;
	memcpy(longer->counter, label->counter, sizeof(longer->counter));
}

/* Skips jobs that have ended and fetch nothing; 'nearcache jobs' shows those. */
static void add_job(const struct nl_job *job, void *arg)
{
	struct top_device *device = arg;
	struct top_job *longer;

	if (nl_job_is_over(job) && !job->flying)
		return;
	longer = reallocarray(device->job, device->jobs + 1, sizeof(*longer));
	if (!longer) {
		fail_memory();
		return;
	}
	device->job = longer;
	longer += device->jobs++;
	memset(longer, 0, sizeof(*longer));
	longer->job = *job;
	longer->done = job->fetched + job->present + job->left;
	text_clean(longer->job.label);
}

static void forget_device(struct top_device *device)
{
	device->labels = 0;
	device->jobs = 0;
}

/*
 * Samples the labels and jobs of a device with a table. If they change during each attempt, the
 * sample has neither. Returns 0, or an exit code after recording an error with fail().
 */
int parts_take(const struct dm_device *dev, struct top_device *device)
{
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		forget_device(device);
		/* Only root may see which data others read. */
		if (!dm_is_unprivileged())
			nl_label_each(dev->number, add_label, device);
		if (!fail_code())
			nl_job_each(dev->number, add_job, device);
		/* A module that is older than this command shows jobs to root only. */
		if (dm_is_unprivileged() && fail_code() == CODE_PERMISSION)
			fail_reset();
		if (fail_code() != CODE_BUSY)
			return fail_code();
		fail_reset();
	}
	forget_device(device);
	return 0;
}

/* Returns whether parts_take() failed because the device or its table has disappeared. */
bool parts_gone(const struct dm_device *dev)
{
	struct dm_device now;
	bool found, gone;

	if (fail_code() == CODE_MEMORY || fail_code() == CODE_PERMISSION ||
	    dm_find(dev->name, &now, &found))
		return false;
	gone = !found || now.number != dev->number || !now.status;
	if (found)
		dm_device_free(&now);
	return gone;
}
