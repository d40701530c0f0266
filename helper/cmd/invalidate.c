// SPDX-License-Identifier: GPL-2.0-only
/* nearcache invalidate: drop cached data that the origin no longer has. */
#include <stdlib.h>

#include "cluster/homes.h"
#include "cmd/commands.h"
#include "cmd/node_part.h"
#include "ondisk/print_superblock.h"
#include "lib/error.h"
#include "block/device_sysfs.h"
#include "block/openers.h"
#include "lib/print.h"
#include "files/operand.h"

#define SECTOR	512

static int check_invalidate(const struct dm_device *dev, const struct arguments *args)
{
	char why[RANGE_WHY];

	if (dm_need_table(dev))
		return fail_code();
	if (option_given(args, OPTION_RANGE) &&
	    !range_inside(&args->range, dev->size, why))
		return fail(CODE_DEVICE, "--range: %s", why);
	/* A real run leaves this check to dm_message(), which waits a moment for a resume. */
	return option_given(args, OPTION_DRY_RUN) ? dm_need_running(dev) : 0;
}

static int read_counter(const struct dm_device *dev, uint64_t *bytes)
{
	struct status status;
	int error = describe_status(dev, &status);

	*bytes = status.counter[NEARCACHE_COUNTER_INVALIDATED_BYTES];
	return error;
}

/*
 * @range: the @count ranges of the device to drop; NULL: the whole device
 * @files: the ranges come from TARGETs, not from --range
 * @omitted: parts of the TARGETs that have no range
 */
struct dropping {
	struct range *range;
	size_t count;
	bool files;
	struct omitted omitted;
};

static int choose_ranges(struct dropping *dropping, const struct dm_device *dev,
			 const struct arguments *args)
{
	struct shards shards;

	if (target_given(args)) {
		dropping->files = true;
		if (!target_resolve_for(TARGET_DROP, args, dev, &shards))
			shards_ranges(&shards, SECTOR, 0, &dropping->range,
				      &dropping->count);
		dropping->omitted = shards.omitted;
		shards_free(&shards);
	} else if (option_given(args, OPTION_RANGE)) {
		dropping->range = malloc(sizeof(*dropping->range));
		if (!dropping->range)
			return fail_memory();
		*dropping->range = args->range;
		dropping->count = 1;
	}
	return fail_code();
}

static int tell_target(const struct dm_device *dev, const struct dropping *dropping)
{
	char message[64];
	size_t i;

	if (!dropping->range)
		return dm_message(dev, "invalidate all");
	for (i = 0; i < dropping->count; i++) {
		snprintf(message, sizeof(message), "invalidate %llu %llu",
			 (unsigned long long)(dropping->range[i].start / SECTOR),
			 (unsigned long long)(dropping->range[i].length /
					      SECTOR));
		if (dm_message(dev, message))
			return i ? fail_add("%zu of %zu ranges are dropped already",
					    i, dropping->count) : fail_code();
	}
	return 0;
}

/* Send the messages, and count the bytes that the kernel dropped. */
static int drop_ranges(const struct dm_device *dev, const struct dropping *dropping,
		       uint64_t *dropped)
{
	struct dm_device now;
	uint64_t before, after;

	if (read_counter(dev, &before))
		return fail_code();
	if (tell_target(dev, dropping))
		return describe_bypass(dev->name);
	if (dm_need_ours(dev->name, &now))
		return fail_add("the cached data is dropped already");
	if (read_counter(&now, &after))
		fail_add("the cached data is dropped already");
	/* A device that was reopened meanwhile counts from 0 again: report 0. */
	*dropped = after > before ? after - before : 0;
	dm_device_free(&now);
	return fail_code();
}

/* If the device is in use, warn that the page cache above it may still hold the old data. */
static void warn_users(const struct dm_device *dev)
{
	char what[600] = "its users may hold old data";

	if (!dev->open_count)
		return;
	if (identity_cluster_holder(dev->number, what, sizeof(what))) {
		warn("device '%s' is the cache below the cluster device '%s': the other nodes keep their cached data, and '%s' reads it there: run this, then 'nearcache cluster join %s', on every node; then unmount and mount again, or run 'blockdev --flushbufs /dev/mapper/%s' if it is not mounted",
		     dev->name, what, what, what, what);
		return;
	}
	holder_describe(dev->number, what, sizeof(what));
	warn("device '%s' is open (%s): the page cache above it keeps its data; unmount and mount again, or run 'blockdev --flushbufs /dev/mapper/%s' if it is not mounted",
	     dev->name, what, dev->name);
}

static void report_invalidate(const struct dm_device *dev, const struct homes *homes,
			      const struct arguments *args, const struct dropping *dropping,
			      uint64_t dropped)
{
	bool dry_run = option_given(args, OPTION_DRY_RUN);
	uint64_t length = dropping->range ? 0 : dev->size;
	size_t i;

	for (i = 0; i < dropping->count; i++)
		length += dropping->range[i].length;
	print_record(NULL, dev->name);
	print_string("name", NULL, dev->name);
	if (dropping->files)
		print_number("ranges", "ranges", dropping->count);
	else
		print_bytes("start", "from",
			    dropping->range ? dropping->range->start : 0);
	print_bytes("length", "bytes", length);
	print_bytes("invalidated_bytes", dry_run ? NULL : "dropped", dropped);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	if (dropping->files)
		omitted_print(&dropping->omitted);
	node_part_print_commands(args, homes);
	print_end();
}

static int invalidate_device(const struct dm_device *dev, const struct homes *homes,
			     const struct arguments *args)
{
	bool dry_run = option_given(args, OPTION_DRY_RUN);
	struct dropping dropping = { 0 };
	uint64_t dropped = 0;

	if (!check_invalidate(dev, args) && !(target_given(args) && homes_need_running(homes)) &&
	    !choose_ranges(&dropping, dev, args) &&
	    (dry_run || !drop_ranges(dev, &dropping, &dropped))) {
		warn_users(dev);
		report_invalidate(dev, homes, args, &dropping, dropped);
	}
	free(dropping.range);
	return fail_code();
}

static int cmd_invalidate(const struct arguments *args)
{
	struct dm_device dev;
	struct homes homes;
	int error = target_check_words(args, false);

	if (!error && target_given(args) && option_given(args, OPTION_RANGE))
		error = fail(CODE_USAGE,
			     "--range and TARGETs exclude each other: name the range as a TARGET, like 1G-2G");
	if (!error)
		error = node_part_find(args, &dev, &homes);
	if (error)
		return error;
	error = invalidate_device(&dev, &homes, args);
	homes_free(&homes);
	dm_device_free(&dev);
	return error;
}

const struct verb invalidate_verb = {
	.name = "invalidate",
	.group = VERBS_DATA,
	.operands = "NAME [TARGET...]",
	.operands_min = 1,
	.operands_max = -1,
	.optional = OPTION_RANGE | TARGET_OPTIONS_WHOLE | OPTION_EVERYWHERE,
	.changes = true,
	.summary = "drop cached data that the origin no longer has",
	.details =
"Use it after another host changed data on the origin. Reads that begin afterwards return\n"
"the data of the origin. The page cache above the device keeps its data: unmount first,\n"
"or run blockdev --flushbufs /dev/mapper/NAME afterwards if the device is not mounted.\n"
"\n"
"Without --range and TARGETs, invalidate drops all data, and the next open takes a new\n"
"fingerprint of the origin. START and LENGTH are multiples of 512 bytes. The count\n"
"includes data that writes dropped meanwhile. The mounted file system tells where a file\n"
"is: after another host rewrote a file, drop all data. TARGETs are dropped as a whole,\n"
"because the index of a shard may be wrong as well: also unwritten parts, and blocks beyond\n"
"the end of a file. --strict refuses a TARGET with holes or unwritten parts.\n"
"\n"
"NAME of a cluster device: the cache of this node. Every node has to invalidate its own;\n"
"--everywhere prints the command that each other node has to run.\n"
"\n" TARGET_HELP_WHOLE,
	.run = cmd_invalidate,
};
