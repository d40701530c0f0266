// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/peer_map.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <isa-l/crc.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "block/device_sysfs.h"
#include "block/parallel_devices.h"
#include "cluster/homes.h"
#include "cluster/node_names.h"
#include "lib/error.h"
#include "nearcache_format.h"
#include "nearcache_map.h"

/* Largest map that is read, and bytes of a read. */
#define MAP_BYTES_MAX	(64U << 20)
#define CHUNK		(128U << 10)
/* Time in which all maps have to be read. */
#define READ_SECONDS	10U
/* Time in which the kernel finds the second namespace of a new connection, and pause, ms. */
#define APPEAR_MS	1000U
#define LOOK_MS		20U

/* True if @name is that of a namespace, nvmeXnY, and not of a path to it, nvmeXcYnZ. */
static bool is_namespace(const char *name)
{
	int length = 0;

	return sscanf(name, "nvme%*un%*u%n", &length) == 0 && length && !name[length];
}

/*
 * Find the map beside the namespace with the device number @peer: the namespace of the same subsystem
 * that has the UUID derived from its own. Reads sysfs, so it returns at once even if the peer hangs.
 */
static void find_device(dev_t peer, struct peer_map *map)
{
	char uuid[CLUSTER_UUID_TEXT], wanted[CLUSTER_UUID_TEXT], folder[64], text[64];
	unsigned long long sectors;
	struct dirent *entry;
	struct stat st;
	DIR *names;

	if (!identity_attribute(peer, "uuid", uuid, sizeof(uuid)))
		return;
	cluster_map_uuid(uuid, wanted);
	snprintf(folder, sizeof(folder), "/sys/dev/block/%u:%u/..", major(peer), minor(peer));
	names = opendir(folder);
	while (names && !*map->device && (entry = readdir(names))) {
		if (!is_namespace(entry->d_name))
			continue;
		snprintf(map->device, sizeof(map->device), "/dev/%.50s", entry->d_name);
		if (stat(map->device, &st) || !S_ISBLK(st.st_mode) ||
		    !identity_attribute(st.st_rdev, "uuid", text, sizeof(text)) ||
		    strcasecmp(text, wanted) ||
		    !identity_attribute(st.st_rdev, "size", text, sizeof(text)) ||
		    sscanf(text, "%llu", &sectors) != 1 || !sectors ||
		    sectors > MAP_BYTES_MAX / 512)
			*map->device = '\0';
		else
			map->bytes = sectors * 512;
	}
	if (names)
		closedir(names);
}

/* Find the maps of all peers. Returns true if each connected peer has one. */
static bool find_devices(const struct homes *homes, struct peer_map *map)
{
	bool all = true;
	size_t i;

	for (i = 0; i < homes->table.nodes; i++) {
		const char *device = homes->table.node[i].device;

		if (i == homes->self || !strcmp(device, PEERS_ABSENT))
			continue;
		if (!*map[i].device)
			find_device(peers_number(device), &map[i]);
		all &= *map[i].device != '\0';
	}
	return all;
}

/*
 * Read a map, in a process of its own, because a read at a peer that hangs cannot be interrupted.
 */
static int read_job(const struct many_job *job)
{
	const struct peer_map *map = job->data;
	int fd = open(map->device, O_RDONLY | O_DIRECT | O_CLOEXEC);
	size_t at;
	ssize_t n;

	if (fd < 0)
		return fail_errno(errno, "cannot open '%s'", map->device);
	for (at = 0; at < map->bytes; at += (size_t)n) {
		n = pread(fd, map->memory + at, map->bytes - at < CHUNK ? map->bytes - at : CHUNK,
			  (off_t)at);
		if (n <= 0)
			return fail_errno(n ? errno : EIO, "cannot read '%s'", map->device);
	}
	close(fd);
	return 0;
}

/*
 * Check the map in @map->memory, and set @unit and @byte. @volume, @extent: their bytes. Returns
 * false if the map is damaged, or does not fit the volume.
 */
bool peer_map_check(struct peer_map *map, uint64_t volume, uint64_t extent)
{
	const struct nearcache_map_header *header = (const void *)map->memory;
	size_t body = offsetof(struct nearcache_map_header, checksum);
	uint64_t unit;

	if (map->bytes < NEARCACHE_MAP_PAGE ||
	    memcmp(header->magic, NEARCACHE_MAP_MAGIC, sizeof(header->magic)) ||
	    le32toh(header->version) != NEARCACHE_MAP_VERSION ||
	    le32toh(header->header_bytes) != NEARCACHE_MAP_PAGE ||
	    le32toh(header->checksum) != (uint32_t)~crc32_iscsi(map->memory, (int)body, ~0U))
		return false;
	unit = le64toh(header->unit_bytes);
	/* A unit is a block of the peer's cache, or more. */
	if (le64toh(header->volume_bytes) != volume || unit < NEARCACHE_SUBBLOCK_MIN ||
	    unit & (unit - 1) || unit > extent || map->bytes < nearcache_map_bytes(volume, unit))
		return false;
	map->unit = unit;
	map->byte = map->memory + NEARCACHE_MAP_PAGE;
	return true;
}

/*
 * Read the maps that were found. A map that cannot be read in time, or does not fit, is not used.
 */
static int read_found(const struct homes *homes, struct peer_map *map)
{
	size_t i, jobs = 0, nodes = homes->table.nodes;
	struct many_job *job = calloc(nodes, sizeof(*job));
	char (*name)[80] = calloc(nodes, sizeof(*name));

	for (i = 0; job && name && i < nodes; i++) {
		void *memory;

		if (!*map[i].device)
			continue;
		/* Shared with the process of read_job(). */
		memory = mmap(NULL, map[i].bytes, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			continue;
		map[i].memory = memory;
		/* many_run() locks the name: no device has a blank in its name. */
		snprintf(name[jobs], sizeof(*name), "map of %s", homes->table.node[i].name);
		job[jobs] = (struct many_job){ .name = name[jobs], .data = &map[i],
					       .seconds = READ_SECONDS, .stop = true };
		jobs++;
	}
	if (job && name)
		many_run(job, jobs, read_job);
	else
		fail_memory();
	for (i = 0; i < jobs; i++) {
		struct peer_map *read = (struct peer_map *)job[i].data;

		if (job[i].code)
			warn("the map of node '%s' cannot be read, and is not used: %s",
			     homes->table.node[read - map].name, job[i].message);
		else if (!peer_map_check(read, homes->size, homes->table.extent))
			warn("the map of node '%s' is damaged, or of a volume of another size, and is not used",
			     homes->table.node[read - map].name);
	}
	free(name);
	free(job);
	return fail_code();
}

/*
 * Read the maps of all connected peers. @wait: connections may be new, so wait up to APPEAR_MS for
 * their maps. Returns an array with a map for each node, for peer_maps_free(), or NULL after an
 * error.
 */
struct peer_map *peer_maps_read(const struct homes *homes, bool wait)
{
	struct peer_map *map = calloc(homes->table.nodes, sizeof(*map));
	unsigned int waited = 0;

	if (!map) {
		fail_memory();
		return NULL;
	}
	while (!find_devices(homes, map) && wait && waited < APPEAR_MS) {
		usleep(LOOK_MS * 1000);
		waited += LOOK_MS;
	}
	if (!read_found(homes, map))
		return map;
	peer_maps_free(map, homes->table.nodes);
	return NULL;
}

void peer_maps_free(struct peer_map *map, size_t nodes)
{
	size_t i;

	for (i = 0; map && i < nodes; i++)
		if (map[i].memory)
			munmap(map[i].memory, map[i].bytes);
	free(map);
}
