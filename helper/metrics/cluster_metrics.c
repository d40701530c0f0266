// SPDX-License-Identifier: GPL-2.0-only
#include "metrics/cluster_metrics.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "block/dm.h"
#include "cluster/peers_table.h"
#include "lib/error.h"

/* A cluster device, its parsed table and status. */
struct cluster {
	const struct dm_device *dev;
	struct peers_table table;
	struct peers_status status;
};

struct clusters {
	struct cluster *cluster;
	size_t count;
};

/*
 * A metric, whose value is a uint64_t divided by @divisor. @offset: its place in the struct peers_load
 * of each node, or in struct peers_status.
 */
struct cluster_metric {
	enum metric kind;
	const char *name;
	const char *unit;
	const char *help;
	size_t offset;
	double divisor;
};

static const struct cluster_metric node_metrics[] = {
	{ METRIC_COUNTER, "cluster_reads", "", "reads that the node sent to this node of its cluster",
	  offsetof(struct peers_load, begun), 1 },
	{ METRIC_COUNTER, "cluster_read_bytes", "bytes", "bytes read at this node",
	  offsetof(struct peers_load, bytes), 1 },
	{ METRIC_COUNTER, "cluster_read_errors", "",
	  "reads that failed at this node, and were sent to another one",
	  offsetof(struct peers_load, errors), 1 },
	{ METRIC_GAUGE, "cluster_read_latency_seconds", "seconds",
	  "mean time of a read at this peer, 0 if unknown",
	  offsetof(struct peers_load, latency), 1e9 },
};

static const struct cluster_metric device_metrics[] = {
	{ METRIC_GAUGE, "cluster_origin_latency_seconds", "seconds",
	  "mean time of a read at the origin, 0 if unknown",
	  offsetof(struct peers_status, origin_latency), 1e9 },
	{ METRIC_COUNTER, "cluster_reads_waited", "",
	  "reads that waited for the bandwidth of the cluster device",
	  offsetof(struct peers_status, waited), 1 },
};

static double value_of(const struct cluster_metric *metric, const void *values)
{
	const char *value = (const char *)values + metric->offset;

	return (double)*(const uint64_t *)value / metric->divisor;
}

static void write_node_metric(struct exposition *e, const struct clusters *all,
			      const struct cluster_metric *metric)
{
	size_t c, i;

	exposition_family(e, metric->kind, metric->name, metric->unit, metric->help);
	for (c = 0; c < all->count; c++) {
		const struct cluster *cluster = &all->cluster[c];

		for (i = 0; i < cluster->table.nodes; i++) {
			const struct label_pair labels[] = {
				{ "device", cluster->dev->name },
				{ "node", cluster->table.node[i].name },
				{ NULL, NULL },
			};

			exposition_value(e, labels,
					 value_of(metric, &cluster->status.load[i]));
		}
	}
}

/* As the states of caches: 1 for the current state of a node and 0 for the others. */
static void write_node_states(struct exposition *e, const struct clusters *all)
{
	uint64_t state;
	size_t c, i;

	exposition_family(e, METRIC_GAUGE, "cluster_node_state", "",
			  "1 for the current state of a node of the cluster, 0 for the others");
	for (c = 0; c < all->count; c++)
		for (i = 0; i < all->cluster[c].table.nodes; i++)
			for (state = 0; state <= NEARCACHE_PEER_SLOW; state++) {
				const struct label_pair labels[] = {
					{ "device", all->cluster[c].dev->name },
					{ "node", all->cluster[c].table.node[i].name },
					{ "state", peers_state_word(state) },
					{ NULL, NULL },
				};

				exposition_value(e, labels,
						 all->cluster[c].status.load[i].state == state);
			}
}

static void write_device_metric(struct exposition *e, const struct clusters *all,
				const struct cluster_metric *metric)
{
	size_t c;

	exposition_family(e, metric->kind, metric->name, metric->unit, metric->help);
	for (c = 0; c < all->count; c++) {
		const struct label_pair labels[] = {
			{ "device", all->cluster[c].dev->name }, { NULL, NULL },
		};

		exposition_value(e, labels, value_of(metric, &all->cluster[c].status));
	}
}

static void write_metrics(struct exposition *e, const struct clusters *all)
{
	size_t i;

	write_node_states(e, all);
	for (i = 0; i < sizeof(node_metrics) / sizeof(*node_metrics); i++)
		write_node_metric(e, all, &node_metrics[i]);
	for (i = 0; i < sizeof(device_metrics) / sizeof(*device_metrics); i++)
		write_device_metric(e, all, &device_metrics[i]);
}

/* Take a device. Returns false if it has no live table, or one that cannot be parsed. */
static bool take_cluster(struct cluster *cluster, const struct dm_device *dev)
{
	cluster->dev = dev;
	if (!dev->live || !dev->table || !dev->status)
		return false;
	if (peers_table_parse(dev->table, &cluster->table) &&
	    peers_status_parse(dev->status, cluster->table.nodes, &cluster->status))
		return true;
	peers_table_free(&cluster->table);
	return false;
}

/*
 * Writes the metrics of all cluster devices with a live table. Returns 0, or an exit code after
 * recording an error with fail().
 */
int cluster_metrics_write(struct exposition *exposition)
{
	struct clusters all = { 0 };
	struct dm_device *list;
	size_t i, count;

	if (dm_all_clusters(&list, &count))
		return fail_code();
	all.cluster = calloc(count + 1, sizeof(*all.cluster));
	for (i = 0; all.cluster && i < count; i++)
		all.count += take_cluster(&all.cluster[all.count], &list[i]);
	if (!all.cluster)
		fail_memory();
	else if (all.count)
		write_metrics(exposition, &all);
	for (i = 0; i < all.count; i++) {
		peers_table_free(&all.cluster[i].table);
		peers_status_free(&all.cluster[i].status);
	}
	free(all.cluster);
	dm_device_free_all(list, count);
	return fail_code();
}
