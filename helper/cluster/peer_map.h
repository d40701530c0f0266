/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maps that peers export beside their caches. They show which parts of the volume the caches
 * hold. Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_PEER_MAP_H
#define HELPER_CLUSTER_PEER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct homes;

/**
 * struct peer_map - the map of a node
 * @unit: bytes of a unit, a power of two and at most an extent; 0: the node has no map, or one that
 *	cannot be read, or does not fit the volume
 * @byte: for each unit of the volume, see nearcache_map.h
 * @memory: the whole map, @bytes of it; NULL: none
 * @device: path of its device; "": none
 */
struct peer_map {
	uint64_t unit;
	const unsigned char *byte;
	unsigned char *memory;
	size_t bytes;
	char device[64];
};

bool peer_map_check(struct peer_map *map, uint64_t volume, uint64_t extent);
struct peer_map *peer_maps_read(const struct homes *homes, bool wait);
void peer_maps_free(struct peer_map *map, size_t nodes);

#endif /* HELPER_CLUSTER_PEER_MAP_H */
