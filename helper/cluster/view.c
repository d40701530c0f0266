// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/view.h"

#include <stdio.h>
#include <string.h>

#include "cluster/home.h"
#include "lib/error.h"

/* Read record and configuration, and look at the connections; a failure is kept in @why. */
static void take_conf(struct view *view)
{
	struct joined *joined = &view->joined;

	if (!joined_read(joined, view->dev->name) && !joined->found)
		snprintf(view->why, sizeof(view->why),
			 "there is no record of its join: 'nearcache cluster join %s' writes one",
			 view->dev->name);
	else if (!fail_code() &&
		 !cluster_conf_read(&view->conf, joined->config, joined->self, &joined->known) &&
		 !peers_init(&view->peers, &view->conf, joined->volume) &&
		 !peers_look(&view->peers))
		view->configured = true;
	else
		snprintf(view->why, sizeof(view->why), "%s", fail_message());
	fail_reset();
}

/*
 * Read table, status, record and connections of a device. Only a table that cannot be parsed is an
 * error. view_free() is needed.
 */
int view_take(struct view *view, const struct dm_device *dev)
{
	memset(view, 0, sizeof(*view));
	view->dev = dev;
	if (!dev->table || !peers_table_parse(dev->table, &view->table))
		return fail(CODE_DEVICE,
			    "the table of '%s' cannot be parsed ('%s'): the kernel module is newer than this command",
			    dev->name, dev->table ? dev->table : "");
	if (dev->status)
		peers_status_parse(dev->status, view->table.nodes, &view->status);
	take_conf(view);
	return 0;
}

void view_free(struct view *view)
{
	peers_free(&view->peers);
	cluster_conf_free(&view->conf);
	joined_free(&view->joined);
	peers_status_free(&view->status);
	peers_table_free(&view->table);
}

/* Returns a node of the configuration by name, or NULL. */
const struct peer *view_peer(const struct view *view, const char *node)
{
	size_t i;

	for (i = 0; view->configured && i < view->conf.nodes; i++)
		if (!strcmp(view->conf.node[i].name, node))
			return &view->peers.peer[i];
	return NULL;
}

/* Look up a device that must be a cluster device. After success dm_device_free() is needed. */
int view_need_device(const char *name, struct dm_device *dev)
{
	bool found;

	if (home_check_name(name) || dm_find(name, dev, &found))
		return fail_code();
	if (found && dev->cluster)
		return 0;
	dm_device_free(dev);
	if (found)
		return fail(CODE_DEVICE, "device '%s' is no cluster device: 'nearcache status %s' shows a cache",
			    name, name);
	return fail(CODE_DEVICE,
		    "there is no cluster device '%s': 'nearcache cluster join %s' makes it", name, name);
}
