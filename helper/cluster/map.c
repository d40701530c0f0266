// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/map.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "lib/error.h"
#include "nearcache_map.h"

/*
 * The dm uuid of a map is this prefix and its name. Caches and cluster devices have other prefixes.
 */
#define MAP_PREFIX	"nearcache_map-"
/* A map of more units than this gets larger units than a block: peers read a byte for each unit. */
#define UNITS_MANY	(8ULL << 20)

static const char *map_name(const char *name, char *map)
{
	snprintf(map, NAME_SIZE, "%s" MAP_ENDING, name);
	return map;
}

/*
 * Bytes of a unit of the map of a volume of @size bytes, with @block and @extent in bytes: a block,
 * so that most units are cached whole or not at all; more for a large volume, but at most an
 * extent, all of which has one home.
 */
uint64_t map_unit(uint64_t size, uint64_t block, uint64_t extent)
{
	uint64_t unit = block;

	while (size / unit > UNITS_MANY && unit < extent && unit / block < NEARCACHE_MAP_BLOCKS_MAX)
		unit *= 2;
	return unit;
}

static int create_map(const char *device, const struct cluster_home *home, uint64_t extent)
{
	uint64_t unit = map_unit(home->dev.size, home->block_size, extent);
	char uuid[sizeof(MAP_PREFIX) + NAME_SIZE], params[64];
	struct dm_line line = {
		.target = DM_MAP_TARGET,
		.bytes = nearcache_map_bytes(home->dev.size, unit),
		.params = params,
	};

	snprintf(uuid, sizeof(uuid), MAP_PREFIX "%s", device);
	snprintf(params, sizeof(params), "%u:%u %llu", major(home->dev.number),
		 minor(home->dev.number), (unsigned long long)(unit / 512));
	return dm_activate(device, uuid, &line);
}

static bool is_map(const struct dm_device *dev)
{
	return !strncmp(dev->uuid, MAP_PREFIX, strlen(MAP_PREFIX));
}

/* Find or create the device of the map. After an error the caller warns. */
static int need_map(const char *device, const struct cluster_home *home, uint64_t extent)
{
	struct dm_device dev;
	bool found, known;

	if (dm_find(device, &dev, &found))
		return fail_code();
	dm_device_free(&dev);
	if (found && !is_map(&dev))
		return fail(CODE_BUSY,
			    "a device-mapper device '%s' exists that is no map: rename it, and join again",
			    device);
	if (found && dev.live)
		return 0;
	/* A run was killed while it created the device. */
	if (found && dm_remove(device))
		return fail_code();
	if (dm_target_known(DM_MAP_TARGET, &known))
		return fail_code();
	if (!known)
		return fail(CODE_DEVICE, "the loaded kernel module is older, and has no target '"
			    DM_MAP_TARGET "': load the new one while no device uses it, and join again");
	/* The superblock of a cache whose device fails was not read. */
	if (!home->block_size)
		return fail(CODE_DEVICE, "its cache device is bypassed: 'nearcache attach %s', and join again",
			    home->dev.name);
	return create_map(device, home, extent);
}

/*
 * Make the map of the cache @home of cluster device @name, unless it exists. @extent: bytes. A node
 * works without a map, but then its peers do not warm from it by themselves. So a failure is only a
 * warning, and not even that if @quiet.
 */
void map_make(struct cluster_map *map, const char *name, const struct cluster_home *home,
	      uint64_t extent, bool quiet)
{
	char device[NAME_SIZE];

	memset(map, 0, sizeof(*map));
	if (!need_map(map_name(name, device), home, extent)) {
		snprintf(map->path, sizeof(map->path), "/dev/mapper/%s", device);
		return;
	}
	if (!quiet)
		warn("the peers cannot warm their caches from '%s', because it has no map: %s",
		     home->dev.name, fail_message());
	fail_reset();
}

/*
 * Remove the map, if there is one. @exported: keep it if it is open, as nvmet may still export it.
 */
int map_remove(const char *name, bool exported)
{
	char device[NAME_SIZE];
	struct dm_device dev;
	bool found;

	if (dm_find(map_name(name, device), &dev, &found))
		return fail_code();
	dm_device_free(&dev);
	if (!found || !is_map(&dev) || (exported && dev.open_count))
		return 0;
	return dm_remove(device);
}
