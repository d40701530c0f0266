// SPDX-License-Identifier: GPL-2.0-only
#include "top/take_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ondisk/print_superblock.h"
#include "block/dm.h"
#include "block/dm_unprivileged.h"
#include "lib/error.h"
#include "lib/name.h"
#include "lib/sanitize.h"
#include "top/sample_clusters.h"
#include "top/sample_stages.h"
#include "top/sample_labels_jobs.h"
#include "top/sample_bpf.h"
#include "top/sample_difference.h"
#include "lib/periodic_wait.h"

#define SECOND	1000000000ULL

/* Names of the selected devices, from the command line; @count 0 means all devices. */
struct wanted {
	char **name;
	int count;
};

static bool is_wanted(const struct wanted *wanted, const char *name)
{
	int i;

	for (i = 0; i < wanted->count; i++)
		if (!strcmp(name_of_operand(wanted->name[i]), name))
			return true;
	return !wanted->count;
}

/* Sets the state of the device, and the reason if the state is not normal. */
static void judge_device(struct top_device *device, const struct dm_device *dev)
{
	const char *why = status_explain(&device->status);

	device->state = describe_state(dev, &device->status);
	device->calm = dev->status && !why &&
		       device->status.field[NEARCACHE_FIELD_STATE] == NEARCACHE_NORMAL;
	if (dev->suspended) {
		device->state = "suspended";
		device->calm = false;
		snprintf(device->why, sizeof(device->why),
			 "reads and writes wait for 'dmsetup resume %s'", device->name);
		return;
	}
	if (!why)
		return;
	snprintf(device->why, sizeof(device->why), "%s", why);
	if (device->status.field[NEARCACHE_FIELD_STATE] == NEARCACHE_BYPASS)
		snprintf(device->why, sizeof(device->why),
			 "%s: 'nearcache attach %s' when it works again", why, device->name);
}

static int take_device(struct top_device *device, const struct dm_device *dev)
{
	snprintf(device->name, sizeof(device->name), "%s", dev->name);
	snprintf(device->mode, sizeof(device->mode), "%s", dev->mode);
	device->number = dev->number;
	device->time = watch_now();
	if (describe_status(dev, &device->status))
		return fail_code();
	judge_device(device, dev);
	text_clean(device->name);
	return dev->status ? parts_take(dev, device) : 0;
}

/* Samples a pass-through device: it maps the origin without a cache, so it has no cache status. */
static void take_passing(struct top_device *device, const struct dm_device *dev)
{
	snprintf(device->name, sizeof(device->name), "%s", dev->name);
	snprintf(device->mode, sizeof(device->mode), "%s",
		 dev->read_only ? "read-only" : "writable");
	device->number = dev->number;
	device->time = watch_now();
	device->state = "pass-through";
	snprintf(device->why, sizeof(device->why),
		 "it was opened without its cache: 'nearcache close', then 'open'");
	text_clean(device->name);
}

static void drop_last(struct top_model *model)
{
	struct top_device *last = &model->device[--model->devices];

	free(last->label);
	free(last->job);
}

/* Samples the wanted devices. Skips a device that disappeared after @list was read. */
static int take_all(struct top_model *model, const struct wanted *wanted,
		    const struct dm_device *list, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct top_device *device = &model->device[model->devices];

		if (!is_wanted(wanted, list[i].name))
			continue;
		model->devices++;
		if (!take_device(device, &list[i]))
			continue;
		if (!parts_gone(&list[i]))
			return fail_code();
		fail_reset();
		drop_last(model);
	}
	return 0;
}

static int take_lists(struct top_model *model, const struct wanted *wanted,
		      const struct dm_device *list, size_t count,
		      const struct dm_device *passing, size_t passings)
{
	size_t i;

	model->device = calloc(count + passings + 1, sizeof(*model->device));
	if (!model->device)
		return fail_memory();
	for (i = 0; i < passings; i++)
		if (is_wanted(wanted, passing[i].name))
			take_passing(&model->device[model->devices++], &passing[i]);
	return take_all(model, wanted, list, count);
}

static int take_devices(struct top_model *model, const struct wanted *wanted)
{
	struct dm_device *list, *passing;
	size_t count, passings;

	if (dm_all(&list, &count))
		return fail_code();
	if (!dm_all_passing(&passing, &passings)) {
		take_lists(model, wanted, list, count, passing, passings);
		dm_device_free_all(passing, passings);
	}
	dm_device_free_all(list, count);
	return fail_code();
}

/* Sorts devices with a problem first. */
static int by_need(const void *a, const void *b)
{
	const struct top_device *one = a, *other = b;

	if (one->calm != other->calm)
		return one->calm - other->calm;
	return strcmp(one->name, other->name);
}

static uint64_t wall_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/*
 * Samples the devices of the command line, or all devices if it has none. Skips devices
 * that do not exist. @before is the previous sample, or empty at the first call. Loads no
 * program. The caller frees @model with model_free(). Returns 0, or an exit code after recording
 * an error with fail(); @model is then empty.
 */
int gather(const struct arguments *args, const struct top_model *before, struct top_model *model)
{
	const struct wanted wanted = { args->operand, args->operands };

	memset(model, 0, sizeof(*model));
	model->wall = wall_clock();
	model->unprivileged = dm_is_unprivileged();
	if (take_devices(model, &wanted) || clusters_take(model) || stages_take(model) ||
	    programs_take(model)) {
		model_free(model);
		return fail_code();
	}
	if (model->devices)
		qsort(model->device, model->devices, sizeof(*model->device), by_need);
	since_subtract(model, before);
	programs_name(model);
	programs_mark_ended(model);
	return 0;
}
