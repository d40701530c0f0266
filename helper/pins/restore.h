/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pin the recorded ranges in the kernel again.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_PINS_RESTORE_H
#define HELPER_PINS_RESTORE_H

#include "block/dm.h"
#include "pins/pin_list.h"

/* Label of the jobs that prefetch pins. */
#define RESTORE_LABEL	"pins"

/**
 * struct restored - result of restore() and restore_refresh()
 * @pins: number of pins of the record that the kernel has; 0 if that cannot be learned
 * @moved: number of files whose ranges on the device differ from the recorded ones
 * @job: number of the job that prefetches the pins; 0: none
 */
struct restored {
	size_t pins;
	size_t moved;
	uint32_t job;
};

int restore_load(const struct dm_device *dev, const struct pins *pins,
		 bool (*chosen)(const struct pin *pin),
		 const struct nl_job *wishes, uint32_t *job);
int restore_refresh(const struct dm_device *dev, struct pins *pins,
		    struct restored *restored);
void restore(const char *name, const char *attached, struct restored *restored);

#endif /* HELPER_PINS_RESTORE_H */
