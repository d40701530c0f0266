// SPDX-License-Identifier: GPL-2.0-only
/* nearcache: the table of verbs. */
#include <stdio.h>

#include "arguments.h"
#include "commands.h"
#include "fail.h"
#include "format.h"
#include "print.h"

const struct verb verbs[] = {
	{
		.name = "create",
		.operands = "NAME",
		.operands_min = 1,
		.operands_max = 1,
		.required = OPTION_ORIGIN | OPTION_CACHE,
		.optional = OPTION_READ_ONLY | OPTION_BLOCK_SIZE |
			    OPTION_FILL_MEMORY | OPTION_DATASET_VERSION |
			    OPTION_FORCE | OPTION_FORMAT_ONLY,
		.summary = "format a cache device for an origin and open it",
		.details =
"Makes /dev/mapper/NAME, which reads as the origin does. A cache device that\n"
"carries a file system, a partition table, RAID, LVM or another cache is refused\n"
"without --force, one in use always. Nothing is written before everything is\n"
"checked, and a failure leaves no cache behind.\n",
		.run = cmd_create,
	},
	{
		.name = "open",
		.operands = "NAME",
		.operands_min = 1,
		.operands_max = 1,
		.required = OPTION_CACHE,
		.optional = OPTION_ORIGIN | OPTION_FILL_MEMORY,
		.summary = "open a cache that was created before, warm",
		.details =
"Finds the origin by the identity that create recorded (wwid, serial or uuid);\n"
"--origin names it where it has none. NAME need not be the name of create. An\n"
"origin of another size, identity or content at its ends is refused.\n",
		.run = cmd_open,
	},
	{
		.name = "close",
		.operands = "NAME",
		.operands_min = 1,
		.operands_max = 1,
		.summary = "stop a device cleanly; its cache stays warm",
		.run = cmd_close,
	},
	{
		.name = "list",
		.operands = "",
		.operands_max = 0,
		.summary = "list open devices, one line each",
		.run = cmd_list,
	},
	{
		.name = "status",
		.operands = "[NAME...]",
		.operands_max = -1,
		.summary = "show mode, state, devices, sizes and hit ratio",
		.details =
"Without NAME: all devices. In JSON one NAME gives the values at the top level,\n"
"none or several an array \"devices\".\n",
		.run = cmd_status,
	},
	{
		.name = "stats",
		.operands = "[NAME...]",
		.operands_max = -1,
		.summary = "show every counter with its unit and meaning",
		.details =
"Without NAME: all devices. In JSON one NAME gives the values at the top level,\n"
"none or several an array \"devices\".\n",
		.run = cmd_stats,
	},
	{
		.name = "destroy",
		.operands = "[NAME]",
		.operands_max = 1,
		.optional = OPTION_CACHE | OPTION_FORCE,
		.summary = "close a device and wipe its cache's superblocks",
		.details =
"Give NAME of an open device or --cache DEV. The origin is not touched. --force\n"
"wipes superblocks that are damaged too.\n",
		.run = cmd_destroy,
	},
	{
		.name = "super",
		.operands = "DEV|FILE",
		.operands_min = 1,
		.operands_max = 1,
		.summary = "show and judge the superblocks and the slot table",
		.details =
"Reads only. Takes an image in a regular file too. Exit code 4 when neither\n"
"superblock is sound.\n",
		.run = cmd_super,
	},
	{ .name = NULL },
};

int main(int argc, char **argv)
{
	const struct verb *verb;
	struct arguments args;
	int error;

	error = arguments_parse(&args, argc, argv, &verb);
	if (!error && given(&args, OPTION_HELP)) {
		arguments_help(verb);
		return print_flush();
	}
	if (!error && given(&args, OPTION_VERSION)) {
		printf("nearcache %s (on-disk format %d)\n", HELPER_VERSION,
		       NEARCACHE_VERSION);
		return print_flush();
	}
	print_start(given(&args, OPTION_JSON));
	if (!error)
		verb->run(&args);
	return print_finish();
}
