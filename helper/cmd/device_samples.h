/* SPDX-License-Identifier: GPL-2.0-only */
/* The status of devices at a moment, and the growth of their counters from one moment to another. */
#ifndef HELPER_CMD_DEVICE_SAMPLES_H
#define HELPER_CMD_DEVICE_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "block/status_line.h"
#include "cli/options.h"

/* The status of one device at @time, nanoseconds of the monotonic clock. */
struct device_sample {
	char name[128];
	uint64_t time;
	struct status status;
};

struct device_samples {
	struct device_sample *sample;
	size_t count;
};

int device_samples_take(const struct arguments *args, struct device_samples *samples);
const struct device_sample *device_samples_find(const struct device_samples *samples,
						const char *name);
void device_samples_free(struct device_samples *samples);
void counters_subtract(const struct status *old, const struct status *new, struct status *delta);
uint64_t per_second(uint64_t amount, uint64_t nanoseconds);

#endif /* HELPER_CMD_DEVICE_SAMPLES_H */
