/* SPDX-License-Identifier: GPL-2.0-only */
/* From what is on record of pins to what the kernel knows. */
#ifndef HELPER_PINS_RESTORE_H
#define HELPER_PINS_RESTORE_H

#include "block/dm.h"
#include "pins/pins.h"

/* Of the jobs that bring what was pinned before. */
#define RESTORE_LABEL	"pins"

/**
 * struct restored - what came of it
 * @pins: files and ranges of which something is wanted
 * @moved: of these, files that are elsewhere now
 * @job: number of the job that brings what is missing; 0: none
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
