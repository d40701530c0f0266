/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of a volume that is on the local node of a cluster: the extents of which the local node
 * is one of the first homes. A verb that gets the name of a cluster device acts on the cache below
 * it, and on this part.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_HOMES_H
#define HELPER_CLUSTER_HOMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "block/dm.h"
#include "cluster/peers_table.h"
#include "files/operand.h"
#include "lib/range.h"

/**
 * struct homes - the homes of the extents of a cluster device
 * @name: name of the cluster device; "": the verb got the name of a cache, and all bytes are here
 * @number: number of the cluster device
 * @suspended: the cluster device is suspended
 * @size: bytes of the volume
 * @table: its nodes, extents and replicas
 * @status: state of its nodes
 * @self: index of the local node in @table.node
 * @down: peers that take no reads by the status line; their parts are read at the next homes
 * @key: keys of the nodes
 */
struct homes {
	char name[sizeof(((struct dm_device *)0)->name)];
	dev_t number;
	bool suspended;
	uint64_t size;
	struct peers_table table;
	struct peers_status status;
	size_t self;
	size_t down;
	uint64_t *key;
};

/* Bytes of the ranges that a verb got, and those of them of which the local node is a home. */
struct homes_part {
	uint64_t here;
	uint64_t all;
};

static inline bool homes_divide(const struct homes *homes)
{
	return *homes->name;
}

int homes_take(struct homes *homes, const struct dm_device *cluster);
bool homes_peer_is_up(const struct homes *homes, size_t node);
bool homes_are_here(const struct homes *homes, uint64_t extent);
bool homes_next(const struct homes *homes, struct range *rest, struct range *piece);
int homes_select(const struct homes *homes, bool here, const struct range *range, size_t count,
		 struct range **piece, size_t *pieces);
int homes_keep(const struct homes *homes, struct shards *shards, struct homes_part *part);
void homes_add_bytes(const struct homes *homes, const struct range *range, size_t count,
		     uint64_t *bytes);
void homes_free(struct homes *homes);

/* homes_find.c */
int homes_find(const char *operand, struct dm_device *dev, struct homes *homes);
int homes_find_cache(const char *operand, struct dm_device *dev);
int homes_need_running(const struct homes *homes);
int homes_resolve(enum target_use use, const struct arguments *args, const struct dm_device *dev,
		  const struct homes *homes, struct shards *shards);
int homes_find_above(const struct dm_device *dev, struct homes *homes);
int homes_keep_live(const struct dm_device *dev, struct shards *shards);
int homes_rename_operands(char **operand, int count);

#endif /* HELPER_CLUSTER_HOMES_H */
