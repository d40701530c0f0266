/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cache of the local node, NAME-home, which the cluster device NAME reads and which is exported.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_HOME_H
#define HELPER_CLUSTER_HOME_H

#include "block/dm.h"
#include "cluster/node_names.h"
#include "lib/name.h"

/* What follows the name of a cluster device in the name of its cache. */
#define HOME_ENDING	"-home"

/**
 * struct cluster_home - an open cache that may be the home of a cluster device
 * @dev: the device; home_find() succeeded: needs dm_device_free()
 * @path: its path
 * @volume: UUID of the volume; "": its superblock could not be read
 * @block_size: bytes of a block of the cache; 0: see @volume
 */
struct cluster_home {
	struct dm_device dev;
	char path[128];
	char volume[CLUSTER_UUID_TEXT];
	uint64_t block_size;
};

const char *home_name(const char *name, char *home);
int home_check_name(const char *name);
void home_lock(const char *name);
void home_unlock(void);
int home_find(struct cluster_home *home, const char *name);
int home_read_volume(struct cluster_home *home);
int home_check_free(const struct dm_device *dev);

#endif /* HELPER_CLUSTER_HOME_H */
