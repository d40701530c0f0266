// SPDX-License-Identifier: GPL-2.0-only
#include "reload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fail.h"
#include "identity.h"
#include "kmsg.h"
#include "print.h"
#include "signals.h"

/* Bytes of a sector. */
#define SECTOR	512

/* The kernel derives the read-ahead anew from each table, whatever was set. */
static uint32_t read_ahead(dev_t number)
{
	char text[32];

	if (!identity_attribute(number, "queue/read_ahead_kb", text,
				sizeof(text)))
		return DM_READ_AHEAD_KERNEL;
	return strtoul(text, NULL, 10) * (1024 / SECTOR);
}

/**
 * reload_prepare() - demand a device that can get a new table
 * @dev: the device
 * @force: also one that somebody suspended; it will run afterwards
 * @params: filled in with those of its present table
 *
 * Return: 0 or the exit code.
 */
int reload_prepare(const struct dm_device *dev, bool force,
		   struct params *params)
{
	if (!dev->table)
		return fail(CODE_DEVICE,
			    "device '%s' has no table: close it and open it again",
			    dev->name);
	if (!params_parse(dev->table, params))
		return fail(CODE_DEVICE,
			    "the table of '%s' is not understood ('%s'): the kernel module is newer than this command",
			    dev->name, dev->table);
	if (!dev->suspended || force)
		return 0;
	return fail(CODE_BUSY,
		    "device '%s' is suspended: 'dmsetup resume %s' first, or --force to start it with this change",
		    dev->name, dev->name);
}

/*
 * A start that failed leaves one of these: the new table still inactive, the
 * device not even suspended; the old table live and suspended, as the new one
 * did not fit; or the new table live and suspended, as it refused to start.
 * The old line, loaded and started, is right in the last two.
 */
static void put_back(const struct dm_device *old, const struct dm_line *line,
		     uint32_t ahead)
{
	struct dm_device now;
	bool found;
	int error;

	dm_clear(old->name);
	error = dm_find(old->name, &now, &found);
	if (!error && found && now.suspended)
		error = dm_load(old->name, line);
	if (!error && found && now.suspended)
		error = dm_resume(old->name, ahead);
	if (error)
		fail_add("device '%s' may be suspended now, and its users wait: see 'dmsetup info %s'; 'dmsetup resume %s' or another 'nearcache set' with --force starts it",
			 old->name, old->name, old->name);
	else
		fail_add("device '%s' goes on as before", old->name);
	dm_device_free(&now);
}

/* Somebody else may have loaded a table at the same time. */
static int verify(const struct dm_device *old, const struct dm_line *line)
{
	struct dm_device now;
	bool found;
	int error = dm_find(old->name, &now, &found);

	if (error)
		return fail_add("the new table was started before");
	if (!found || !now.table || strcmp(now.table, line->params) ||
	    now.size != line->bytes)
		error = fail(CODE_BUSY,
			     "device '%s' was changed by somebody else at the same time, its table is '%s' now: look at it and try again",
			     old->name, now.table ? now.table : "");
	dm_device_free(&now);
	return error;
}

static int swap_tables(const struct dm_device *old,
		       const struct dm_line *old_line,
		       const struct dm_line *line)
{
	uint32_t ahead = read_ahead(old->number);
	struct kmsg log = kmsg_mark();
	int error = dm_load(old->name, line);

	if (error) {
		kmsg_explain(&log, DM_TARGET);
		fail_add("device '%s' goes on as before", old->name);
		goto out;
	}
	error = dm_resume(old->name, ahead);
	if (error) {
		kmsg_explain(&log, DM_TARGET);
		put_back(old, old_line, ahead);
	} else {
		error = verify(old, line);
	}
out:
	kmsg_close(&log);
	return error;
}

/**
 * reload() - give a device another table while it is in use
 * @dev: the device, as reload_prepare() took it
 * @old: of its present table
 * @params: of the new table
 * @bytes: what the new table covers
 *
 * I/O waits for the moment of the change.  After a failure the device has its
 * old table again, or the error says that it has not.  The device's read-ahead
 * stays.  A ^C waits.
 *
 * Return: 0 or the exit code.
 */
int reload(const struct dm_device *dev, const struct params *old,
	   const struct params *params, uint64_t bytes)
{
	char text[PARAMS_TEXT];
	struct dm_line old_line = {
		.bytes = dev->size,
		.params = dev->table,
		.read_only = !mode_writes(old->mode),
	};
	struct dm_line line = {
		.bytes = bytes,
		.params = params_print(params, text),
		.read_only = !mode_writes(params->mode),
	};
	sigset_t before;
	int error;

	/* This program itself may lie on the device or be swapped to it. */
	mlockall(MCL_CURRENT | MCL_FUTURE);
	signals_hold(&before);
	error = swap_tables(dev, &old_line, &line);
	signals_release(&before);
	munlockall();
	return error;
}

/**
 * reload_print_started() - tell that a suspended device runs again
 * @dev: the device as it was before reload()
 * @dry_run: it would
 */
void reload_print_started(const struct dm_device *dev, bool dry_run)
{
	print_flag("started", NULL, dev->suspended && !dry_run);
	if (dev->suspended)
		print_string(NULL, dry_run ? "would start" : "started",
			     "it was suspended");
}
