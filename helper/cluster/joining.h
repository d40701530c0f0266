/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A join under way, for the files join*.c.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_JOINING_H
#define HELPER_CLUSTER_JOINING_H

#include <stdbool.h>

#include "block/dm.h"
#include "cluster/conf.h"
#include "cluster/home.h"
#include "cluster/join.h"
#include "cluster/joined.h"
#include "cluster/map.h"
#include "cluster/peers.h"
#include "cluster/peers_table.h"
#include "cluster/warm.h"

/**
 * struct joining - a join under way
 * @request: its request
 * @conf: the configuration
 * @home: the cache of the local node
 * @map: the map of @home
 * @before: the record of an earlier join
 * @after: the new record
 * @both: the record while this run works: as @after, and the nodes of @before
 * @peers: the nodes of @conf, and the connections to them
 * @dev: the cluster device, if @exists
 * @exists: there is a cluster device already
 * @table: its present table, if @exists
 * @exported: this run has changed the export
 * @created: this run has created the device
 * @reconnect: the connections of an earlier join differ, and are made again
 * @changed: this run has replaced the nodes of the device, or would
 * @idle: there is nothing to do, see struct join_request
 * @warming: ranges to read at each peer
 */
struct joining {
	const struct join_request *request;
	struct cluster_conf conf;
	struct cluster_home home;
	struct cluster_map map;
	struct joined before;
	struct joined after;
	struct joined both;
	struct peers peers;
	struct dm_device dev;
	bool exists;
	struct peers_table table;
	bool exported;
	bool created;
	bool reconnect;
	bool changed;
	bool idle;
	struct warming warming;
};

int join_export_to(const struct joining *joining, const struct joined *allowed);
int join_create_device(struct joining *joining);
int join_drop_gone(struct joining *joining);
int join_change_device(struct joining *joining);
void join_undo(struct joining *joining);
void join_report(const struct joining *joining);

#endif /* HELPER_CLUSTER_JOINING_H */
