// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/leave.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "block/dm_remove.h"
#include "block/signals.h"
#include "cluster/disconnect.h"
#include "cluster/home.h"
#include "cluster/joined.h"
#include "cluster/map.h"
#include "cluster/peers.h"
#include "lib/error.h"
#include "lib/print.h"

/* @device: the cluster device exists; @joined: its record; @table: its table, if it has one. */
struct leaving {
	const char *name;
	struct dm_device dev;
	bool device;
	struct joined joined;
	struct peers_table table;
};

static int find_joined(struct leaving *leaving)
{
	const char *name = leaving->name;
	struct dm_device *dev = &leaving->dev;
	size_t i;

	if (home_check_name(name) || joined_read(&leaving->joined, name) ||
	    dm_find(name, dev, &leaving->device))
		return fail_code();
	if (leaving->device && !dev->cluster && !dm_uuid_is_cluster(dev->uuid)) {
		if (!leaving->joined.found)
			return fail(CODE_DEVICE,
				    "device '%s' is no cluster device: 'nearcache cluster status' lists them, 'nearcache close %s' closes a cache",
				    name, name);
		leaving->device = false;
	}
	if (!leaving->device && !leaving->joined.found)
		return fail(CODE_DEVICE,
			    "there is no cluster device '%s': 'nearcache cluster status' lists them",
			    name);
	if (!dev->table || !leaving->device || !peers_table_parse(dev->table, &leaving->table))
		return 0;
	/* The record may be lost, or older than the table. */
	for (i = 0; i < leaving->table.nodes; i++)
		if (joined_add(&leaving->joined, leaving->table.node[i].name))
			return fail_code();
	return 0;
}

/* End the connections to all nodes of the record at the same time. */
static int end_connections(const struct joined *joined)
{
	const char **node = calloc(joined->nodes + 1, sizeof(*node));
	size_t i, count = 0;

	if (!node)
		return fail_memory();
	for (i = 0; i < joined->nodes; i++)
		if (strcmp(joined->node[i], joined->self))
			node[count++] = joined->node[i];
	cluster_disconnect(joined->cluster, node, count);
	free(node);
	return fail_code();
}

/* The names of the connections need the name of the cluster, which only the record has. */
static int drop_connections(const struct leaving *leaving)
{
	const struct joined *joined = &leaving->joined;
	char nqn[CLUSTER_NQN_SIZE];

	if (!joined->found) {
		warn("there is no record of the join of '%s': its connections and its export stay: see 'nvme list-subsys', and /sys/kernel/config/nvmet",
		     leaving->name);
		return 0;
	}
	if (end_connections(joined))
		return fail_code();
	cluster_subsystem_nqn(joined->cluster, joined->self, nqn);
	return export_remove(nqn);
}

/* The record goes last: until then 'leave' can be repeated. */
static int undo_membership(const struct leaving *leaving)
{
	sigset_t before;

	signals_hold(&before);
	if (!(leaving->device && stop(&leaving->dev)) && !drop_connections(leaving) &&
	    !map_remove(leaving->name, !leaving->joined.found))
		joined_remove(leaving->name);
	signals_release(&before);
	return fail_code();
}

static void report_leave(const struct leaving *leaving, bool dry_run)
{
	const struct joined *joined = &leaving->joined;
	size_t i;

	print_string("name", dry_run ? "would leave" : NULL, leaving->name);
	print_string("cluster", dry_run ? "cluster" : NULL,
		     joined->found ? joined->cluster : NULL);
	print_flag("removed", NULL, leaving->device && !dry_run);
	print_flag("dry_run", NULL, dry_run);
	print_table("nodes");
	for (i = 0; i < joined->nodes; i++) {
		if (joined->found && !strcmp(joined->node[i], joined->self))
			continue;
		print_record(NULL, NULL);
		print_string("name", dry_run ? "would disconnect" : NULL, joined->node[i]);
		print_end();
	}
	print_end();
}

/* Remove the cluster device, disconnect its peers, and export its cache no more. */
int cluster_leave(const char *name, bool dry_run)
{
	struct leaving leaving = { .name = name };

	if (!find_joined(&leaving) &&
	    !(dry_run ? leaving.device && stop_check(&leaving.dev) : undo_membership(&leaving)))
		report_leave(&leaving, dry_run);
	peers_table_free(&leaving.table);
	joined_free(&leaving.joined);
	dm_device_free(&leaving.dev);
	return fail_code();
}
