// SPDX-License-Identifier: GPL-2.0-only
#include "block/dm_reload.h"

#include <string.h>
#include <sys/mman.h>

#include "lib/error.h"
#include "block/kmsg.h"
#include "lib/print.h"
#include "block/readahead.h"
#include "block/signals.h"
#include "block/status_line.h"
#include "block/dm.h"

#define SECTOR	512

/*
 * @old, @params: parameters of the present and of the new table. @hand_over: see
 * DM_SUSPEND_HAND_OVER.
 */
struct table_change {
	const struct params *old;
	const struct params *params;
	bool hand_over;
};

/*
 * Return the read-ahead in sectors. The kernel derives a new read-ahead from each table, so
 * reload() has to restore the present one.
 */
static uint32_t read_ahead(dev_t number)
{
	uint64_t bytes;

	if (!readahead_get(number, &bytes))
		return DM_READ_AHEAD_KERNEL;
	return (uint32_t)(bytes / SECTOR);
}

/*
 * Fail unless reload() can replace the table of the device. Parse its present table into @params.
 * @force: also accept a suspended device, which reload() will start.
 */
int reload_prepare(const struct dm_device *dev, bool force,
		   struct params *params)
{
	if (dm_need_table(dev))
		return fail_code();
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

/* Drop the loaded table, because the next 'dmsetup resume' would make it live. */
static void drop_loaded(const char *name)
{
	if (dm_clear(name))
		fail_add("'dmsetup clear %s' drops the table that was loaded",
			 name);
}

/* Append to the recorded error whether the device runs, and with which table. */
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
 * Restore the old table after dm_resume() failed. The device runs with the old table (the suspend
 * failed), is suspended with the old table (the new table does not fit), or is suspended with the
 * new table (the kernel did not start it). If the device is suspended, load the old table and start
 * the device. After a failure of the cache device in a writing mode the kernel may refuse to load
 * the old table. Call dm_resume() even then: it starts the device with its live table.
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
			dm_resume(old->name, ahead, DM_SUSPEND_NOT);
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

/* Whether the state in the status line is normal: the cache device takes writes. */
static bool works_normally(const struct dm_device *dev)
{
	struct status status;
	char why[STATUS_WHY];

	return dev->status && status_parse(dev->status, &status, why) &&
	       status.field[NEARCACHE_FIELD_STATE] == NEARCACHE_NORMAL;
}

/*
 * Fail with CODE_BUSY if the device has changed since @old was looked up, because the new table was
 * built from @old. lock_name() stops other runs of this command, but not dmsetup. @normal: whether
 * the device uses its cache without trouble.
 */
static int check_unchanged(const struct dm_device *old, bool *normal)
{
	struct dm_device now;
	bool found;
	int error = dm_find(old->name, &now, &found);

	*normal = !error && found && works_normally(&now);
	if (!error && (!found || !now.table || strcmp(now.table, old->table) ||
		       now.size != old->size || strcmp(now.uuid, old->uuid) ||
		       now.suspended != old->suspended))
		error = changed_by_others(&now);
	dm_device_free(&now);
	return error;
}

/* Fail unless @line is live: another program may have loaded a different table after dm_load(). */
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

static bool same_cache_devices(const struct params *old, const struct params *params)
{
	unsigned int i;

	if (old->cache != params->cache || old->members != params->members)
		return false;
	for (i = 0; i < old->members; i++)
		if (old->member[i] != params->member[i])
			return false;
	return true;
}

/*
 * Dirty data of a file system must reach the origin through the old table if writes might fail
 * under the new one, or if the kernel might not start it; see enum dm_suspend. @normal: the old
 * table uses its cache device without trouble.
 */
static enum dm_suspend suspend_for(const struct table_change *change, bool normal)
{
	const struct params *old = change->old, *params = change->params;

	if (change->hand_over)
		return DM_SUSPEND_HAND_OVER;
	if (!mode_writes(old->mode))
		return DM_SUSPEND_DRAIN;
	return mode_writes(params->mode) && normal && same_cache_devices(old, params) ?
	       DM_SUSPEND_DRAIN : DM_SUSPEND_FREEZE;
}

static int swap_tables(const struct dm_device *old,
		       const struct dm_line *old_line,
		       const struct dm_line *line, const struct table_change *change)
{
	bool normal;
	uint32_t ahead = read_ahead(old->number);
	struct kmsg log = kmsg_mark(old->number);
	int error = dm_load(old->name, line);

	if (error) {
		kmsg_explain(&log, DM_TARGET);
		report_failure(old);
		goto out;
	}
	error = check_unchanged(old, &normal);
	if (error) {
		drop_loaded(old->name);
		fail_add("nothing was changed");
		goto out;
	}
	error = dm_resume(old->name, ahead, suspend_for(change, normal));
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
 * Replace the table of a device in use. I/O waits during the change. The read-ahead does not
 * change. A ^C takes effect only at the end. After a failure the device has its old table, or the
 * error says which table it has.
 * @dev: accepted by reload_prepare().
 * @old: parameters of the present table.
 * @bytes: size under the new table.
 * @hand_over: reads that wait for the origin move to the new table; see DM_SUSPEND_HAND_OVER.
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
	struct table_change change = { .old = old, .params = params, .hand_over = hand_over };
	sigset_t before;
	int error;

	signals_hold(&before);
	suspend_progress_prepare(hand_over ? 0 : dev->number);
	/* The program may be stored on, or swapped to, the device: a page fault would hang. */
	mlockall(MCL_CURRENT | MCL_FUTURE);
	error = swap_tables(dev, &old_line, &line, &change);
	suspend_progress_end();
	signals_release(&before);
	munlockall();
	return error;
}

/*
 * If reload() started a suspended device, or would start it (@dry_run), print that. @dev: the
 * device before reload().
 */
void reload_print_started(const struct dm_device *dev, bool dry_run)
{
	print_flag("started", NULL, dev->suspended && !dry_run);
	if (dev->suspended)
		print_string(NULL, dry_run ? "would start" : "started",
			     "it was suspended");
}
