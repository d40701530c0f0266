// SPDX-License-Identifier: GPL-2.0-only
/* nearcache attach: attach a cache device, or an origin that came back, to a device in use. */
#include "block/dm.h"
#include "cmd/commands.h"
#include "lib/error.h"
#include "lib/name.h"
#include "open/attach_cache.h"
#include "open/format.h"
#include "open/reconnect_origin.h"
#include "open/stage_device.h"
#include "pins/restore.h"
#include "stage/reconnect.h"

static int check_words(const struct arguments *args)
{
	if (option_given(args, OPTION_ORIGIN) &&
	    option_given(args, OPTION_CACHE | OPTION_FORMAT))
		return fail(CODE_USAGE,
			    "--origin and --cache: attach the origin first, then the cache device");
	if (args->on_change == ON_CHANGE_TRUST)
		return fail(CODE_USAGE,
			    "--on-change 'trust': it is for 'nearcache open'; a device in use knows itself which data it can trust");
	if (!option_given(args, OPTION_FORMAT) &&
	    option_given(args, OPTION_BLOCK_SIZE | OPTION_INTEGRITY | OPTION_DATASET_VERSION))
		return fail(CODE_USAGE,
			    "--block-size, --integrity and --dataset-version are for a new cache: add --format-cache");
	if (option_given(args, OPTION_FORMAT) && !option_given(args, OPTION_CACHE))
		return fail(CODE_USAGE,
			    "--format-cache needs --cache DEV: name the device to format");
	return formatting_check_words(args);
}

/* True if the user names an origin, or names no device and the origin is gone. */
static bool wants_origin(const struct arguments *args, const struct dm_device *dev)
{
	return option_given(args, OPTION_ORIGIN) ||
	       (!option_given(args, OPTION_CACHE | OPTION_FORMAT) &&
		reconnect_needed(dev));
}

/*
 * Decide whether to attach the origin of a stage below the device.  Sets @found; if it is true, the
 * caller must free @stage with dm_device_free().
 */
static int wants_stage_origin(const struct arguments *args, const char *name,
			      struct dm_device *stage, bool *found)
{
	if (stage_of_name(name, stage, found) || !*found)
		return fail_code();
	*found = option_given(args, OPTION_ORIGIN) ||
		 (!option_given(args, OPTION_CACHE | OPTION_FORMAT) &&
		  stage_origin_gone(stage));
	if (!*found)
		dm_device_free(stage);
	return 0;
}

static int cmd_attach(const struct arguments *args)
{
	const char *name = name_of_operand(args->operand[0]);
	struct dm_device dev = { 0 }, stage;
	struct restored restored;
	bool staged;

	if (check_words(args) || wants_stage_origin(args, name, &stage, &staged))
		return fail_code();
	if (staged) {
		stage_reconnect(&stage, name, args);
		dm_device_free(&stage);
		return fail_code();
	}
	if (!dm_need_ours(name, &dev)) {
		if (!wants_origin(args, &dev))
			attach_cache(&dev, args);
		else if (!reconnect(&dev, args) && !option_given(args, OPTION_DRY_RUN))
			restore(dev.name, NULL, &restored);
	}
	dm_device_free(&dev);
	return fail_code();
}

const struct verb attach_verb = {
	.name = "attach",
	.group = VERBS_DEVICES,
	.operands = "NAME",
	.operands_min = 1,
	.operands_max = 1,
	.optional = OPTION_ORIGIN | OPTION_CACHE | OPTION_FORMAT |
		    OPTION_BLOCK_SIZE | OPTION_INTEGRITY |
		    OPTION_DATASET_VERSION | OPTION_ON_CHANGE |
		    OPTION_FORCE,
	.changes = true,
	.summary = "take back a cache device or an origin that was away",
	.details =
"attach works while the device is in use.\n"
"\n"
"For a cache device: the state of NAME is bypass ('nearcache status' gives the reason).\n"
"Without --cache, attach uses the cache device that NAME had, if it works again. --cache\n"
"names the same drive under a new name, or another cache of this origin; of several\n"
"devices name the first one, or all in their order. Cached data is kept if nothing was\n"
"written or invalidated through NAME meanwhile, otherwise the cache starts empty. After a\n"
"failure NAME continues without a cache. A cache that does not record the origin as it is\n"
"now is emptied if NAME had it before, and refused otherwise; --on-change drop or refuse\n"
"overrides this.\n"
"\n"
"--format-cache makes a new, empty cache on DEV first, as create does. It refuses a device that\n"
"carries anything unless --force is given; --force also resumes a suspended device. The\n"
"previous cache device of NAME misses all later writes: format it before it serves this\n"
"origin again. If NAME has a witness, the new cache gets a record there.\n"
"\n"
"A cache device that does not answer delays this command, and others for NAME, until its\n"
"driver gives up; NAME keeps working. I/O waits during the change, until the requests\n"
"that hang in the old cache device end.\n"
"\n"
"For an origin that went away (nvme disconnect) and came back as another device: --origin\n"
"names it; without --origin and --cache, attach finds it by its device id. Reads that\n"
"wait for the origin (origin_timeout) are then served. Cached data is kept unless the\n"
"first or last 64 KiB of the origin changed (with --on-change refuse the origin is\n"
"refused then), or a write was not known to be durable. An origin with another device id\n"
"is refused without --force, which asserts that it is the same volume.\n"
"\n"
"If NAME has a stage, the origin is that of the stage: all writes that were acknowledged\n"
"stay in its log, and the drain goes on. An origin that another host changed meanwhile is\n"
"refused, whatever --on-change says. So is one with another device id, also with --force:\n"
"close NAME with --keep, and open it with --force.\n",
	.run = cmd_attach,
};
