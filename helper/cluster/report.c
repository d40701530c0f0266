// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/report.h"

#include <stdio.h>
#include <string.h>

#include "block/status_line.h"
#include "cluster/home.h"
#include "cluster/view.h"
#include "lib/error.h"
#include "lib/print.h"
#include "ondisk/print_superblock.h"

static uint64_t extents_of(const struct view *view)
{
	uint64_t extent = view->table.extent;

	return extent ? (view->dev->size + extent - 1) / extent : 0;
}

static void print_device(const struct view *view)
{
	const struct dm_device *dev = view->dev;
	const struct joined *joined = &view->joined;
	char path[160];

	snprintf(path, sizeof(path), "/dev/mapper/%s", dev->name);
	print_string("name", NULL, dev->name);
	print_string("device", "device", path);
	print_string("cluster", "cluster", joined->found ? joined->cluster : NULL);
	print_string("config", "configuration", joined->found ? joined->config : NULL);
	print_string("node", "local node", view->table.self);
	print_string("volume", "volume UUID", joined->found ? joined->volume : NULL);
	print_bytes("size", "size", dev->size);
	print_bytes("extent", "extent", view->table.extent);
	print_number("extents", "extents", extents_of(view));
	print_number("replicas", "replicas", view->table.replicas);
	print_milliseconds("stall_timeout_ms", "stall timeout", view->table.stall_timeout);
	print_bytes("bandwidth", view->table.bandwidth ? "bandwidth per second" : NULL,
		    view->table.bandwidth);
	print_flag("suspended", dev->suspended ? "suspended" : NULL, dev->suspended);
	print_number("open_count", NULL, dev->open_count);
}

static void print_latency(const char *key, const char *label, uint64_t ns)
{
	if (ns) {
		print_nanoseconds(key, label, ns);
		return;
	}
	print_string(NULL, label, NULL);
	print_number(key, NULL, 0);
}

/* Bytes served by the local node's cache, and by all peers. */
static void print_parts(const struct view *view)
{
	uint64_t here = 0, peers = 0;
	size_t i;

	for (i = 0; view->status.load && i < view->table.nodes; i++)
		if (view->status.load[i].state == NEARCACHE_PEER_HERE)
			here += view->status.load[i].bytes;
		else
			peers += view->status.load[i].bytes;
	print_bytes("here_bytes", "read here", here);
	print_bytes("peer_bytes", "read at peers", peers);
	print_ratio("peer_ratio", "part of peers", peers, here + peers);
	print_latency("origin_latency_ns", view->status.origin_latency ? "origin latency" : NULL,
		      view->status.origin_latency);
	print_number("reads_waited", view->table.bandwidth ? "reads that waited" : NULL,
		     view->status.waited);
}

static const char *address_of(const struct peer *peer, char *text)
{
	if (!peer)
		return NULL;
	return cluster_node_place(peer->node, text);
}

static void print_nodes(const struct view *view)
{
	static const struct peers_load unknown = { .state = UINT64_MAX };
	uint64_t share[NEARCACHE_CLUSTER_NODES_MAX], counted;
	char address[CLUSTER_PLACE];
	size_t i;

	peers_shares(view->table.node, view->table.nodes, extents_of(view), share, &counted);
	print_main_table("nodes");
	for (i = 0; i < view->table.nodes; i++) {
		const struct peers_node *node = &view->table.node[i];
		const struct peers_load *load = view->status.load ? &view->status.load[i] : &unknown;
		const struct peer *peer = view_peer(view, node->name);
		bool connected = peer && *peer->state.device;

		print_record(NULL, NULL);
		print_string("name", "node", node->name);
		print_string("address", "address", address_of(peer, address));
		print_string("state", "state", peers_state_word(load->state));
		print_number("weight", "weight", node->weight);
		print_ratio("share", "extents", share[i], counted);
		print_bytes("bytes", "read", load->bytes);
		print_latency("latency_ns", "latency", load->latency);
		print_number("errors", "errors", load->errors);
		/* The end of a read here is not counted. */
		print_number("reads_in_flight", NULL,
			     load->state == NEARCACHE_PEER_HERE ? 0 : load->begun - load->ended);
		print_string("device", "device", connected ? peer->state.device : NULL);
		print_string("controller", NULL, connected ? peer->state.controller : NULL);
		print_string("nqn", NULL, peer ? peer->nqn : NULL);
		print_end();
	}
	print_end();
}

static void print_problem(const char *node, const char *text)
{
	print_record(NULL, NULL);
	print_string("node", "node", node);
	print_reason("problem", "problem", text);
	print_end();
}

/* Print the problem of a node of the table and its remedy to @text. Returns false: no problem. */
static bool find_problem(const struct view *view, size_t i, char *text, size_t size)
{
	const struct peers_node *node = &view->table.node[i];
	const struct peer *peer = view_peer(view, node->name);
	uint64_t state = view->status.load ? view->status.load[i].state : NEARCACHE_PEER_UP;
	const char *name = view->dev->name;

	if (view->configured && !peer) {
		snprintf(text, size,
			 "'%s' does not name it any more: 'nearcache cluster join %s' takes it out",
			 view->conf.path, name);
	} else if (!strcmp(node->name, view->table.self)) {
		return false;
	} else if (peer && peer->refused) {
		snprintf(text, size, "%s", peer->why);
	} else if (peer && !peer->state.connected && !*peer->node->address) {
		snprintf(text, size, "%s", peer->why);
	} else if (peer && !peer->state.connected) {
		snprintf(text, size,
			 "it is not connected: once '%s' port %u answers, 'nearcache cluster join %s' connects it",
			 peer->node->address, peer->node->port, name);
	} else if (peer && !peer->state.live) {
		snprintf(text, size,
			 "its connection '%s' is lost: the kernel tries again each second; see network and power of the node",
			 peer->state.controller);
	} else if (peer && *peer->why) {
		snprintf(text, size, "%s", peer->why);
	} else if (peer && peer_has_moved(peer)) {
		snprintf(text, size,
			 "it is connected at %s, but '%s' gives it another address: 'nearcache cluster join %s' connects it there",
			 peer->state.address, view->conf.path, name);
	} else if (peer && peer->node->weight != node->weight) {
		snprintf(text, size,
			 "'%s' gives it another weight: 'nearcache cluster join %s' applies it",
			 view->conf.path, name);
	} else if (peer && strcmp(peer->device, node->device)) {
		snprintf(text, size,
			 "it is connected at '%s', but the device uses %s: 'nearcache cluster join %s'",
			 peer->state.device,
			 strcmp(node->device, PEERS_ABSENT) ? "a stale device" : "no connection",
			 name);
	} else if (state == NEARCACHE_PEER_FAILED || state == NEARCACHE_PEER_PROBING) {
		snprintf(text, size,
			 "it does not answer reads: it is probed every 1 to 8 seconds, and used again after two answers; see 'nearcache status' there");
	} else if (state == NEARCACHE_PEER_SLOW) {
		snprintf(text, size,
			 "it takes over twice as long as the origin: its extents are read at the next homes until it is about as fast; see its load, its network, and 'nearcache status' there");
	} else if (peer && *peer->differs) {
		snprintf(text, size, "%s", peer->differs);
	} else if (state == NEARCACHE_PEER_ABSENT) {
		snprintf(text, size, "it is not connected: 'nearcache cluster join %s'", name);
	} else {
		return false;
	}
	return true;
}

/* The cache of this node may be missing its cache device: then all reads here go to the origin. */
static void print_home_problem(const struct view *view)
{
	char home[NAME_SIZE], text[512];
	struct status status;
	struct dm_device dev;
	bool found;

	if (dm_find(home_name(view->dev->name, home), &dev, &found) || !found || !dev.ours) {
		fail_reset();
		snprintf(text, sizeof(text), "its cache '%s' is gone or renamed", home);
		print_problem(view->table.self, text);
	} else if (!describe_status(&dev, &status) &&
		   status.field[NEARCACHE_FIELD_STATE] != NEARCACHE_NORMAL) {
		snprintf(text, sizeof(text), "its cache '%s' is in state %s: see 'nearcache status %s'",
			 home, describe_state(&dev, &status), home);
		print_problem(view->table.self, text);
	}
	fail_reset();
	dm_device_free(&dev);
}

/* Settings of the file other than nodes. */
static void print_settings_problem(const struct view *view)
{
	const struct cluster_conf *conf = &view->conf;
	const struct peers_table *table = &view->table;
	char text[PATH_MAX + 512];

	if (conf->extent != table->extent || conf->replicas != table->replicas)
		snprintf(text, sizeof(text),
			 "'%s' has another extent or replicas than the device: 'nearcache cluster leave %s', then join again, applies them",
			 conf->path, view->dev->name);
	else if (conf->stall_timeout != table->stall_timeout ||
		 conf->bandwidth != table->bandwidth)
		snprintf(text, sizeof(text),
			 "'%s' has another stall-timeout or bandwidth: 'nearcache cluster join %s' applies it",
			 conf->path, view->dev->name);
	else
		return;
	print_problem(table->self, text);
}

static void print_problems(const struct view *view)
{
	char text[PEER_WHY + PATH_MAX];
	size_t i;

	print_table("problems");
	if (view->configured)
		print_settings_problem(view);
	else
		print_problem(NULL, view->why);
	print_home_problem(view);
	for (i = 0; i < view->table.nodes; i++)
		if (find_problem(view, i, text, sizeof(text)))
			print_problem(view->table.node[i].name, text);
	for (i = 0; view->configured && i < view->conf.nodes; i++) {
		if (peers_table_node(&view->table, view->conf.node[i].name))
			continue;
		snprintf(text, sizeof(text), "it is new in '%s': 'nearcache cluster join %s' adds it",
			 view->conf.path, view->dev->name);
		print_problem(view->conf.node[i].name, text);
	}
	print_end();
}

static int describe_cluster(const struct dm_device *dev)
{
	struct view view;

	print_record(NULL, dev->name);
	if (!view_take(&view, dev)) {
		print_device(&view);
		print_parts(&view);
		print_nodes(&view);
		print_problems(&view);
	}
	view_free(&view);
	print_end();
	return fail_code();
}

/*
 * Print the state of a cluster device; NULL: of all. In JSON, one device is at the top level, all
 * are in a list.
 */
int cluster_status(const char *name)
{
	struct dm_device dev, *list;
	size_t i, count;

	if (name) {
		if (view_need_device(name, &dev))
			return fail_code();
		describe_cluster(&dev);
		dm_device_free(&dev);
		return fail_code();
	}
	if (dm_all_clusters(&list, &count))
		return fail_code();
	print_list("devices");
	for (i = 0; i < count && !fail_code(); i++)
		describe_cluster(&list[i]);
	print_end();
	dm_device_free_all(list, count);
	return fail_code();
}
