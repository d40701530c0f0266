/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pin the recorded ranges in the kernel again.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_PINS_RESTORE_H
#define HELPER_PINS_RESTORE_H

#include "block/dm.h"
#include "lib/name.h"
#include "pins/pin_list.h"

/* Label of the jobs that prefetch pins. */
#define RESTORE_LABEL	"pins"

/**
 * struct restored - result of restore() and restore_refresh()
 * @pins: number of pins of files that the kernel has; 0 if that cannot be learned
 * @moved: number of files whose ranges or path differ from the recorded ones
 * @again: number of pins of which the kernel lacked a range
 * @gone: number of files that do not exist any more
 * @unchecked: number of files that could not be looked up or mapped, and may exist
 * @unrecorded: number of the kernel's ranges that were not on record, and were deleted
 * @left: number of the kernel's ranges that are not on record, and stay
 * @added: number of new files in pinned folders
 * @job: number of the job that prefetches the pins; 0: none
 */
struct restored {
	size_t pins;
	size_t moved;
	size_t again;
	size_t gone;
	size_t unchecked;
	size_t unrecorded;
	size_t left;
	size_t added;
	uint32_t job;
};

/**
 * struct record_difference - how the kernel's ranges of a device differ from the record of its pins
 * @unrecorded: ranges of the kernel that are not on record, except those of the daemon
 * @left: those of @unrecorded that a refresh does not delete, because the record does not have
 * their label: other programs may have made them
 * @label: one of these labels
 * @absent: there is no record
 * @missing: recorded pins of which the kernel lacks a range
 * @elsewhere: name under which the pins are recorded, if 'dmsetup rename' renamed the device, or ""
 * @taken: another device has the name @elsewhere
 */
struct record_difference {
	size_t unrecorded;
	size_t left;
	char label[LABEL_SIZE];
	bool absent;
	size_t missing;
	char elsewhere[NEARCACHE_NAME_MAX + 1];
	bool taken;
};

/* Room for restore_advice(). */
#define ADVICE_TEXT	(1024 + LABEL_SIZE)

/*
 * Reduces shards to the part that has its home on this node, for pins with @part. main() sets it,
 * because a file of pins/ must not call cluster/. Returns 0, or an exit code after recording an
 * error: then the pin keeps its recorded ranges.
 */
extern int (*restore_keep_part)(const struct dm_device *dev, struct shards *shards);

const char *restore_advice(const struct dm_device *dev,
			   const struct record_difference *difference, char *text);
int restore_compare(const struct dm_device *dev, struct record_difference *difference);
int restore_load(const struct dm_device *dev, const struct pins *pins,
		 bool (*chosen)(const struct pin *pin),
		 const struct nl_job *wishes, uint32_t *job);
int restore_refresh(const struct dm_device *dev, struct pins *pins, bool keep_gone,
		    struct restored *restored);
void restore_tell_gone(const struct pins *pins);
void restore(const char *name, const char *attached, struct restored *restored);

#endif /* HELPER_PINS_RESTORE_H */
