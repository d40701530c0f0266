// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print of how many extents each node is the first home, one number a line.
 *	cluster_homes EXTENTS NAME:WEIGHT...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearcache_cluster.h"

int main(int argc, char **argv)
{
	__u32 weight[NEARCACHE_CLUSTER_NODES_MAX], cost[NEARCACHE_CLUSTER_NODES_MAX];
	__u64 key[NEARCACHE_CLUSTER_NODES_MAX], extents, e;
	unsigned long of[NEARCACHE_CLUSTER_NODES_MAX] = { };
	int count = argc - 2, i, best;
	char *colon;

	if (count < 1 || count > NEARCACHE_CLUSTER_NODES_MAX)
		return 1;
	extents = strtoull(argv[1], NULL, 10);
	for (i = 0; i < count; i++) {
		colon = strchr(argv[i + 2], ':');
		if (!colon)
			return 1;
		key[i] = nearcache_cluster_key(argv[i + 2], colon - argv[i + 2]);
		weight[i] = strtoul(colon + 1, NULL, 10);
	}
	for (e = 0; e < extents; e++) {
		for (i = best = 0; i < count; i++) {
			cost[i] = nearcache_cluster_cost(key[i], e);
			if (nearcache_cluster_before(cost[i], weight[i], key[i], cost[best], weight[best],
						     key[best]))
				best = i;
		}
		of[best]++;
	}
	for (i = 0; i < count; i++)
		printf("%lu\n", of[i]);
	return 0;
}
