// SPDX-License-Identifier: GPL-2.0-only
/* The homes of an extent, in order.  The order is that of uapi/nearcache_cluster.h. */
#include "cluster/route.h"

/* Is home @a, with @hash_a, an earlier one than @b, with @hash_b? */
static bool home_before(const struct nc_home *a, u64 hash_a, const struct nc_home *b, u64 hash_b)
{
	return nearcache_cluster_before(hash_a, a->weight, a->key, hash_b, b->weight, b->key);
}

/**
 * nc_route_after() - find the next usable home of an extent
 * @homes: all nodes, with different keys
 * @extent: number of the extent
 * @after: index of the home before the wanted one; -1: find the first usable home
 * @but: index of a home that is not wanted; -1: none
 *
 * Context: any; takes time in proportion to the number of nodes.
 * Return: the index of the home, or -1 if no usable home comes after @after.
 */
int nc_route_after(const struct nc_homes *homes, u64 extent, int after, int but)
{
	const struct nc_home *home, *last = after < 0 ? NULL : &homes->home[after];
	u64 hash, best_hash = 0, last_hash = 0;
	int best = -1;
	u32 i;

	if (last)
		last_hash = nearcache_cluster_hash(last->key, extent);
	for (i = 0; i < homes->count; i++) {
		home = &homes->home[i];
		hash = nearcache_cluster_hash(home->key, extent);
		if (i == but || (last && !home_before(last, last_hash, home, hash)))
			continue;
		if (best >= 0 && !home_before(home, hash, &homes->home[best], best_hash))
			continue;
		if (!homes->usable(homes, i))
			continue;
		best = i;
		best_hash = hash;
	}
	return best;
}

/**
 * nc_route_one() - find the first home of an extent, whether it is usable or not
 * @homes: all nodes, with different keys
 * @extent: number of the extent
 *
 * This is most of the work that a cluster device adds to a read, so it does no more than it must.
 *
 * Context: any.
 * Return: the index of the home.
 */
u32 nc_route_one(const struct nc_homes *homes, u64 extent)
{
	const struct nc_home *home = homes->home, *end = home + homes->count, *best = home;
	u64 mixed = nearcache_cluster_mix(extent + 1);
	u64 best_hash = nearcache_cluster_mix(mixed ^ home->key), hash;

	while (++home < end) {
		hash = nearcache_cluster_mix(mixed ^ home->key);
		if ((home->weight == best->weight && hash < best_hash) ||
		    !home_before(home, hash, best, best_hash))
			continue;
		best = home;
		best_hash = hash;
	}
	return best - homes->home;
}

/**
 * nc_route_first() - choose the home at which a node reads an extent first
 * @homes: all nodes, with different keys; the local node is usable
 * @extent: number of the extent
 * @replicas: number of homes that may keep the extent: 1 to NC_REPLICAS_MAX
 * @self: index of the local node
 *
 * If the local node is one of the first @replicas usable homes, it reads here.  Otherwise it reads
 * at one of them, always the same for an extent; different nodes choose different ones.
 *
 * Context: any.
 * Return: the index of the home.
 */
int nc_route_first(const struct nc_homes *homes, u64 extent, u32 replicas, u32 self)
{
	int chosen[NC_REPLICAS_MAX];
	u32 found = 0;
	int at = -1;

	if (replicas <= 1) {
		at = nc_route_one(homes, extent);
		return homes->usable(homes, at) ? at : nc_route_after(homes, extent, -1, -1);
	}
	while (found < replicas) {
		at = nc_route_after(homes, extent, at, -1);
		if (at < 0)
			break;
		if (at == self)
			return at;
		chosen[found++] = at;
	}
	return chosen[nearcache_cluster_mix(homes->home[self].key + extent) % found];
}

/**
 * nc_route_retry() - choose the home at which a read goes on after an error
 * @homes: all nodes, with different keys
 * @extent: number of the extent
 * @first: index of the home that was read first, as nc_route_first() returned it
 * @failed: index of the home that returned the error
 *
 * The first home may have been any of those that keep the extent, so that the others come next.
 * From then on each home comes later in the order than the one before: a read that fails
 * everywhere ends.
 *
 * Context: any.
 * Return: the index of the home, or -1 if there is none.
 */
int nc_route_retry(const struct nc_homes *homes, u64 extent, int first, int failed)
{
	return nc_route_after(homes, extent, failed == first ? -1 : failed, first);
}
