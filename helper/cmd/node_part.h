/* SPDX-License-Identifier: GPL-2.0-only */
/* Output of verbs about the part of a volume that has its home on this node of a cluster. */
#ifndef HELPER_CMD_NODE_PART_H
#define HELPER_CMD_NODE_PART_H

#include "cli/options.h"
#include "cluster/homes.h"

int node_part_find(const struct arguments *args, struct dm_device *dev, struct homes *homes);
int node_part_show(const struct arguments *args,
		   int (*show)(const struct arguments *args, const struct dm_device *dev,
			       const struct homes *homes));
void node_part_print(const struct homes *homes, const struct homes_part *part);
void node_part_print_commands(const struct arguments *args, const struct homes *homes);
void node_part_print_cluster(const struct dm_device *dev);

#endif /* HELPER_CMD_NODE_PART_H */
