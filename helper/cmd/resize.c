// SPDX-License-Identifier: GPL-2.0-only
/* nearcache resize: use the new size of an origin that grew. */
#include "cmd/commands.h"
#include "block/device.h"
#include "lib/error.h"
#include "lib/name.h"
#include "lib/print.h"
#include "open/reconnect_origin.h"
#include "open/stage_device.h"
#include "ondisk/print_superblock.h"
#include "block/dm_reload.h"
#include "cluster/home.h"

static int check_size(const struct dm_device *dev, const struct device *origin)
{
	if (origin->size >= dev->size)
		return 0;
	return fail(CODE_DEVICE,
		    "origin '%s' has %llu bytes, device '%s' has %llu: an origin can only grow; restore its size, or close the device and create the cache again",
		    origin->path, (unsigned long long)origin->size, dev->name,
		    (unsigned long long)dev->size);
}

static void report_resize(const struct dm_device *dev, const struct device *origin,
			  bool dry_run)
{
	bool grew = origin->size != dev->size;

	print_record(NULL, dev->name);
	print_string("name", NULL, dev->name);
	print_string("origin", "origin", origin->path);
	print_bytes("size", "size", origin->size);
	print_bytes("size_before", grew ? "before" : NULL, dev->size);
	if (!grew)
		print_string(NULL, "unchanged", "the origin has not grown");
	print_flag("resized", NULL, grew && !dry_run);
	reload_print_started(dev, dry_run);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_end();
}

static int load_size(const struct dm_device *dev, const struct params *params, uint64_t bytes)
{
	return reload(dev, params, params, bytes, false) ? describe_bypass(dev->name) : 0;
}

/*
 * The origin of a stage grew, and the stage is the origin of @dev: let the stage grow first.  @size
 * receives the size of the origin; 0: there is no stage.
 */
static int resize_stage(const struct dm_device *dev, bool dry_run, uint64_t *size)
{
	struct device origin = DEVICE_CLOSED;
	struct stage_params params;
	struct dm_device stage;
	bool found;

	*size = 0;
	if (stage_below(dev, &stage, &found) || !found)
		return fail_code();
	if (!stage.table || !stage_params_parse(stage.table, &params))
		fail(CODE_DEVICE, "the stage '%s' has no table that this command knows", stage.name);
	else if (!device_open_number(&origin, params.origin, "origin") &&
		 !check_size(&stage, &origin) && origin.size > stage.size && !dry_run)
		stage_grow(&stage, origin.size);
	*size = origin.size;
	device_close(&origin);
	dm_device_free(&stage);
	return fail_code();
}

static int resize_device(const struct dm_device *dev, const struct arguments *args)
{
	bool dry_run = option_given(args, OPTION_DRY_RUN);
	struct device origin = DEVICE_CLOSED;
	struct params params;
	uint64_t size = 0;

	if (!reload_prepare(dev, option_given(args, OPTION_FORCE), &params) &&
	    !resize_stage(dev, dry_run, &size) &&
	    !device_open_number(&origin, params.origin, "origin") &&
	    (origin.size = size ?: origin.size) && !check_size(dev, &origin) && (origin.size == dev->size || !home_check_free(dev)) &&
	    (dry_run || (origin.size == dev->size && !dev->suspended) ||
	     !load_size(dev, &params, origin.size)))
		report_resize(dev, &origin, dry_run);
	device_close(&origin);
	return fail_code() ? reconnect_explain(dev) : 0;
}

static int cmd_resize(const struct arguments *args)
{
	struct dm_device dev;
	int error = dm_need_ours(name_of_operand(args->operand[0]), &dev);

	if (error)
		return error;
	error = resize_device(&dev, args);
	dm_device_free(&dev);
	return error;
}

const struct verb resize_verb = {
	.name = "resize",
	.group = VERBS_DEVICES,
	.operands = "NAME",
	.operands_min = 1,
	.operands_max = 1,
	.optional = OPTION_FORCE,
	.changes = true,
	.summary = "use the new size of an origin that grew",
	.details =
"resize works while the device is in use. Grow the file system afterwards. An origin that\n"
"became smaller is refused. If another host changed the first or last 64 KiB (it grew the\n"
"file system), all cached data is dropped, and the kernel log says so. For changes\n"
"elsewhere use 'nearcache invalidate'. --force also resumes a suspended device. A stage\n"
"below the cache grows with it.\n",
	.run = cmd_resize,
};
