// SPDX-License-Identifier: GPL-2.0-only
/* Pins recorded ranges again that the kernel lacks, and prefetches their data. */
#include "pins/restore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "pins/change.h"
#include "lib/error.h"
#include "pins/kernel_ranges.h"
#include "pins/record_owner.h"
#include "files/operand.h"

static int64_t now_seconds(void)
{
	return (int64_t)time(NULL);
}

/*
 * Start a prefetch job for the ranges that pins_pieces() lists for the @chosen pins. @wishes: label
 * and priority of the job. @job receives its number; 0: there are no such ranges.
 */
int restore_load(const struct dm_device *dev, const struct pins *pins,
		 bool (*chosen)(const struct pin *pin),
		 const struct nl_job *wishes, uint32_t *job)
{
	struct range *piece = NULL;
	size_t count;

	*job = 0;
	if (!pins_pieces(pins, chosen, &piece, &count) && count)
		nl_job_submit(dev->number, wishes, piece, count, job);
	free(piece);
	return fail_code();
}

/* Map a pin's file to its present ranges. False, without an error, if that is not possible. */
static bool find_file(const struct dm_device *dev, const struct pin *pin,
		      struct shards *shards)
{
	char *operand[] = { (char *)dev->name, pin->path };
	struct arguments args = {
		.given = (pin->index_only ? OPTION_INDEX_ONLY : 0) |
			 (pin->concatenated ? OPTION_CONCATENATED : 0),
		.samples = pin->samples,
		.shard_format = pin->format,
		.operand = operand,
		.operands = 2,
	};
	struct stat st;

	memset(shards, 0, sizeof(*shards));
	if (stat(pin->path, &st) || !S_ISREG(st.st_mode))
		return false;
	if (!target_resolve(&args, dev, shards) && shards->count)
		return true;
	fail_reset();
	return false;
}

static bool is_there(const struct pin *pin, const struct shard *shard)
{
	return pin->ranges == shard->ranges &&
	       !memcmp(pin->range, shard->range,
		       pin->ranges * sizeof(*pin->range));
}

/* Append a copy of a pin to @fresh, with the ranges of @shard. */
static int append_pin(struct pins *fresh, const struct pin *pin,
		      const struct shard *shard)
{
	struct pin *to = pins_append(fresh, pin, pin->path);

	return to ? pin_place(to, shard) : (int)fail_code();
}

/*
 * Append to @fresh each pin that has a range missing in @known, the kernel's ranges. With @look,
 * first map the files: of a moved file append the pin with its new ranges, and count it in @moved.
 */
static int find_fresh(const struct dm_device *dev, const struct pins *pins,
		      const struct known *known, bool look,
		      struct pins *fresh, size_t *moved)
{
	size_t i;

	for (i = 0; i < pins->count && !fail_code(); i++) {
		const struct pin *pin = &pins->pin[i];
		struct shard recorded = { .range = pin->range,
					  .ranges = pin->ranges };
		struct shards shards = { 0 };

		if (pin->dropped)
			continue;
		if (look && pin->path && find_file(dev, pin, &shards) &&
		    !is_there(pin, &shards.shard[0])) {
			append_pin(fresh, pin, &shards.shard[0]);
			(*moved)++;
		} else if (!known_has_pin(known, pins, pin)) {
			append_pin(fresh, pin, &recorded);
		}
		shards_free(&shards);
	}
	return fail_code();
}

/* True if a part of the pin is on the device, which may have been longer before. */
static bool is_on_device(const struct pins *pins, const struct pin *pin)
{
	struct range part;
	size_t i;

	for (i = 0; i < pin->ranges; i++)
		if (pins_inside(pins, &pin->range[i], &part))
			return true;
	return false;
}

/* Count the pins whose ranges the kernel has. */
static int count_pinned(const struct dm_device *dev, const struct pins *pins,
			struct restored *restored)
{
	struct known known;
	size_t i;

	if (!known_read(&known, dev->number))
		for (i = 0; i < pins->count; i++)
			restored->pins += !pins->pin[i].dropped &&
					  is_on_device(pins, &pins->pin[i]) &&
					  known_has_pin(&known, pins, &pins->pin[i]);
	known_free(&known);
	return fail_code();
}

/*
 * Drop expired pins. Mark as fresh the pins that the kernel lacks and the pins of files that moved;
 * the caller then changes the kernel's ranges. Map the files if @asked. Map them also if the kernel
 * has no ranges of the device, but only while it has an opener: only then can it be mounted.
 */
static int follow_pins(const struct dm_device *dev, struct pins *pins, bool asked,
		       struct restored *restored)
{
	struct pins fresh = { 0 };
	struct known known;
	bool look;

	pins_drop_old(pins, now_seconds());
	if (known_read(&known, dev->number))
		goto out;
	look = asked || (dev->open_count && !known.count);
	if (!find_fresh(dev, pins, &known, look, &fresh, &restored->moved))
		pins_replace(pins, &fresh);
out:
	pins_free(&fresh);
	known_free(&known);
	return fail_code();
}

/*
 * Find files that moved, and pin missing ranges. Files that cannot be found or mapped keep their
 * recorded ranges. A failure changes neither kernel nor record. Sets @restored, but not its @job.
 */
int restore_refresh(const struct dm_device *dev, struct pins *pins,
		    struct restored *restored)
{
	struct change change = { .dev = dev, .pins = pins };

	memset(restored, 0, sizeof(*restored));
	return follow_pins(dev, pins, true, restored) || change_both(&change) ?
		       (int)fail_code() : count_pinned(dev, pins, restored);
}

/* Turn an error into a warning: the device works without its pins. */
static void warn_instead(const char *what, const char *name, const char *how)
{
	if (fail_code())
		warn("%s '%s' %s: %s", what, name, how, fail_message());
	fail_reset();
}

/* Pin the recorded ranges that fit. A failure leaves the kernel's ranges unchanged. */
static int restore_kernel(const struct dm_device *dev, struct pins *pins,
			  struct restored *restored)
{
	struct change change = { .dev = dev, .pins = pins, .some = true };

	return follow_pins(dev, pins, false, restored) || change_kernel(&change) ?
		       (int)fail_code() : count_pinned(dev, pins, restored);
}

/* Prefetches also for pins that the kernel still has: an attached cache may lack their data. */
static void restore_device(const struct dm_device *dev, struct pins *pins,
			   const char *attached, struct restored *restored)
{
	const struct nl_job wishes = { .label = RESTORE_LABEL };
	char *known = pins->owner.attached;
	bool other = attached && strcmp(known, attached);

	if (other)
		snprintf(known, sizeof(pins->owner.attached), "%s", attached);
	if (restore_kernel(dev, pins, restored))
		return;
	restore_load(dev, pins, NULL, &wishes, &restored->job);
	warn_instead("the pins of", dev->name,
		     "are not prefetched, only cached when they are read");
	if (restored->moved || other)
		pins_save(pins, dev->name);
	warn_instead("the pins of", dev->name,
		     "could not be recorded, the old record remains");
}

/*
 * Pin the recorded ranges of a device again after it was opened or a cache was attached to it. A
 * failure is only a warning, because the device works without its pins.
 * @attached: uuid of the attached cache; "" if it is the cache with which the device was opened;
 * NULL if no cache was attached.
 */
void restore(const char *name, const char *attached, struct restored *restored)
{
	struct pins pins = { 0 };
	struct dm_device dev;

	memset(restored, 0, sizeof(*restored));
	if (!dm_need_ours(name, &dev)) {
		if (!record_open(&pins, &dev) && !record_require(&pins, &dev) &&
		    pins.count)
			restore_device(&dev, &pins, attached, restored);
		dm_device_free(&dev);
	}
	pins_free(&pins);
	warn_instead("the pins of", name, "could not be restored");
}
