// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/home.h"

#include <stdio.h>
#include <string.h>

#include "block/device.h"
#include "block/device_sysfs.h"
#include "block/lock.h"
#include "cluster/joined.h"
#include "lib/enum_words.h"
#include "lib/error.h"
#include "ondisk/superblock.h"

/* Print the name of the cache of cluster device @name to @home (NAME_SIZE bytes). */
const char *home_name(const char *name, char *home)
{
	snprintf(home, NAME_SIZE, "%s" HOME_ENDING, name);
	return home;
}

/* Fail unless @name may be a cluster device, and NAME-home its cache. */
int home_check_name(const char *name)
{
	size_t most = NAME_SIZE - 1 - strlen(HOME_ENDING);
	const char *why;

	if (!name_check(name, &why))
		return fail(CODE_USAGE, "'%s' is not a valid device name: %s", name, why);
	if (strlen(name) > most)
		return fail(CODE_USAGE,
			    "'%s' is too long for a cluster device: at most %zu bytes, because its cache is NAME" HOME_ENDING,
			    name, most);
	return 0;
}

/*
 * Lock a cluster device and its cache against other runs, see lock_name(). All runs lock the cache
 * first, so that no two runs wait for each other.
 */
void home_lock(const char *name)
{
	char home[NAME_SIZE];

	lock_release();
	lock_name(home_name(name, home));
	lock_name(name);
}

/* Drop the locks of home_lock(), if this process has them. */
void home_unlock(void)
{
	lock_release();
	lock_release();
}

/* There is no cache NAME-home: say what to do. */
static int explain_missing(const char *name, const char *home)
{
	struct dm_device dev;
	bool found, ours;

	if (dm_find(name, &dev, &found))
		return fail_code();
	ours = found && dev.ours;
	dm_device_free(&dev);
	if (ours)
		return fail(CODE_DEVICE,
			    "'%s' is itself a cache: the cluster device takes this name, and the cache must be '%s': 'nearcache close %s', then 'nearcache open %s --cache DEV'",
			    name, home, name, home);
	return fail(CODE_DEVICE,
		    "there is no cache '%s', which '%s' reads: 'nearcache create %s --origin DEV --cache DEV --read-only' makes it, 'nearcache open %s' opens it",
		    home, name, home, home);
}

static int check_home(const struct dm_device *dev)
{
	if (dm_uuid_passes_through(dev->uuid))
		return fail(CODE_DEVICE,
			    "device '%s' passes through to its origin, without a cache: 'nearcache close %s', then open it with its cache",
			    dev->name, dev->name);
	if (!dev->ours)
		return fail(CODE_DEVICE,
			    "device '%s' is a device-mapper device of another kind: close it, then 'nearcache open %s'",
			    dev->name, dev->name);
	if (dm_need_table(dev) || dm_need_running(dev))
		return fail_code();
	if (strcmp(dev->mode, mode_word(NEARCACHE_READ_ONLY)))
		return fail(CODE_DEVICE,
			    "cache '%s' is in mode %s: the nodes of a cluster only read: 'nearcache set %s mode=read-only'",
			    dev->name, dev->mode, dev->name);
	return 0;
}

/* Find the cache of cluster device @name. After success, dm_device_free() is needed for its @dev. */
int home_find(struct cluster_home *home, const char *name)
{
	char cache[NAME_SIZE];
	bool found;

	memset(home, 0, sizeof(*home));
	if (dm_find(home_name(name, cache), &home->dev, &found))
		return fail_code();
	if (!found)
		return explain_missing(name, cache);
	if (check_home(&home->dev)) {
		dm_device_free(&home->dev);
		return fail_code();
	}
	snprintf(home->path, sizeof(home->path), "/dev/mapper/%s", cache);
	return 0;
}

/* Read the identity of the volume from the superblock of the cache. */
int home_read_volume(struct cluster_home *home)
{
	struct device cache = DEVICE_CLOSED;
	struct super super = { 0 };

	if (!device_open_number(&cache, home->dev.cache, "cache device") &&
	    !super_read(&super, &cache) && !super_require(&super, &cache)) {
		cluster_volume_uuid(super.best, home->volume);
		home->block_size = super.geo.block_size;
	}
	super_free(&super);
	device_close(&cache);
	return fail_code();
}

/*
 * Fail with CODE_BUSY if a cluster device reads this cache, or if it is exported: it must not be
 * closed, and must not change its content or size.
 */
int home_check_free(const struct dm_device *dev)
{
	size_t length = strlen(dev->name), end = strlen(HOME_ENDING);
	char name[NAME_SIZE];
	struct joined joined;
	bool found;

	if (identity_cluster_holder(dev->number, name, sizeof(name)))
		return fail(CODE_BUSY,
			    "device '%s' is the cache below the cluster device '%s', and other nodes read it: 'nearcache cluster leave %s' first",
			    dev->name, name, name);
	if (length <= end || length - end >= sizeof(name) ||
	    strcmp(dev->name + length - end, HOME_ENDING))
		return 0;
	memcpy(name, dev->name, length - end);
	name[length - end] = '\0';
	/* A record without a device: an interrupted run. */
	found = !joined_read(&joined, name) && joined.found;
	joined_free(&joined);
	if (fail_code() || !found)
		return fail_code();
	return fail(CODE_BUSY,
		    "device '%s' is exported to the nodes of cluster '%s': 'nearcache cluster leave %s' first",
		    dev->name, joined.cluster, name);
}
