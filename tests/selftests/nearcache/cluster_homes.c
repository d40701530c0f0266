// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print of how many extents each node is the first home, one number a line; with -l instead the
 * homes of each extent, first to last, one extent a line.
 *	cluster_homes [-l] EXTENTS NAME:WEIGHT...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearcache_cluster.h"

static __u32 weight[NEARCACHE_CLUSTER_NODES_MAX];
static __u64 key[NEARCACHE_CLUSTER_NODES_MAX], hash[NEARCACHE_CLUSTER_NODES_MAX];

/* Compare two nodes, given by index. */
static int compare_nodes(const void *a, const void *b)
{
	int i = *(const int *)a, j = *(const int *)b;

	if (i == j)
		return 0;
	return nearcache_cluster_before(hash[i], weight[i], key[i], hash[j], weight[j], key[j]) ? -1 : 1;
}

int main(int argc, char **argv)
{
	unsigned long of[NEARCACHE_CLUSTER_NODES_MAX] = { };
	int list = argc > 1 && !strcmp(argv[1], "-l"), count, i, order[NEARCACHE_CLUSTER_NODES_MAX];
	char **name = argv + 2 + list, *colon;
	__u64 extents, e;

	count = argc - 2 - list;
	if (count < 1 || count > NEARCACHE_CLUSTER_NODES_MAX)
		return 1;
	extents = strtoull(argv[1 + list], NULL, 10);
	for (i = 0; i < count; i++) {
		colon = strchr(name[i], ':');
		if (!colon)
			return 1;
		key[i] = nearcache_cluster_key(name[i], colon - name[i]);
		weight[i] = strtoul(colon + 1, NULL, 10);
		*colon = 0;
	}
	for (e = 0; e < extents; e++) {
		for (i = 0; i < count; i++) {
			hash[i] = nearcache_cluster_hash(key[i], e);
			order[i] = i;
		}
		qsort(order, count, sizeof(*order), compare_nodes);
		of[order[0]]++;
		for (i = 0; list && i < count; i++)
			printf("%s%c", name[order[i]], i < count - 1 ? ' ' : '\n');
	}
	for (i = 0; !list && i < count; i++)
		printf("%lu\n", of[i]);
	return 0;
}
