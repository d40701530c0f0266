// SPDX-License-Identifier: GPL-2.0-only
/* The cluster device of a join: create it, or change its nodes and options while it is in use. */
#include "cluster/joining.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "lib/error.h"

static int fill_nodes(const struct joining *joining, struct peers_node *node)
{
	size_t i;

	for (i = 0; i < joining->conf.nodes; i++) {
		const struct peer *peer = &joining->peers.peer[i];

		strcpy(node[i].name, peer->node->name);
		node[i].weight = peer->node->weight;
		strcpy(node[i].device, peer->device);
	}
	return 0;
}

/* Returns the wanted nodes for free(), or NULL after an error. */
static struct peers_node *wanted_nodes(const struct joining *joining)
{
	struct peers_node *node = calloc(joining->conf.nodes, sizeof(*node));

	if (node)
		fill_nodes(joining, node);
	else
		fail_memory();
	return node;
}

/* Returns the parameters of the device for free(), or NULL after an error. */
static char *wanted_table(const struct joining *joining)
{
	const struct cluster_conf *conf = &joining->conf;
	const struct dm_device *home = &joining->home.dev;
	struct peers_table table = {
		.extent = conf->extent,
		.replicas = conf->replicas,
		.node = wanted_nodes(joining),
		.nodes = conf->nodes,
		.stall_timeout = conf->stall_timeout,
		.bandwidth = conf->bandwidth,
	};
	char *text = NULL;

	snprintf(table.home, sizeof(table.home), "%u:%u", major(home->number),
		 minor(home->number));
	snprintf(table.origin, sizeof(table.origin), "%u:%u", major(home->origin),
		 minor(home->origin));
	strcpy(table.self, cluster_conf_self(conf)->name);
	if (table.node) {
		text = peers_table_print(&table);
		if (!text)
			fail_memory();
	}
	peers_table_free(&table);
	return text;
}

int join_create_device(struct joining *joining)
{
	const char *name = joining->request->name;
	char uuid[sizeof(DM_CLUSTER_PREFIX) + NAME_SIZE];
	struct dm_line line = {
		.target = DM_CLUSTER_TARGET,
		.bytes = joining->home.dev.size,
		.read_only = true,
	};
	char *params = wanted_table(joining);

	snprintf(uuid, sizeof(uuid), DM_CLUSTER_PREFIX "%s", name);
	line.params = params;
	if (params && !dm_activate(name, uuid, &line))
		joining->created = true;
	free(params);
	return fail_code();
}

static bool nodes_equal(const struct peers_table *table, const struct peers_node *node,
			size_t nodes)
{
	size_t i;

	if (table->nodes != nodes)
		return false;
	for (i = 0; i < nodes; i++)
		if (strcmp(table->node[i].name, node[i].name) ||
		    table->node[i].weight != node[i].weight ||
		    strcmp(table->node[i].device, node[i].device))
			return false;
	return true;
}

static int send_nodes(const struct joining *joining, const struct peers_node *node, size_t nodes)
{
	char *message = peers_message_print(node, nodes);

	if (message)
		dm_message(&joining->dev, message);
	else
		fail_memory();
	free(message);
	return fail_code();
}

/*
 * The device of a node whose connection is new may have the number of the old one, which the kernel
 * still holds: first take these devices away. Also take away those of nodes that leave or are
 * absent: they may be gone, and the kernel would refuse the whole message.
 */
static int drop_stale(struct joining *joining, const struct peers_node *wanted)
{
	const struct peers_table *table = &joining->table;
	struct peers_node *rest = calloc(table->nodes, sizeof(*rest));
	bool any = false;
	size_t i, w;

	if (!rest)
		return fail_memory();
	for (i = 0; i < table->nodes; i++) {
		rest[i] = table->node[i];
		for (w = 0; w < joining->conf.nodes && strcmp(wanted[w].name, rest[i].name); w++)
			;
		if (w < joining->conf.nodes && !joining->peers.peer[w].fresh &&
		    strcmp(wanted[w].device, PEERS_ABSENT))
			continue;
		any |= w < joining->conf.nodes && joining->peers.peer[w].fresh &&
		       strcmp(rest[i].device, PEERS_ABSENT);
		strcpy(rest[i].device, PEERS_ABSENT);
	}
	/* The table now has these nodes: a device with the old number is still to be sent. */
	if (any && !send_nodes(joining, rest, table->nodes))
		memcpy(table->node, rest, table->nodes * sizeof(*rest));
	free(rest);
	return fail_code();
}

/*
 * Take away the devices that are gone before connections are made: as long as the cluster device
 * holds such a device open, the kernel takes a new connection to the node for one to its old
 * subsystem, with the old model number.
 */
int join_drop_gone(struct joining *joining)
{
	struct peers_table *table = &joining->table;
	bool any = false;
	size_t i, p;

	if (!joining->exists)
		return 0;
	if (peers_look(&joining->peers))
		return fail_code();
	for (i = 0; i < table->nodes; i++) {
		struct peers_node *node = &table->node[i];

		for (p = 0; p < joining->conf.nodes &&
		     strcmp(joining->conf.node[p].name, node->name); p++)
			;
		if (!strcmp(node->device, PEERS_ABSENT) ||
		    (p < joining->conf.nodes &&
		     !strcmp(joining->peers.peer[p].device, node->device)))
			continue;
		strcpy(node->device, PEERS_ABSENT);
		any = true;
	}
	return any ? send_nodes(joining, table->node, table->nodes) : 0;
}

static int set_option(struct joining *joining, const char *option, uint64_t now, uint64_t wanted)
{
	char message[64];

	if (now == wanted)
		return 0;
	snprintf(message, sizeof(message), "set %s %llu", option, (unsigned long long)wanted);
	if (dm_message(&joining->dev, message))
		return fail_code();
	joining->changed = true;
	return 0;
}

static int change_nodes(struct joining *joining)
{
	struct peers_node *node = wanted_nodes(joining);

	if (node && !drop_stale(joining, node) &&
	    !nodes_equal(&joining->table, node, joining->conf.nodes) &&
	    !send_nodes(joining, node, joining->conf.nodes))
		joining->changed = true;
	free(node);
	return fail_code();
}

/* Change the nodes and the options of the device in use, without a suspend. */
int join_change_device(struct joining *joining)
{
	const struct peers_table *table = &joining->table;
	const struct cluster_conf *conf = &joining->conf;

	if (change_nodes(joining) ||
	    set_option(joining, "stall_timeout", table->stall_timeout, conf->stall_timeout))
		return fail_code();
	return set_option(joining, "bandwidth", table->bandwidth, conf->bandwidth);
}
