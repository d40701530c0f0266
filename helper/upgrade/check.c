// SPDX-License-Identifier: GPL-2.0-only
/* Find the devices of the module, and refuse what cannot take part, before anything is changed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include "block/device.h"
#include "block/device_sysfs.h"
#include "block/lock.h"
#include "block/mounts.h"
#include "block/openers.h"
#include "block/readahead.h"
#include "block/status_line.h"
#include "block/table_params.h"
#include "cluster/home.h"
#include "lib/error.h"
#include "lib/name.h"
#include "ondisk/superblock.h"
#include "open/stage_device.h"
#include "upgrade/programs.h"
#include "upgrade/tables.h"
#include "upgrade/upgrade.h"

/* udev opens a device for a moment: the check of users repeats for one second. */
#define TRIES		10
#define PAUSE_US	(100 * 1000)

void upgrade_free(struct upgrade *u)
{
	size_t i;

	for (i = 0; i < u->count; i++)
		upgrade_device_free(&u->device[i]);
	free(u->device);
	u->device = NULL;
	u->count = 0;
}

/* Fail if there is a device of another target of the module, whose data or readers are elsewhere. */
static int check_others(void)
{
	struct dm_device *list;
	size_t count;

	if (dm_all_clusters(&list, &count))
		return fail_code();
	if (count)
		fail(CODE_BUSY,
		     "'%s' is a cluster device, and other nodes read its cache through the module: 'nearcache cluster leave %s' first, and join again afterwards",
		     list->name, list->name);
	dm_device_free_all(list, count);
	if (fail_code() || dm_all_stages(&list, &count))
		return fail_code();
	if (count)
		fail(CODE_BUSY,
		     "'%s' is a stage, and its log has writes that are not on the origin: 'nearcache close %.*s' drains it; upgrade then, and open it again",
		     list->name, (int)(strlen(list->name) - strlen(STAGE_ENDING)), list->name);
	dm_device_free_all(list, count);
	return fail_code();
}

static int check_state(const struct dm_device *dev)
{
	struct status status;
	char why[STATUS_WHY];

	if (dm_need_table(dev) || dm_need_running(dev))
		return fail_code();
	if (!dev->status || !status_parse(dev->status, &status, why))
		return fail(CODE_DEVICE, "the status of '%s' cannot be parsed", dev->name);
	if (status.field[NEARCACHE_FIELD_STATE] != NEARCACHE_NORMAL)
		return fail(CODE_DEVICE,
			    "the cache of '%s' does not work ('nearcache status %s' says why): 'nearcache attach %s', or close it",
			    dev->name, dev->name, dev->name);
	if (status.field[NEARCACHE_FIELD_SCRUB_LEFT])
		return fail(CODE_BUSY,
			    "a scrub of '%s' is under way: wait for it, or 'nearcache scrub %s --stop'",
			    dev->name, dev->name);
	return 0;
}

/* Fail unless the cache of a device works with the module that is loaded now. */
int upgrade_check_works(const struct upgrade_device *dev)
{
	struct dm_device now;
	bool found;

	if (dm_find(dev->name, &now, &found))
		return fail_code();
	if (found)
		check_state(&now);
	dm_device_free(&now);
	return fail_code();
}

static int add_device(struct upgrade *u, const struct dm_device *dev)
{
	struct upgrade_device *own = &u->device[u->count];
	struct params params;
	uint64_t ahead;
	uuid_t gap;

	if (check_state(dev) || home_check_free(dev))
		return fail_code();
	if (!params_parse(dev->table, &params))
		return fail(CODE_DEVICE,
			    "the table of '%s' cannot be parsed ('%s'): the kernel module is newer than this command",
			    dev->name, dev->table);
	*own = (struct upgrade_device){
		.number = dev->number,
		.bytes = dev->size,
		.table = strdup(dev->table),
		.writes = mode_writes(params.mode),
		.ahead = DM_READ_AHEAD_KERNEL,
		.mounted = -1,
	};
	u->count++;
	strcpy(own->name, dev->name);
	strcpy(own->uuid, dev->uuid);
	upgrade_made(dev->number, own->made, sizeof(own->made));
	uuid_generate(gap);
	uuid_unparse_lower(gap, own->gap);
	if (readahead_get(dev->number, &ahead))
		own->ahead = (uint32_t)(ahead / 512);
	return own->table ? 0 : fail_memory();
}

/* Devices in a writing mode come last: they are frozen for a shorter time. */
static int by_mode(const void *a, const void *b)
{
	return ((const struct upgrade_device *)a)->writes - ((const struct upgrade_device *)b)->writes;
}

static bool is_named(const char *device, char *const *name, int names)
{
	int i;

	for (i = 0; i < names; i++)
		if (!strcmp(device, name_of_operand(name[i])))
			return true;
	return false;
}

static int check_names(const struct dm_device *list, size_t count, char *const *name, int names)
{
	size_t i;
	int n;

	for (i = 0; names && i < count; i++)
		if (!is_named(list[i].name, name, names))
			return fail(CODE_USAGE,
				    "device '%s' uses the module as well: name it too, or name none",
				    list[i].name);
	for (n = 0; n < names; n++) {
		for (i = 0; i < count && strcmp(list[i].name, name_of_operand(name[n])); i++)
			;
		if (i == count)
			return fail(CODE_DEVICE, "there is no device '%s'", name_of_operand(name[n]));
	}
	return 0;
}

/*
 * Find all devices of the module, lock them until the end of the process, and read their state.
 * @name: devices that the user names, none: all. The caller frees @u, even after a failure.
 */
int upgrade_find(struct upgrade *u, char *const *name, int names)
{
	struct dm_device *list, now;
	size_t i, count;
	bool found;

	if (check_others() || dm_all(&list, &count))
		return fail_code();
	u->device = calloc(count + 1, sizeof(*u->device));
	if (!u->device)
		fail_memory();
	else
		check_names(list, count, name, names);
	for (i = 0; i < count && !fail_code(); i++) {
		lock_name(list[i].name);
		if (dm_find(list[i].name, &now, &found))
			break;
		if (found)
			add_device(u, &now);
		dm_device_free(&now);
	}
	dm_device_free_all(list, count);
	if (!fail_code())
		qsort(u->device, u->count, sizeof(*u->device), by_mode);
	return fail_code();
}

/* Look for a user that could write, and that freezing the file system does not stop. */
int upgrade_check_writer(const struct upgrade_device *dev)
{
	char what[600];

	if (dev->writes && (mounts_swap(dev->number) || mounts_swap_file(dev->number)))
		return fail(CODE_BUSY,
			    "device '%s' has swap, or a swap file, which cannot be frozen: run swapoff, then this command again",
			    dev->name);
	if (dev->writes && identity_holder(dev->number, what, sizeof(what)))
		return fail(CODE_BUSY,
			    "device '%s' is below the device '%s', which cannot be frozen: close that first",
			    dev->name, what);
	if (holder_writing_process(dev->number, what, sizeof(what)))
		return fail(CODE_BUSY,
			    "device '%s' is open for writing by %s, which cannot be frozen: stop it",
			    dev->name, what);
	return 0;
}

/* In a writing mode, all users must be known: a mount, and processes that read. */
static int check_users(const struct upgrade_device *dev)
{
	struct dm_device now;
	int tries, opens = 0;
	bool found;

	for (tries = 0; tries < TRIES; tries++) {
		fail_reset();
		if (tries)
			usleep(PAUSE_US);
		if (upgrade_check_writer(dev))
			continue;
		if (!dev->writes)
			return 0;
		if (dm_find(dev->name, &now, &found))
			return fail_code();
		opens = now.open_count;
		dm_device_free(&now);
		if (holder_count(dev->number) >= opens)
			return 0;
	}
	return fail_code() ? (int)fail_code() :
	       fail(CODE_BUSY,
		    "device '%s' is open %d time%s, and this command cannot see all of its users (a loop device, an exported target?): close them",
		    dev->name, opens, opens == 1 ? "" : "s");
}

static int check_format(const struct upgrade *u, const struct upgrade_device *dev)
{
	struct device cache = DEVICE_CLOSED;
	struct super super = { 0 };
	struct params params;

	if (params_parse(dev->table, &params) &&
	    !device_open_number(&cache, params.cache, "cache device") &&
	    !super_read(&super, &cache) && !super_require(&super, &cache))
		upgrade_module_check_format(&u->now, le32_to_cpu(super.best->version),
					    le64_to_cpu(super.best->incompat), cache.path);
	super_free(&super);
	device_close(&cache);
	return fail_code();
}

/* The count of written sectors is what tells that no write has passed by the cache. */
static int check_count(const struct upgrade_device *dev)
{
	uint64_t sectors;

	return upgrade_written(dev->number, &sectors) ? 0 :
	       fail(CODE_DEVICE,
		    "the kernel does not count the writes to '%s': 'echo 1 >/sys/dev/block/%u:%u/queue/iostats' first",
		    dev->name, major(dev->number), minor(dev->number));
}

/* All checks that are possible before the first change. @force: go without a way back. */
int upgrade_check(const struct upgrade *u, bool force)
{
	size_t i;

	for (i = 0; i < u->count; i++)
		if (check_format(u, &u->device[i]) || check_count(&u->device[i]))
			return fail_code();
	if (!*u->before.file && !force)
		return fail(CODE_DEVICE,
			    "the file of the loaded module (srcversion %s) is neither installed nor in /var/lib/nearcache/module, so that a failure could not be undone: put it there as %s.ko, or give --force",
			    u->before.source, u->before.source);
	if (upgrade_module_check_users((unsigned int)u->count + upgrade_programs_count()))
		return fail_code();
	if (upgrade_check_loops(u))
		return fail_code();
	for (i = 0; i < u->count; i++)
		if (check_users(&u->device[i]) || upgrade_check_discards(&u->device[i]))
			return fail_code();
	return 0;
}
