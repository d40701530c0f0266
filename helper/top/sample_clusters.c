// SPDX-License-Identifier: GPL-2.0-only
#include "top/sample_clusters.h"

#include <stdio.h>

#include "block/dm.h"
#include "cluster/peers_table.h"
#include "lib/error.h"
#include "lib/sanitize.h"

static void add_load(struct top_cluster *cluster, const struct peers_load *load)
{
	if (load->state == NEARCACHE_PEER_HERE) {
		cluster->here += load->bytes;
		return;
	}
	cluster->peer += load->bytes;
	cluster->errors += load->errors;
	cluster->peers++;
	cluster->up += load->state == NEARCACHE_PEER_UP;
}

/* Fill in the cluster device above a sampled cache. */
static void take_cluster(struct top_model *model, const struct dm_device *dev)
{
	struct peers_status status = { 0 };
	struct top_device *device = NULL;
	struct peers_table table = { 0 };
	size_t i;

	if (dev->table && dev->status && peers_table_parse(dev->table, &table) &&
	    peers_status_parse(dev->status, table.nodes, &status))
		device = model_device(model, peers_number(table.home));
	if (device) {
		snprintf(device->cluster.name, sizeof(device->cluster.name), "%s", dev->name);
		text_clean(device->cluster.name);
		for (i = 0; i < table.nodes; i++)
			add_load(&device->cluster, &status.load[i]);
	}
	peers_status_free(&status);
	peers_table_free(&table);
}

/* Samples the cluster devices above the caches of the model. */
int clusters_take(struct top_model *model)
{
	struct dm_device *list;
	size_t i, count;

	if (dm_all_clusters(&list, &count))
		return fail_code();
	for (i = 0; i < count; i++)
		take_cluster(model, &list[i]);
	dm_device_free_all(list, count);
	return fail_code();
}
