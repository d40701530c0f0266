/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device NAME-map, of the target nearcache-map: it shows which parts of the volume the cache
 * NAME-home holds. It is exported, so that peers can warm their caches.
 */
#ifndef HELPER_CLUSTER_MAP_H
#define HELPER_CLUSTER_MAP_H

#include "cluster/home.h"

/* The name of a map is that of its cluster device with this ending. */
#define MAP_ENDING	"-map"

/**
 * struct cluster_map - the map of the local node
 * @path: path of its device; "": there is none
 */
struct cluster_map {
	char path[128];
};

void map_make(struct cluster_map *map, const char *name, const struct cluster_home *home,
	      uint64_t extent, bool quiet);
int map_remove(const char *name, bool exported);
uint64_t map_unit(uint64_t size, uint64_t block, uint64_t extent);

#endif /* HELPER_CLUSTER_MAP_H */
