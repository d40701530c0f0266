// SPDX-License-Identifier: GPL-2.0-only
#include "restore.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "fail.h"
#include "known.h"
#include "size.h"
#include "target.h"

static int64_t now(void)
{
	return (int64_t)time(NULL);
}

/* What a refusal says. */
static int refuse(const struct dm_device *dev, const struct nl_room *room)
{
	char needed[SIZE_TEXT], available[SIZE_TEXT];

	return fail(CODE_DEVICE,
		    "all that is pinned on '%s' would need %s (%llu bytes) of the cache, of which %s (%llu bytes) may be pinned: pin less, or unpin something",
		    dev->name, size_print(room->needed, needed),
		    (unsigned long long)room->needed,
		    size_print(room->available, available),
		    (unsigned long long)room->available);
}

/* As it was before; it had room then. */
static void take_back(const struct dm_device *dev, const struct nl_range *gone,
		      size_t count)
{
	struct nl_room room;
	bool refused = false;

	if (count && !nl_range_add(dev->number, gone, count, &room, &refused) &&
	    refused)
		fail_add("what was pinned of the same files before is not any more: 'nearcache pin %s --refresh' pins it again",
			 dev->name);
}

static int add(const struct dm_device *dev, const struct nl_range *range,
	       size_t count, struct nl_room *room)
{
	bool refused = false;

	if (!count)
		return nl_range_room(dev->number, room);
	if (nl_range_add(dev->number, range, count, room, &refused))
		return fail_code();
	return refused ? refuse(dev, room) : 0;
}

/**
 * restore_apply() - tell the kernel what changed
 * @dev: the device
 * @pins: of it: those that are dropped are deleted, those that are fresh are added
 * @room: what pins take then; also after a refusal
 *
 * Return: 0 or the exit code; then the kernel knows what it knew before.
 */
int restore_apply(const struct dm_device *dev, const struct pins *pins,
		  struct nl_room *room)
{
	struct nl_range *gone = NULL, *fresh = NULL;
	size_t gone_count = 0, count;
	uint64_t deleted;

	memset(room, 0, sizeof(*room));
	if (!pins_ranges(pins, pin_is_dropped, now(), &gone, &gone_count) &&
	    !pins_ranges(pins, pin_is_fresh, now(), &fresh, &count) &&
	    !nl_range_delete(dev->number, gone, gone_count, &deleted) &&
	    add(dev, fresh, count, room))
		take_back(dev, gone, gone_count);
	free(gone);
	free(fresh);
	return fail_code();
}

/**
 * restore_load() - bring what is wanted into the cache, in the background
 * @dev: the device
 * @pins: of it
 * @chosen: whether one is meant; NULL: all
 * @wishes: of the job
 * @job: its number; 0: there is nothing to bring
 *
 * Return: 0 or the exit code.
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

/* Where a file is now. Return: whether that can be told. */
static bool find(const struct dm_device *dev, const struct pin *pin,
		 struct shards *shards)
{
	char *operand[] = { (char *)dev->name, pin->path };
	struct arguments args = {
		.given = pin->index_only ? OPTION_INDEX_ONLY : 0,
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

/* As it is on record, or as the file is now: then it is fresh. */
static int append(struct pins *fresh, const struct pin *pin,
		  const struct shard *shard)
{
	struct pin *to = pins_append(fresh, pin, pin->path);

	return to ? pin_place(to, shard) : (int)fail_code();
}

/* @known: of the kernel; what it lacks is fresh, too; NULL: nothing is asked for. */
static int find_fresh(const struct dm_device *dev, const struct pins *pins,
		      const struct known *known, struct pins *fresh,
		      size_t *moved)
{
	size_t i;

	for (i = 0; i < pins->count && !fail_code(); i++) {
		const struct pin *pin = &pins->pin[i];
		struct shard recorded = { .range = pin->range,
					  .ranges = pin->ranges };
		struct shards shards = { 0 };

		if (pin->dropped)
			continue;
		if (pin->path && find(dev, pin, &shards) &&
		    !is_there(pin, &shards.shard[0])) {
			append(fresh, pin, &shards.shard[0]);
			(*moved)++;
		} else if (known && !known_has(known, pin)) {
			append(fresh, pin, &recorded);
		}
		shards_free(&shards);
	}
	return fail_code();
}

static size_t count_wanted(const struct pins *pins)
{
	size_t i, count = 0;

	for (i = 0; i < pins->count; i++)
		count += !pins->pin[i].dropped;
	return count;
}

/* Files that moved are recorded where they are; the kernel is not told yet. */
static int follow(const struct dm_device *dev, struct pins *pins,
		  const struct known *known, size_t *moved)
{
	struct pins fresh = { 0 };

	if (!find_fresh(dev, pins, known, &fresh, moved))
		pins_replace(pins, &fresh);
	pins_free(&fresh);
	return fail_code();
}

/**
 * restore_refresh() - follow files that moved, and pin what is missing
 * @dev: the device
 * @pins: what is on record of it; told to the kernel, but not written down yet
 * @restored: what came of it, without a job
 *
 * Files that cannot be found, or not mapped, stay where they were.
 *
 * Return: 0 or the exit code; then the kernel knows what it knew before.
 */
int restore_refresh(const struct dm_device *dev, struct pins *pins,
		    struct restored *restored)
{
	struct known known = { 0 };
	struct nl_room room;

	memset(restored, 0, sizeof(*restored));
	pins_drop_old(pins, now());
	if (!known_read(&known, dev->number) &&
	    !follow(dev, pins, &known, &restored->moved))
		restore_apply(dev, pins, &room);
	known_free(&known);
	restored->pins = count_wanted(pins);
	return fail_code();
}

/* Those that there is room for, when not all have it. */
static void add_each(const struct dm_device *dev, const struct nl_range *range,
		     size_t count)
{
	size_t i, failed = 0;
	struct nl_room room;
	bool refused;

	for (i = 0; i < count; i++) {
		refused = false;
		if (nl_range_add(dev->number, &range[i], 1, &room, &refused) ||
		    refused)
			failed++;
		if (fail_code())
			fail_reset();
	}
	if (failed)
		warn("%zu of %zu pinned ranges of '%s' are not any more: the cache has no room for them, or the device has become smaller",
		     failed, count, dev->name);
}

static int restore_ranges(const struct dm_device *dev, const struct pins *pins)
{
	struct nl_range *range = NULL;
	struct nl_room room;
	bool refused = false;
	size_t count;

	if (pins_ranges(pins, NULL, now(), &range, &count))
		return fail_code();
	if (count &&
	    (nl_range_add(dev->number, range, count, &room, &refused) ||
	     refused)) {
		fail_reset();
		add_each(dev, range, count);
	}
	free(range);
	return fail_code();
}

static int restore_all(const struct dm_device *dev, struct pins *pins,
		       struct restored *restored)
{
	const struct nl_job wishes = { .label = "pins" };
	struct nl_room room;

	if (pins_load(pins, dev->name))
		return fail_code();
	pins_drop_old(pins, now());
	restored->pins = count_wanted(pins);
	/* A table that follows another one has its ranges. */
	if (!restored->pins || nl_range_room(dev->number, &room) || room.count)
		return fail_code();
	/* A device that nobody has open has no files yet. */
	if (dev->open_count && follow(dev, pins, NULL, &restored->moved))
		return fail_code();
	if (restore_ranges(dev, pins) ||
	    restore_load(dev, pins, NULL, &wishes, &restored->job))
		return fail_code();
	return restored->moved ? pins_save(pins, dev->name) : 0;
}

/**
 * restore() - want again what was wanted before a device was opened
 * @name: of the device
 * @restored: what came of it
 *
 * A failure is told by a warning: the device works without.
 */
void restore(const char *name, struct restored *restored)
{
	struct pins pins = { 0 };
	struct dm_device dev;

	memset(restored, 0, sizeof(*restored));
	if (!dm_need_ours(name, &dev)) {
		restore_all(&dev, &pins, restored);
		dm_device_free(&dev);
	}
	pins_free(&pins);
	if (fail_code())
		warn("what was pinned on '%s' is not pinned now: %s", name,
		     fail_message());
	fail_reset();
}
