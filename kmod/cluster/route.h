/* SPDX-License-Identifier: GPL-2.0-only */
/* The homes of an extent, in order.  Pure: no state, no locks. */
#ifndef NEARCACHE_CLUSTER_ROUTE_H
#define NEARCACHE_CLUSTER_ROUTE_H

#include <linux/types.h>

#include "nearcache_cluster.h"

/* Largest number of homes of an extent that reads are spread over. */
#define NC_REPLICAS_MAX	8

/**
 * struct nc_home - one node of a cluster, as far as the homes depend on it
 * @key: nearcache_cluster_key() of the name
 * @weight: 1 to NEARCACHE_CLUSTER_WEIGHT_MAX
 */
struct nc_home {
	u64 key;
	u32 weight;
};

/**
 * struct nc_homes - the nodes of a cluster
 * @usable: can reads be sent to the node with this index?  Called only for candidates
 * @count: number of nodes, at least 1
 * @home: the nodes
 */
struct nc_homes {
	bool (*usable)(const struct nc_homes *homes, u32 index);
	u32 count;
	struct nc_home home[];
};

u32 nc_route_one(const struct nc_homes *homes, u64 extent);
int nc_route_after(const struct nc_homes *homes, u64 extent, int after, int but);
int nc_route_first(const struct nc_homes *homes, u64 extent, u32 replicas, u32 self);
int nc_route_retry(const struct nc_homes *homes, u64 extent, int first, int failed);

#endif /* NEARCACHE_CLUSTER_ROUTE_H */
