// SPDX-License-Identifier: GPL-2.0-only
/* Print the result of a join. */
#include "cluster/joining.h"

#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "lib/print.h"

static void report_nodes(const struct joining *joining)
{
	size_t i;

	print_table("nodes");
	for (i = 0; i < joining->conf.nodes; i++) {
		const struct peer *peer = &joining->peers.peer[i];
		const char *state = peer->self ? "here" :
				    peer->refused ? "refused" :
				    strcmp(peer->device, PEERS_ABSENT) ? "connected" :
				    joining->request->dry_run ? "would connect" : "absent";
		char address[CLUSTER_PLACE];

		cluster_node_place(peer->node, address);
		print_record(NULL, NULL);
		print_string("name", "node", peer->node->name);
		print_string("address", "address", address);
		print_number("weight", "weight", peer->node->weight);
		print_string("state", "state", state);
		print_string("device", "connected at",
			     *peer->state.device ? peer->state.device : NULL);
		print_string("nqn", NULL, peer->nqn);
		if (*peer->why)
			print_reason("reason", NULL, peer->why);
		else
			print_string("reason", NULL, NULL);
		print_end();
		if (!peer->self && !joining->request->dry_run && *peer->why && !peer->skipped)
			warn("node '%s' at %s is %s: %s", peer->node->name, address, state,
			     peer->why);
		if (*peer->differs)
			warn("node '%s' at %s has other settings: %s", peer->node->name, address,
			     peer->differs);
	}
	print_end();
}

static void report_left(const struct joining *joining)
{
	const struct joined *before = &joining->before;
	size_t i;

	print_table("left");
	for (i = 0; i < before->nodes; i++) {
		if (joined_has(&joining->after, before->node[i]))
			continue;
		print_record(NULL, NULL);
		print_string("name", joining->request->dry_run ? "would disconnect" :
							       "disconnected", before->node[i]);
		print_end();
	}
	print_end();
}

void join_report(const struct joining *joining)
{
	const struct cluster_conf *conf = &joining->conf;
	bool dry_run = joining->request->dry_run;
	const char *verb = joining->exists ? "change nodes of" : "create";
	char path[160];

	snprintf(path, sizeof(path), "/dev/mapper/%s", joining->request->name);
	print_string("name", NULL, joining->request->name);
	print_string("device", dry_run ? NULL : "device", path);
	print_string(NULL, dry_run ? "would" : NULL, verb);
	print_string("cluster", "cluster", conf->name);
	print_string("config", "configuration", conf->path);
	print_string("node", "local node", cluster_conf_self(conf)->name);
	print_string("cache", "exported cache", joining->home.dev.name);
	print_string("volume", "volume UUID", joining->home.volume);
	print_bytes("size", "size", joining->home.dev.size);
	print_bytes("extent", "extent", conf->extent);
	print_number("replicas", "replicas", conf->replicas);
	print_flag("created", NULL, joining->created);
	print_flag("changed", NULL, joining->changed);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	warm_print(&joining->warming, joining->request->warm == JOIN_WARM_ALL && !dry_run);
	report_nodes(joining);
	report_left(joining);
}
