// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "block/parallel_devices.h"
#include "cluster/disconnect.h"
#include "lib/error.h"
#include "lib/periodic_wait.h"
#include "lib/print.h"

/* Longest wait for all connections, seconds; they are made at the same time. */
#define CONNECT_SECONDS	30U
#define SECOND		1000000000ULL

static void describe_link(struct peers *peers, struct peer *peer)
{
	const struct cluster_conf *conf = peers->conf;

	peer->link = (struct link){
		.nqn = peer->nqn,
		.host_nqn = peers->host_nqn,
		.host_id = peers->host_id,
		.transport = conf->transport,
		.address = peer->node->address,
		.port = peer->node->port,
		.keep_alive = conf->keep_alive,
		.fast_io_fail = conf->fast_io_fail,
		.data_digest = conf->data_digest,
		.tls = conf->tls,
		.secret = *conf->secret ? conf->secret : NULL,
	};
}

/* Compute the names of all nodes. @volume: UUID of the volume. peers_free() is needed. */
int peers_init(struct peers *peers, const struct cluster_conf *conf, const char *volume)
{
	size_t i;

	memset(peers, 0, sizeof(*peers));
	peers->conf = conf;
	peers->peer = calloc(conf->nodes, sizeof(*peers->peer));
	if (!peers->peer)
		return fail_memory();
	cluster_host_names(conf->name, cluster_conf_self(conf)->name, volume, peers->host_nqn,
			   peers->host_id);
	for (i = 0; i < conf->nodes; i++) {
		struct peer *peer = &peers->peer[i];

		peer->node = &conf->node[i];
		peer->self = i == conf->self;
		cluster_subsystem_nqn(conf->name, peer->node->name, peer->nqn);
		cluster_namespace_uuid(volume, peer->node->name, peer->uuid);
		strcpy(peer->device, PEERS_ABSENT);
		if (!peer->self)
			describe_link(peers, peer);
	}
	return 0;
}

void peers_free(struct peers *peers)
{
	free(peers->peer);
	peers->peer = NULL;
}

/* Set @device to the number of the connection's device, or say in @why that there is none. */
static void take_device(struct peer *peer)
{
	struct stat st;

	strcpy(peer->device, PEERS_ABSENT);
	if (!peer->state.connected)
		return;
	if (!*peer->state.device || stat(peer->state.device, &st) || !S_ISBLK(st.st_mode)) {
		snprintf(peer->why, sizeof(peer->why),
			 "connected as '%s', but it shows no volume: does it run 'nearcache cluster join'?",
			 peer->state.controller);
		return;
	}
	peer->refused = strcmp(peer->state.uuid, peer->uuid);
	if (peer->refused) {
		snprintf(peer->why, sizeof(peer->why),
			 "it serves another volume, or another version of it (UUID %s, not %s): compare origin and --dataset-version of the caches on both nodes",
			 peer->state.uuid, peer->uuid);
		return;
	}
	snprintf(peer->device, sizeof(peer->device), "%u:%u", major(st.st_rdev),
		 minor(st.st_rdev));
}

/*
 * Compare the settings on which all nodes have to agree. Nodes that differ read extents at other
 * homes, which costs reads of the origin. An older version shows no settings.
 */
static void compare_settings(const struct peers *peers, struct peer *peer)
{
	char model[CLUSTER_MODEL];

	cluster_conf_model(peers->conf, model);
	*peer->differs = '\0';
	if (peer->state.connected && !strncmp(peer->state.model, "nearcache extent=", 17) &&
	    strcmp(peer->state.model, model))
		snprintf(peer->differs, sizeof(peer->differs),
			 "it joined with %s, this node has %s: the origin is read more often than necessary until all nodes have the same: leave and join where they are wrong",
			 strchr(peer->state.model, ' ') + 1, strchr(model, ' ') + 1);
}

static int look_at_peer(const struct peers *peers, struct peer *peer)
{
	memset(&peer->state, 0, sizeof(peer->state));
	*peer->why = '\0';
	peer->refused = false;
	if (link_find(&peer->link, &peer->state))
		return fail_code();
	take_device(peer);
	compare_settings(peers, peer);
	return 0;
}

/* Find the connections that exist. */
int peers_look(struct peers *peers)
{
	size_t i;

	for (i = 0; i < peers->conf->nodes; i++) {
		struct peer *peer = &peers->peer[i];

		if (peer->self)
			continue;
		if (look_at_peer(peers, peer))
			return fail_code();
		if (!peer->state.connected && !*peer->node->address)
			snprintf(peer->why, sizeof(peer->why),
				 "its address '%s' cannot be resolved: %s; see 'getent ahosts %s'",
				 peer->node->host, peer->node->why, peer->node->host);
		else if (!peer->state.connected)
			strcpy(peer->why, "not connected");
	}
	return 0;
}

/*
 * The kernel cannot be interrupted while it waits for a node that accepts the TCP connection and then
 * hangs, for up to a minute. Once join waits no longer, this process must not leave a connection.
 */
static int connect_job(const struct many_job *job)
{
	const struct peer *peer = job->data;
	struct link_state state;

	/* An earlier process hung, and held the lock for this node until now. */
	if (watch_now() >= peer->end)
		return fail(CODE_BUSY, "an earlier attempt to connect it still waits");
	if (!link_connect(&peer->link, &state) && watch_now() >= peer->end)
		link_disconnect(peer->nqn);
	return fail_code();
}

/* True if the connection is to another address than that of the node's line. */
bool peer_has_moved(const struct peer *peer)
{
	char wanted[sizeof(peer->state.address)];

	return peer->state.connected && *peer->node->address &&
	       strcmp(peer->state.address, link_address(&peer->link, wanted));
}

/*
 * True if an attempt to connect the peer is necessary, and possible. The daemon (@again) leaves a
 * live connection alone if only the address of a host name is another one: an answer of a name
 * server may lack addresses.
 */
static bool needs_connection(const struct peer *peer, bool again)
{
	const struct cluster_node *node = peer->node;

	if (peer->self || !*node->address)
		return false;
	return !peer->state.live ||
	       (peer_has_moved(peer) && (!again || !strcmp(node->host, node->address)));
}

static bool is_skipped(const struct peers *peers, const struct peer *peer)
{
	const char *at = peers->skip, *name = peer->node->name;
	size_t length = strlen(name);

	while (at && (at = strchr(at, ' ')))
		if (!strncmp(++at, name, length) && strchr(" ", at[length]))
			return true;
	return false;
}

/* Take the result of connect_job() of a peer. */
static int take_connection(const struct peers *peers, struct peer *peer, const struct many_job *job)
{
	const struct link_state before = peer->state;

	if (look_at_peer(peers, peer))
		return fail_code();
	peer->fresh = peer->state.connected &&
		      (!before.connected || strcmp(before.address, peer->state.address));
	peer->refused |= !peer->state.connected && job->code == CODE_PERMISSION;
	if (peer_has_moved(peer) && *job->message)
		warn("node '%s' is still connected at %s: %s", peer->node->name,
		     peer->state.address, job->message);
	if (!peer->state.connected && job->late)
		snprintf(peer->why, sizeof(peer->why),
			 "it accepts connections, but does not answer for %u seconds: does the node hang? See dmesg on both nodes",
			 job->seconds);
	else if (!peer->state.connected)
		snprintf(peer->why, sizeof(peer->why), "%s",
			 *job->message ? job->message : "the connection was lost at once");
	return 0;
}

/* Disconnect the peers for which @wanted is true, all at the same time. */
static int disconnect_peers(struct peers *peers, bool (*wanted)(const struct peer *peer))
{
	const char **node = calloc(peers->conf->nodes, sizeof(*node));
	size_t i, count = 0;

	if (!node)
		return fail_memory();
	for (i = 0; i < peers->conf->nodes; i++) {
		struct peer *peer = &peers->peer[i];

		if (!wanted(peer))
			continue;
		node[count++] = peer->node->name;
		memset(&peer->state, 0, sizeof(peer->state));
	}
	cluster_disconnect(peers->conf->name, node, count);
	free(node);
	return fail_code();
}

static bool is_refused(const struct peer *peer)
{
	return peer->refused && peer->state.connected;
}

/* Disconnect the peers that serve another volume, after no table names their devices any more. */
int peers_disconnect_refused(struct peers *peers)
{
	return disconnect_peers(peers, is_refused);
}

static bool is_fresh(const struct peer *peer)
{
	return peer->fresh;
}

/* Disconnect the peers that this run has connected. */
int peers_disconnect_fresh(struct peers *peers)
{
	return disconnect_peers(peers, is_fresh);
}

/*
 * Connect all peers that are not connected, or at another address than wanted, at the same time, so
 * that absent ones cost one timeout. A connection stays until the node answers at the new address.
 * A peer that does not answer is no error; its @why says why.
 */
int peers_connect(struct peers *peers)
{
	size_t i, count = peers->conf->nodes;
	struct many_job *job = calloc(count, sizeof(*job));
	char (*name)[CLUSTER_NQN_SIZE + 8] = calloc(count, sizeof(*name));

	if (!job || !name) {
		free(job);
		free(name);
		return fail_memory();
	}
	if (!peers_look(peers)) {
		size_t jobs = 0;

		for (i = 0; i < count; i++) {
			struct peer *peer = &peers->peer[i];

			if (!needs_connection(peer, peers->skip))
				continue;
			peer->skipped = is_skipped(peers, peer);
			if (peer->skipped)
				continue;
			/*
			 * many_run() locks this name. It has a blank, so it is no name of a device,
			 * and the NQN, because nodes of two clusters may have one name.
			 */
			snprintf(name[jobs], sizeof(*name), "node %s", peer->nqn);
			job[jobs].name = name[jobs];
			job[jobs].data = peer;
			peer->end = watch_now() + CONNECT_SECONDS * SECOND;
			job[jobs++].seconds = CONNECT_SECONDS;
		}
		many_run(job, jobs, connect_job);
		for (i = 0; i < jobs && !fail_code(); i++)
			take_connection(peers, (struct peer *)job[i].data, &job[i]);
	}
	free(job);
	free(name);
	return fail_code();
}
