/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Warming the cache of this node from its peers: prefetch jobs read data at a peer instead of at the
 * origin.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_WARM_H
#define HELPER_CLUSTER_WARM_H

#include "cluster/warm_choice.h"
#include "netlink/client.h"

/*
 * Deadline of jobs that warm the whole part of a node, seconds. If readers have taken the free
 * blocks, the jobs wait for readers until then, and later leave out data that finds no free block.
 */
#define WARM_DEADLINE	60

int warm_divide_part(const struct homes *homes, const struct dm_device *dev,
		     const struct range *range, size_t count, struct warming *warming);
int warm_run(const struct homes *homes, const struct dm_device *dev, struct warming *warming,
	     const struct nl_job *wishes, bool wait, bool quiet, struct nl_job *sum, size_t *jobs);
void warm_print(const struct warming *warming, bool always);
int warm_start(const char *name, const struct dm_device *dev, bool ask, struct warming *warming);

#endif /* HELPER_CLUSTER_WARM_H */
