// SPDX-License-Identifier: GPL-2.0-only
/* Finds the cache and the nodes of a cluster device that a verb names. */
#include "cluster/homes.h"

#include <string.h>

#include "block/device_sysfs.h"
#include "block/lock.h"
#include "lib/error.h"
#include "lib/name.h"

/* Get the dm name of the cache in the table of a cluster device. */
static int cache_name(const struct homes *homes, char *name, size_t size)
{
	dev_t number = peers_number(homes->table.home);

	if (number && identity_attribute(number, "dm/name", name, size))
		return 0;
	return fail(CODE_DEVICE,
		    "the cache of the cluster device '%s' is '%s', which is no device of device-mapper: 'nearcache cluster leave %s', then join again",
		    homes->name, homes->table.home, homes->name);
}

static int find_cache(const struct dm_device *cluster, struct dm_device *dev, struct homes *homes)
{
	char name[sizeof(dev->name)];

	if (homes_take(homes, cluster) || cache_name(homes, name, sizeof(name)))
		return fail_code();
	/* The verb changes the cache: take its lock in place of that of the cluster device. */
	if (lock_held()) {
		lock_release();
		lock_name(name);
	}
	if (dm_need_ours(name, dev))
		return fail_add("it is the cache below the cluster device '%s'", homes->name);
	return 0;
}

/*
 * Look up the device that a verb names: a cache, or a cluster device. Then @dev receives the cache
 * below it, and @homes its nodes. After success, dm_device_free() and homes_free() are needed.
 */
int homes_find(const char *operand, struct dm_device *dev, struct homes *homes)
{
	const char *name = name_of_operand(operand), *why;
	struct dm_device cluster = { 0 };
	bool found = false;

	memset(homes, 0, sizeof(*homes));
	if (name_check(name, &why) && dm_find(name, &cluster, &found))
		return fail_code();
	if (!found || !cluster.cluster) {
		dm_device_free(&cluster);
		return dm_need_ours(name, dev);
	}
	if (find_cache(&cluster, dev, homes))
		homes_free(homes);
	dm_device_free(&cluster);
	return fail_code();
}

/* As homes_find(), for a verb that acts on the whole cache. */
int homes_find_cache(const char *operand, struct dm_device *dev)
{
	struct homes homes;

	if (!homes_find(operand, dev, &homes))
		homes_free(&homes);
	return fail_code();
}

/* Fail if the cluster device is suspended: reads of its file systems would hang this program. */
int homes_need_running(const struct homes *homes)
{
	if (!homes->suspended)
		return 0;
	return fail(CODE_BUSY,
		    "device '%s' is suspended, and its files cannot be read: 'dmsetup resume %s' first",
		    homes->name, homes->name);
}

/* As target_resolve_for(), for files on the cluster device above @dev as well. */
int homes_resolve(enum target_use use, const struct arguments *args, const struct dm_device *dev,
		  const struct homes *homes, struct shards *shards)
{
	memset(shards, 0, sizeof(*shards));
	if (homes_need_running(homes))
		return fail_code();
	return target_resolve_for(use, args, dev, shards);
}

/*
 * Find the cluster device whose local node has the cache @dev. Without one, @homes is that of a
 * cache. homes_free() is needed even after a failure.
 */
int homes_find_above(const struct dm_device *dev, struct homes *homes)
{
	struct dm_device *list;
	size_t i, count;

	memset(homes, 0, sizeof(*homes));
	if (dm_all_clusters(&list, &count))
		return fail_code();
	for (i = 0; i < count && !fail_code(); i++) {
		homes_free(homes);
		if (!homes_take(homes, &list[i]) && peers_number(homes->table.home) == dev->number)
			break;
	}
	if (i == count)
		homes_free(homes);
	dm_device_free_all(list, count);
	return fail_code();
}

/* Without a cluster device, the part of this node is unknown, and whole files would be too much. */
static int refuse_part(const struct dm_device *dev)
{
	return fail(CODE_DEVICE, "there is no cluster device above '%s'", dev->name);
}

/*
 * Keep the part of shards on the cache @dev that is here, as the nodes were at the first call for
 * this device: a refresh calls this for each file. Fails if there is no cluster device above @dev,
 * as after 'nearcache cluster leave', and warns of that once.
 */
int homes_keep_live(const struct dm_device *dev, struct shards *shards)
{
	static struct homes homes;
	static dev_t number;
	struct homes_part part;

	if (number != dev->number) {
		number = 0;
		homes_free(&homes);
		if (homes_find_above(dev, &homes))
			return fail_code();
		number = dev->number;
		if (!homes_divide(&homes))
			warn("'%s' has pins of the part of files that has its home on this node of a cluster, and there is no cluster device above it: these pins stay as they are; 'nearcache pin %s FILES' pins whole files instead",
			     dev->name, dev->name);
	}
	return homes_divide(&homes) ? homes_keep(&homes, shards, &part) : refuse_part(dev);
}

/*
 * Replace the names of cluster devices by those of their caches, for a verb that shows caches. The
 * new names are never freed.
 */
int homes_rename_operands(char **operand, int count)
{
	struct dm_device dev;
	int i;

	for (i = 0; i < count; i++) {
		if (homes_find_cache(operand[i], &dev))
			return fail_code();
		if (strcmp(dev.name, name_of_operand(operand[i])))
			operand[i] = strdup(dev.name);
		dm_device_free(&dev);
		if (!operand[i])
			return fail_memory();
	}
	return 0;
}
