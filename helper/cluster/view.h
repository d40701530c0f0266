/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cluster device as status and check see it: device, record, configuration and connections.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_VIEW_H
#define HELPER_CLUSTER_VIEW_H

#include "block/dm.h"
#include "cluster/joined.h"
#include "cluster/peers.h"

/**
 * struct view - table, status, record and connections of a cluster device
 * @dev: the device
 * @table: its table
 * @status: status of the nodes of @table
 * @joined: the record of the join
 * @configured: @conf and @peers are valid
 * @conf: the configuration
 * @peers: the nodes of @conf, and the connections to them
 * @why: why @configured is false
 */
struct view {
	const struct dm_device *dev;
	struct peers_table table;
	struct peers_status status;
	struct joined joined;
	bool configured;
	struct cluster_conf conf;
	struct peers peers;
	char why[1024];
};

int view_take(struct view *view, const struct dm_device *dev);
void view_free(struct view *view);
const struct peer *view_peer(const struct view *view, const char *node);
int view_need_device(const char *name, struct dm_device *dev);

#endif /* HELPER_CLUSTER_VIEW_H */
