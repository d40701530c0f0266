// SPDX-License-Identifier: GPL-2.0-only
/* The homes of an extent, in order.  The order is that of uapi/nearcache_cluster.h. */
#include "cluster/route.h"

/**
 * nc_route_after() - find the next home of an extent
 * @homes: all nodes, with different keys
 * @count: number of nodes, at least 1
 * @extent: number of the extent
 * @after: index of the home before the wanted one; -1: find the first home
 *
 * Context: any; takes time in proportion to @count.
 * Return: the index of the next home, or -1 if @after is the last one.
 */
int nc_route_after(const struct nc_home *homes, u32 count, u64 extent, int after)
{
	u32 cost, best_cost = 0, after_cost = 0;
	const struct nc_home *home;
	int best = -1;
	u32 i;

	if (after >= 0)
		after_cost = nearcache_cluster_cost(homes[after].key, extent);
	for (i = 0; i < count; i++) {
		home = &homes[i];
		cost = nearcache_cluster_cost(home->key, extent);
		if (after >= 0 && !nearcache_cluster_before(after_cost, homes[after].weight,
							    homes[after].key, cost, home->weight,
							    home->key))
			continue;
		if (best < 0 || nearcache_cluster_before(cost, home->weight, home->key, best_cost,
							 homes[best].weight, homes[best].key)) {
			best = i;
			best_cost = cost;
		}
	}
	return best;
}

/**
 * nc_route_first() - choose the home at which a node reads an extent first
 * @homes: all nodes, with different keys
 * @count: number of nodes, at least 1
 * @extent: number of the extent
 * @replicas: number of homes that may keep the extent: 1 to NC_REPLICAS_MAX
 * @self: index of the node that reads
 *
 * A node that is one of the first @replicas homes reads here.  The other nodes are spread over
 * these homes: each node always chooses the same home for an extent.
 *
 * Context: any.
 * Return: the index of the home.
 */
int nc_route_first(const struct nc_home *homes, u32 count, u64 extent, u32 replicas, u32 self)
{
	int chosen[NC_REPLICAS_MAX];
	u32 found = 0;
	int at = -1;

	if (replicas <= 1)
		return nc_route_after(homes, count, extent, -1);
	while (found < replicas) {
		at = nc_route_after(homes, count, extent, at);
		if (at < 0)
			break;
		if (at == self)
			return at;
		chosen[found++] = at;
	}
	return chosen[nearcache_cluster_mix(homes[self].key + extent) % found];
}
