// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/device_samples.h"

#include <stdlib.h>
#include <string.h>

#include "block/dm.h"
#include "lib/error.h"
#include "lib/name.h"
#include "lib/periodic_wait.h"
#include "ondisk/print_superblock.h"

#define SECOND	1000000000ULL

static int add_sample(struct device_samples *samples, const struct dm_device *dev)
{
	struct device_sample *sample = reallocarray(samples->sample,
					     samples->count + 1,
					     sizeof(*sample));

	if (!sample)
		return fail_memory();
	samples->sample = sample;
	sample += samples->count;
	memcpy(sample->name, dev->name, sizeof(sample->name));
	sample->time = watch_now();
	if (describe_status(dev, &sample->status))
		return fail_code();
	samples->count++;
	return 0;
}

static int sample_named(const struct arguments *args, struct device_samples *samples)
{
	struct dm_device dev;
	int i;

	for (i = 0; i < args->operands; i++) {
		if (dm_need_ours(name_of_operand(args->operand[i]), &dev))
			return fail_code();
		add_sample(samples, &dev);
		dm_device_free(&dev);
		if (fail_code())
			return fail_code();
	}
	return 0;
}

static int sample_all(struct device_samples *samples)
{
	struct dm_device *list;
	size_t i, count;

	if (dm_all(&list, &count))
		return fail_code();
	for (i = 0; i < count; i++)
		if (add_sample(samples, &list[i]))
			break;
	dm_device_free_all(list, count);
	return fail_code();
}

/*
 * Takes the devices of the command line, or all. The caller frees @samples with
 * device_samples_free(), also after an error.
 */
int device_samples_take(const struct arguments *args, struct device_samples *samples)
{
	memset(samples, 0, sizeof(*samples));
	return args->operands ? sample_named(args, samples) :
				sample_all(samples);
}

const struct device_sample *device_samples_find(const struct device_samples *samples,
						const char *name)
{
	size_t i;

	for (i = 0; i < samples->count; i++)
		if (!strcmp(samples->sample[i].name, name))
			return &samples->sample[i];
	return NULL;
}

void device_samples_free(struct device_samples *samples)
{
	free(samples->sample);
	memset(samples, 0, sizeof(*samples));
}

/* Sets @delta to the growth of the counters; to their values if the device was reopened. */
void counters_subtract(const struct status *old, const struct status *new, struct status *delta)
{
	unsigned int i;

	for (i = 0; i < NEARCACHE_COUNTER_COUNT; i++) {
		uint64_t before = old->counter[i];
		uint64_t after = new->counter[i];

		delta->counter[i] = after >= before ? after - before : after;
	}
}

uint64_t per_second(uint64_t amount, uint64_t nanoseconds)
{
	return (uint64_t)((double)amount * SECOND / (double)nanoseconds + 0.5);
}
