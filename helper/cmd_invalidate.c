// SPDX-License-Identifier: GPL-2.0-only
/* nearcache invalidate: drop cached data that the origin no longer has. */
#include "commands.h"
#include "describe.h"
#include "fail.h"
#include "holder.h"
#include "name.h"
#include "print.h"

#define SECTOR	512

static int check(const struct dm_device *dev, const struct arguments *args)
{
	char why[RANGE_WHY];

	if (!dev->table)
		return fail(CODE_DEVICE,
			    "device '%s' has no table: close it and open it again",
			    dev->name);
	if (given(args, OPTION_RANGE) &&
	    !range_inside(&args->range, dev->size, why))
		return fail(CODE_DEVICE, "--range: %s", why);
	/* To others it is told, and may run by then. */
	if (dev->suspended && given(args, OPTION_DRY_RUN))
		return fail(CODE_BUSY,
			    "device '%s' is suspended: 'dmsetup resume %s' first",
			    dev->name, dev->name);
	return 0;
}

static int counter(const struct dm_device *dev, uint64_t *bytes)
{
	struct status status;
	int error = describe_status(dev, &status);

	*bytes = status.counter[NEARCACHE_COUNTER_INVALIDATED_BYTES];
	return error;
}

/* Tell the target, and count what it dropped. */
static int drop(const struct dm_device *dev, const struct range *range,
		uint64_t *dropped)
{
	char message[64] = "invalidate all";
	struct dm_device now;
	uint64_t before, after;

	if (range->length)
		snprintf(message, sizeof(message), "invalidate %llu %llu",
			 (unsigned long long)(range->start / SECTOR),
			 (unsigned long long)(range->length / SECTOR));
	if (counter(dev, &before) || dm_message(dev, message))
		return fail_code();
	if (dm_need_ours(dev->name, &now))
		return fail_add("it was dropped before");
	if (counter(&now, &after))
		fail_add("it was dropped before");
	/* Less than before: closed and opened again by somebody. */
	*dropped = after > before ? after - before : 0;
	dm_device_free(&now);
	return fail_code();
}

/* Readers of the device may go on to see what they read before. */
static void warn_users(const struct dm_device *dev)
{
	char what[600] = "its users may have read it";

	if (!dev->open_count)
		return;
	holder_describe(dev->number, what, sizeof(what));
	warn("device '%s' is open (%s): this drops nothing from the page cache above it; unmount and mount again, or 'blockdev --flushbufs /dev/mapper/%s' where it is not mounted",
	     dev->name, what, dev->name);
}

static int invalidate(const struct dm_device *dev, const struct arguments *args)
{
	bool dry_run = given(args, OPTION_DRY_RUN);
	struct range range = args->range;
	uint64_t dropped = 0;

	if (check(dev, args) || (!dry_run && drop(dev, &range, &dropped)))
		return fail_code();
	warn_users(dev);
	print_record(NULL, dev->name);
	print_string("name", NULL, dev->name);
	print_bytes("start", "from", range.start);
	print_bytes("length", "bytes",
		    range.length ? range.length : dev->size);
	print_bytes("invalidated_bytes", dry_run ? NULL : "dropped", dropped);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_end();
	return 0;
}

int cmd_invalidate(const struct arguments *args)
{
	struct dm_device dev;
	int error = dm_need_ours(name_of_operand(args->operand[0]), &dev);

	if (error)
		return error;
	error = invalidate(&dev, args);
	dm_device_free(&dev);
	return error;
}
