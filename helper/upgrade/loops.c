// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cache or an origin that is a file on a frozen file system, through a loop device: the close of
 * that cache writes to the file, and would wait for ever. Stacks of other devices need no check:
 * upgrade_check() refuses a device in a writing mode that is below another one.
 */
#include "block/device_sysfs.h"
#include "block/mounts.h"
#include "block/table_params.h"
#include "lib/error.h"
#include "upgrade/tables.h"
#include "upgrade/upgrade.h"

/* A stack of loop devices is not deeper. */
#define DEPTH_MAX	16

/* @dev: the device that rests on the disks. @depth: loop devices above the current disk. */
struct search {
	const struct upgrade *u;
	const struct upgrade_device *dev;
	int depth;
};

static bool check_file(const struct search *search, const char *file, dev_t below)
{
	size_t i;

	for (i = 0; i < search->u->count; i++)
		if (search->u->device[i].writes && search->u->device[i].number == below) {
			fail(CODE_BUSY,
			     "'%s' uses the file '%s' on the file system of '%s', which would be frozen: 'nearcache close %s' first",
			     search->dev->name, file, search->u->device[i].name, search->dev->name);
			return false;
		}
	return true;
}

/* Returns false after recording an error. */
static bool check_disk(dev_t disk, void *data)
{
	struct search *search = data;
	char file[PATH_MAX];
	dev_t below;

	if (!identity_attribute(disk, "loop/backing_file", file, sizeof(file)))
		return true;
	if (search->depth >= DEPTH_MAX || !mounts_device_of(file, &below)) {
		fail(CODE_BUSY,
		     "'%s' uses the file '%s' through a loop device, and this command cannot find the device of the file: 'nearcache close %s' first",
		     search->dev->name, file, search->dev->name);
		return false;
	}
	if (!below)
		return true;
	search->depth++;
	if (check_file(search, file, below))
		identity_each_disk(below, check_disk, search);
	search->depth--;
	return !fail_code();
}

static int check_below(struct search *search, dev_t number)
{
	if (number)
		identity_each_disk(number, check_disk, search);
	return fail_code();
}

/* Fail if one device rests on the file system of another one that will be frozen. */
int upgrade_check_loops(const struct upgrade *u)
{
	struct search search = { .u = u };
	struct params params;
	unsigned int m;
	size_t i;

	for (i = 0; i < u->count; i++) {
		search.dev = &u->device[i];
		if (!params_parse(u->device[i].table, &params))
			continue;
		if (check_below(&search, params.origin) || check_below(&search, params.cache) ||
		    check_below(&search, params.witness))
			return fail_code();
		for (m = 0; m < params.members; m++)
			if (check_below(&search, params.member[m]))
				return fail_code();
	}
	return 0;
}
