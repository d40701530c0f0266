// SPDX-License-Identifier: GPL-2.0-only
#include "block/dm_reload.h"

#include <string.h>
#include <sys/mman.h>

#include "lib/error.h"
#include "block/kmsg.h"
#include "lib/print.h"
#include "block/readahead.h"
#include "block/signals.h"

/* Bytes. */
#define SECTOR	512

/*
 * The current read-ahead in sectors. The kernel derives a new one from each table, which would undo
 * a change.
 */
static uint32_t read_ahead(dev_t number)
{
	uint64_t bytes;

	if (!readahead_get(number, &bytes))
		return DM_READ_AHEAD_KERNEL;
	return (uint32_t)(bytes / SECTOR);
}

/*
 * Demand a device that can get a new table, and parse its present one into @params.
 * @force: also accept a suspended device; it will run after the reload.
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
			    "the table of '%s' cannot be parsed ('%s'): the kernel module is newer than this command",
			    dev->name, dev->table);
	if (!dev->suspended || force)
		return 0;
	return fail(CODE_BUSY,
		    "device '%s' is suspended: 'dmsetup resume %s' first, or --force to start it with this change",
		    dev->name, dev->name);
}

/* Otherwise the next 'dmsetup resume' would make the loaded table live. */
static void drop_loaded(const char *name)
{
	if (dm_clear(name))
		fail_add("'dmsetup clear %s' drops the table that was loaded",
			 name);
}

/* Add the state of the device after a failure to the error. */
static void report_failure(const struct dm_device *old)
{
	struct dm_device now;
	bool found;
	int error = dm_find(old->name, &now, &found);

	if (!error && !found)
		fail_add("device '%s' is gone", old->name);
	else if (error || now.suspended)
		fail_add("device '%s' %s suspended now, and its users wait: 'nearcache set %s mode=read-only --force' starts it, and writes to it fail then",
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
 * A failed start leaves one of three states: the new table inactive and the device running (suspend
 * failed); the old table live and suspended (the new one does not fit); or the new table live and
 * suspended (it refused to start). In the last two states loading and starting the old table is
 * right. The kernel refuses the old table if it writes and the cache device failed meanwhile. Then
 * still resume: the live table may start, because it is the old one or because the fault has
 * passed.
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
		    "device '%s' was changed by another program at the same time; its table is now '%s': check it and try again",
		    now->name, now->table ? now->table : "");
}

/*
 * The new table was built from an earlier look-up of the device. Other runs of this command wait
 * (lock.h), but dmsetup does not.
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

/* Another program may have loaded its own table after dm_load(), which then went live instead. */
static int verify_table(const struct dm_device *old, const struct dm_line *line)
{
	struct dm_device now;
	bool found;
	int error = dm_find(old->name, &now, &found);

	if (error)
		return fail_add("the new table was started before this error");
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

/*
 * Replace the table of a device in use. I/O waits during the change. After a failure the device has
 * its old table again, or the error says that it has not. The read-ahead stays. A ^C is held back
 * until the end.
 * @dev: accepted by reload_prepare().
 * @old: of the present table.
 * @bytes: size under the new table.
 * @hand_over: the new table takes over reads that wait for the origin, see dm_resume().
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

	/* This program may itself be stored on the device or be swapped to it. */
	mlockall(MCL_CURRENT | MCL_FUTURE);
	signals_hold(&before);
	error = swap_tables(dev, &old_line, &line, hand_over);
	signals_release(&before);
	munlockall();
	return error;
}

/*
 * Print that a suspended device runs again, or would with @dry_run. @dev: the device before
 * reload().
 */
void reload_print_started(const struct dm_device *dev, bool dry_run)
{
	print_flag("started", NULL, dev->suspended && !dry_run);
	if (dev->suspended)
		print_string(NULL, dry_run ? "would start" : "started",
			     "it was suspended");
}
