// SPDX-License-Identifier: GPL-2.0-only
#include "block/dm_reload.h"

#include <string.h>
#include <sys/mman.h>

#include "lib/error.h"
#include "block/kmsg.h"
#include "lib/print.h"
#include "block/readahead.h"
#include "block/signals.h"

/* Bytes of a sector. */
#define SECTOR	512

/* The kernel derives the read-ahead anew from each table, whatever was set. */
static uint32_t read_ahead(dev_t number)
{
	uint64_t bytes;

	if (!readahead_get(number, &bytes))
		return DM_READ_AHEAD_KERNEL;
	return (uint32_t)(bytes / SECTOR);
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

/* Left there, the next 'dmsetup resume' would make it live. */
static void drop_loaded(const char *name)
{
	if (dm_clear(name))
		fail_add("'dmsetup clear %s' drops the table that was loaded",
			 name);
}

/* After a failure: what became of the device. */
static void report_failure(const struct dm_device *old)
{
	struct dm_device now;
	bool found;
	int error = dm_find(old->name, &now, &found);

	if (!error && !found)
		fail_add("device '%s' is gone", old->name);
	else if (error || now.suspended)
		fail_add("device '%s' %s suspended now, and its users wait: 'nearcache set %s mode=read-only --force' starts it, and what is written to it fails then",
			 old->name, error ? "may be" : "is", old->name);
	else if (!now.table || strcmp(now.table, old->table) ||
		 now.size != old->size)
		fail_add("device '%s' runs, but with the table '%s' of %llu bytes",
			 old->name, now.table ? now.table : "",
			 (unsigned long long)now.size);
	else
		fail_add("device '%s' goes on %s", old->name,
			 old->suspended ? "with its old table" : "as before");
	dm_device_free(&now);
}

/*
 * A start that failed leaves one of these: the new table still inactive, the
 * device not even suspended; the old table live and suspended, as the new one
 * did not fit; or the new table live and suspended, as it refused to start.
 * The old line, loaded and started, is right in the last two.  It is refused
 * when it writes and the cache device failed meanwhile: then what is live may
 * start all the same, as the old table, or because the fault has passed.
 */
static void put_back(const struct dm_device *old, const struct dm_line *line,
		     uint32_t ahead)
{
	struct dm_device now;
	bool found;

	if (!dm_find(old->name, &now, &found) && found) {
		drop_loaded(old->name);
		if (now.suspended) {
			dm_load(old->name, line);
			dm_resume(old->name, ahead, false);
		}
	}
	dm_device_free(&now);
	report_failure(old);
}

static int changed_by_others(const struct dm_device *now)
{
	return fail(CODE_BUSY,
		    "device '%s' was changed by somebody else at the same time, its table is '%s' now: look at it and try again",
		    now->name, now->table ? now->table : "");
}

/*
 * The new line was made from what the device was when it was looked up.  Other
 * runs of this command wait (lock.h), dmsetup does not.
 */
static int check_unchanged(const struct dm_device *old)
{
	struct dm_device now;
	bool found;
	int error = dm_find(old->name, &now, &found);

	if (!error && (!found || !now.table || strcmp(now.table, old->table) ||
		       now.size != old->size || strcmp(now.uuid, old->uuid) ||
		       now.suspended != old->suspended))
		error = changed_by_others(&now);
	dm_device_free(&now);
	return error;
}

/* Somebody else may have loaded a table after us, which went live. */
static int verify_table(const struct dm_device *old, const struct dm_line *line)
{
	struct dm_device now;
	bool found;
	int error = dm_find(old->name, &now, &found);

	if (error)
		return fail_add("the new table was started before");
	if (!found || !now.table || !params_same(now.table, line->params) ||
	    now.size != line->bytes)
		error = changed_by_others(&now);
	dm_device_free(&now);
	return error;
}

static int swap_tables(const struct dm_device *old,
		       const struct dm_line *old_line,
		       const struct dm_line *line, bool hand_over)
{
	uint32_t ahead = read_ahead(old->number);
	struct kmsg log = kmsg_mark(old->number);
	int error = dm_load(old->name, line);

	if (error) {
		kmsg_explain(&log, DM_TARGET);
		report_failure(old);
		goto out;
	}
	error = check_unchanged(old);
	if (error) {
		drop_loaded(old->name);
		fail_add("nothing was changed");
		goto out;
	}
	error = dm_resume(old->name, ahead, hand_over);
	if (error) {
		kmsg_explain(&log, DM_TARGET);
		put_back(old, old_line, ahead);
	} else {
		error = verify_table(old, line);
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
 * @hand_over: it gets the reads that wait for the origin, see dm_resume()
 *
 * I/O waits for the moment of the change.  After a failure the device has its
 * old table again, or the error says that it has not.  The device's read-ahead
 * stays.  A ^C waits.
 *
 * Return: 0 or the exit code.
 */
int reload(const struct dm_device *dev, const struct params *old,
	   const struct params *params, uint64_t bytes, bool hand_over)
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
	error = swap_tables(dev, &old_line, &line, hand_over);
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
