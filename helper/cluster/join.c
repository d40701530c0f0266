// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/join.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "block/dm_remove.h"
#include "block/signals.h"
#include "cluster/disconnect.h"
#include "cluster/home.h"
#include "cluster/joined.h"
#include "cluster/peers.h"
#include "cluster/warm.h"
#include "lib/error.h"
#include "lib/path.h"
#include "lib/print.h"
#include "lib/size.h"
#include "ondisk/print_superblock.h"

/*
 * @before: the record of an earlier join
 * @after: the new record
 * @both: the record while this run works: as @after, and the nodes of @before
 * @table: the present table of the cluster device, if @exists
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

static int refuse_change(const struct joining *joining, const char *what, const char *now,
			 const char *wanted)
{
	return fail(CODE_BUSY,
		    "device '%s' has %s %s, but '%s' says %s: this cannot change while the device is in use: 'nearcache cluster leave %s', then join again",
		    joining->request->name, what, now, joining->conf.path, wanted,
		    joining->request->name);
}

/* The local node, extent and replicas of a device in use cannot change. */
static int check_table(const struct joining *joining)
{
	const struct peers_table *table = &joining->table;
	const struct cluster_conf *conf = &joining->conf;
	const char *self = cluster_conf_self(conf)->name;
	char text[2][SIZE_TEXT];

	if (strcmp(table->self, self))
		return refuse_change(joining, "the local node", table->self, self);
	if (table->extent != conf->extent)
		return refuse_change(joining, "extents of", size_print(table->extent, text[0]),
				     size_print(conf->extent, text[1]));
	if (table->replicas == conf->replicas)
		return 0;
	snprintf(text[0], sizeof(text[0]), "%u", table->replicas);
	snprintf(text[1], sizeof(text[1]), "%u", conf->replicas);
	return refuse_change(joining, "replicas", text[0], text[1]);
}

/* Remove a device without a table: a run was killed while it created the device. */
static int remove_half_made(struct joining *joining)
{
	joining->exists = false;
	if (joining->request->dry_run)
		return 0;
	warn("device '%s' was incomplete, without a table: it was removed", joining->dev.name);
	return dm_remove(joining->dev.name);
}

static int look_at_device(struct joining *joining)
{
	const char *name = joining->request->name;
	struct dm_device *dev = &joining->dev;

	if (dm_find(name, dev, &joining->exists))
		return fail_code();
	if (!joining->exists)
		return 0;
	if (!dev->live && !dev->open_count && dm_uuid_is_cluster(dev->uuid))
		return remove_half_made(joining);
	if (!dev->cluster)
		return fail(CODE_BUSY,
			    "a device-mapper device '%s' exists that is no cluster device: close it, or choose another name",
			    name);
	if (!peers_table_parse(dev->table, &joining->table))
		return fail(CODE_DEVICE,
			    "the table of '%s' cannot be parsed ('%s'): the kernel module is newer than this command",
			    name, dev->table);
	if (dm_need_running(dev))
		return fail_code();
	return check_table(joining);
}

/*
 * Nodes that disagree on these settings cannot connect to each other at all, and a connection
 * without a secret would stay when a secret is required: change them on all nodes while none has
 * joined. A record of an older version does not contain them.
 */
static int check_settings(const struct joining *joining)
{
	const struct joined_settings *before = &joining->before.settings;
	const struct joined_settings *after = &joining->after.settings;
	const struct {
		const char *name;
		const char *before;
		const char *after;
	} row[] = {
		{ "transport =", before->transport, after->transport },
		{ "tls =", before->tls, after->tls },
		{ "authentication by secret-file =", before->secret, after->secret },
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (*row[i].before && strcmp(row[i].before, row[i].after))
			return refuse_change(joining, row[i].name, row[i].before, row[i].after);
	return 0;
}

/* True if the kernel shows a connection with other timers than those of the configuration. */
static bool timers_differ(struct joining *joining)
{
	const struct peer *peer = joining->peers.peer;
	size_t i;

	if (peers_look(&joining->peers))
		return false;
	for (i = 0; i < joining->conf.nodes; i++)
		if (!peer[i].self && link_timers_differ(&peer[i].link, &peer[i].state))
			return true;
	return false;
}

/*
 * True if a connection of an earlier join may have other settings, or the host NQN of another volume.
 * A record of an older version does not contain the settings, and the kernel shows only the timers.
 */
static bool connections_differ(struct joining *joining)
{
	const struct joined_settings *before = &joining->before.settings;
	const struct joined_settings *after = &joining->after.settings;

	if (!joining->before.found)
		return false;
	if (strcmp(joining->before.volume, joining->home.volume))
		return true;
	if (!*before->transport)
		return timers_differ(joining);
	return strcmp(before->keep_alive, after->keep_alive) ||
	       strcmp(before->fast_io_fail, after->fast_io_fail) ||
	       strcmp(before->data_digest, after->data_digest);
}

/* Another device must not export the same subsystem. */
static int check_others(const struct joining *joining)
{
	const char *self = cluster_conf_self(&joining->conf)->name;
	struct joined *list;
	size_t i, count;

	joined_all(&list, &count);
	for (i = 0; i < count && !fail_code(); i++) {
		if (*list[i].why)
			warn("the record of cluster device '%s' is not compared with this one: %s",
			     list[i].name, list[i].why);
		else if (strcmp(list[i].name, joining->request->name) &&
			 !strcmp(list[i].cluster, joining->conf.name) &&
			 !strcmp(list[i].self, self))
			fail(CODE_BUSY,
			     "device '%s' is node '%s' of cluster '%s' already: a cluster shares one volume: give another one its own file with another name behind 'cluster ='",
			     list[i].name, self, joining->conf.name);
	}
	joined_free_all(list, count);
	return fail_code();
}

/*
 * A device keeps its cluster and its node until it leaves. Its volume has another UUID after all
 * cached data was invalidated: then the cache is exported under the new one, and the nodes refuse
 * each other until all of them have the new one.
 */
static int check_before(const struct joining *joining)
{
	const struct joined *before = &joining->before;
	const char *name = joining->request->name;
	const char *self = cluster_conf_self(&joining->conf)->name;

	if (!before->found)
		return check_others(joining);
	if (check_settings(joining))
		return fail_code();
	if (strcmp(before->cluster, joining->conf.name) || strcmp(before->self, self))
		return fail(CODE_BUSY,
			    "device '%s' is node '%s' of cluster '%s', but would be node '%s' of '%s': 'nearcache cluster leave %s' first",
			    name, before->self, before->cluster, self, joining->conf.name, name);
	if (strcmp(before->volume, joining->home.volume))
		warn("the content of '%s' has changed since '%s' joined, or was invalidated (volume UUID %s, now %s): nodes that have the old content are refused: run 'nearcache invalidate %s' and join on every node",
		     joining->home.dev.name, name, before->volume, joining->home.volume,
		     joining->home.dev.name);
	return 0;
}

/* True if the cache device is not in use, or if its state is unknown. */
static bool is_bypassed(const struct dm_device *dev)
{
	struct status status;
	bool bypassed = describe_status(dev, &status) ||
			status.field[NEARCACHE_FIELD_STATE] == NEARCACHE_BYPASS;

	fail_reset();
	return bypassed;
}

/*
 * A device that has joined keeps its volume while the cache device fails: reads of the superblock
 * could hang, and the cache serves its readers from the origin.
 */
static int read_volume(struct joining *joining)
{
	struct cluster_home *home = &joining->home;

	if (!joining->before.found || !is_bypassed(&home->dev))
		return home_read_volume(home);
	strcpy(home->volume, joining->before.volume);
	return 0;
}

static int check_extent(const struct joining *joining)
{
	char block[SIZE_TEXT], extent[SIZE_TEXT];

	if (joining->conf.extent >= joining->home.block_size)
		return 0;
	return fail(CODE_USAGE,
		    "'%s': extent = %s is smaller than a block of '%s' (%s), so that several nodes would cache one block: give a larger extent on all nodes",
		    joining->conf.path, size_print(joining->conf.extent, extent),
		    joining->home.dev.name, size_print(joining->home.block_size, block));
}

static int read_config(struct joining *joining)
{
	const struct join_request *request = joining->request;
	const struct joined *before = &joining->before;
	const char *config = request->config ? request->config :
			     before->found ? before->config : CLUSTER_CONF_FILE;
	const char *self = request->self ? request->self : before->found ? before->self : NULL;
	char *path = path_absolute(config);

	if (path && !cluster_conf_read(&joining->conf, path, self, &before->known)) {
		joined_take_settings(&joining->after, &joining->conf);
		joining->after.known = joining->conf.known;
	}
	free(path);
	return fail_code();
}

/*
 * Read the record and the configuration. Name servers may take long, so this needs no lock; the
 * caller then locks, and calls check_record().
 */
static int read_unlocked(struct joining *joining)
{
	const char *name = joining->request->name;

	if (home_check_name(name) || joined_read(&joining->before, name))
		return fail_code();
	joining->idle = joining->request->again && !joining->before.found;
	return joining->idle ? 0 : read_config(joining);
}

/*
 * Read the record again, now that it cannot change. Fail if read_config() took the file or the node
 * from a record that has changed.
 */
static int check_record(struct joining *joining)
{
	const struct join_request *request = joining->request;
	const struct joined *now = &joining->before;
	struct joined old = joining->before;

	if (!joined_read(&joining->before, request->name)) {
		joining->idle = request->again && !now->found;
		if (!joining->idle && ((!request->config && strcmp(now->config, old.config)) ||
				       (!request->self && old.found && !now->found)))
			fail(CODE_BUSY,
			     "another command joined or left '%s' at the same time: see 'nearcache cluster status', and try again",
			     request->name);
	}
	joined_free(&old);
	return fail_code();
}

/* Do all checks. Changes nothing, except that it removes a half-made device. */
static int prepare_join(struct joining *joining)
{
	const char *name = joining->request->name;

	home_unlock();
	if (read_unlocked(joining) || joining->idle)
		return fail_code();
	home_lock(name);
	if (check_record(joining) || joining->idle)
		return fail_code();
	if (home_find(&joining->home, name) || read_volume(joining) ||
	    check_before(joining) || look_at_device(joining) || check_extent(joining))
		return fail_code();
	joining->idle = joining->request->again && !joining->exists;
	if (joining->idle ||
	    peers_init(&joining->peers, &joining->conf, joining->home.volume))
		return fail_code();
	joining->peers.skip = joining->request->again;
	return 0;
}

/* Export the volume of @allowed to the nodes that it names, without the local node. */
static int export_to(const struct joining *joining, const struct joined *allowed)
{
	const struct cluster_conf *conf = &joining->conf;
	const struct cluster_node *self = cluster_conf_self(conf);
	char uuid[CLUSTER_UUID_TEXT], id[CLUSTER_UUID_TEXT], model[CLUSTER_MODEL];
	struct export export = {
		.model = cluster_conf_model(conf, model),
		.nqn = joining->peers.peer[conf->self].nqn,
		.device = joining->home.path,
		.uuid = uuid,
		.transport = conf->transport,
		.address = self->address,
		.port = self->port,
		.tls = conf->tls,
		.secret = *conf->secret ? conf->secret : NULL,
	};
	char (*nqn)[CLUSTER_NQN_SIZE] = calloc(allowed->nodes + 1, sizeof(*nqn));
	const char **hosts = calloc(allowed->nodes + 1, sizeof(*hosts));
	size_t i;

	cluster_namespace_uuid(allowed->volume, self->name, uuid);
	if (!nqn || !hosts) {
		fail_memory();
	} else {
		for (i = 0; i < allowed->nodes; i++) {
			if (!strcmp(allowed->node[i], self->name))
				continue;
			cluster_host_names(conf->name, allowed->node[i], allowed->volume,
					   nqn[export.hosts_count], id);
			hosts[export.hosts_count] = nqn[export.hosts_count];
			export.hosts_count++;
		}
		export.hosts = hosts;
		export_apply(&export);
	}
	free(nqn);
	free(hosts);
	return fail_code();
}

/* Begin the new record: it names all nodes that may be connected while this run works. */
static int begin_record(struct joining *joining)
{
	const struct joined *before = &joining->before;
	struct joined *after = &joining->after;
	const struct cluster_conf *conf = &joining->conf;
	struct joined *both = &joining->both;
	size_t i;

	snprintf(after->name, sizeof(after->name), "%s", joining->request->name);
	snprintf(after->config, sizeof(after->config), "%s", conf->path);
	snprintf(after->cluster, sizeof(after->cluster), "%s", conf->name);
	snprintf(after->self, sizeof(after->self), "%s", cluster_conf_self(conf)->name);
	snprintf(after->volume, sizeof(after->volume), "%s", joining->home.volume);
	/* If this run is killed, the record makes the next one connect all peers again. */
	joining->reconnect = connections_differ(joining);
	for (i = 0; i < conf->nodes && !fail_code(); i++)
		joined_add(after, conf->node[i].name);
	*both = *after;
	both->node = NULL;
	both->nodes = 0;
	if (joining->reconnect)
		*both->settings.keep_alive = '\0';
	for (i = 0; i < after->nodes && !fail_code(); i++)
		joined_add(both, after->node[i]);
	for (i = 0; i < before->nodes && !fail_code(); i++)
		joined_add(both, before->node[i]);
	return fail_code() ? (int)fail_code() : joined_write(both);
}

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

static int create_device(struct joining *joining)
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
	if (any)
		send_nodes(joining, rest, table->nodes);
	free(rest);
	return fail_code();
}

/*
 * Take away the devices that are gone before connections are made: as long as the cluster device
 * holds such a device open, the kernel takes a new connection to the node for one to its old
 * subsystem, with the old model number.
 */
static int drop_gone(struct joining *joining)
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
static int change_device(struct joining *joining)
{
	const struct peers_table *table = &joining->table;
	const struct cluster_conf *conf = &joining->conf;

	if (change_nodes(joining) ||
	    set_option(joining, "stall_timeout", table->stall_timeout, conf->stall_timeout))
		return fail_code();
	return set_option(joining, "bandwidth", table->bandwidth, conf->bandwidth);
}

/* Disconnect the peers of the earlier record; @left: only those that the new one does not have. */
static int disconnect_before(const struct joining *joining, bool left)
{
	const struct joined *before = &joining->before;
	const char **node = calloc(before->nodes + 1, sizeof(*node));
	size_t i, count = 0;

	if (!node)
		return fail_memory();
	for (i = 0; i < before->nodes; i++)
		if (strcmp(before->node[i], before->self) &&
		    (!left || !joined_has(&joining->after, before->node[i])))
			node[count++] = before->node[i];
	cluster_disconnect(before->cluster, node, count);
	free(node);
	return fail_code();
}

/* Disconnect the nodes that were in the record, and are not in the configuration any more. */
static int disconnect_left(const struct joining *joining)
{
	return disconnect_before(joining, true);
}

/*
 * Disconnect all peers if their connections differ. Until they are connected again, the device reads
 * at the next homes.
 */
static int disconnect_old(const struct joining *joining)
{
	return joining->reconnect ? disconnect_before(joining, false) : 0;
}

/* Does the file lack a node of the record? */
static bool has_removed(const struct joining *joining)
{
	size_t i;

	for (i = 0; i < joining->before.nodes; i++)
		if (!joined_has(&joining->after, joining->before.node[i]))
			return true;
	return false;
}

/*
 * Move the error of a step of the undo to @failed, so that the next step begins without one: many
 * functions stop at an error that is recorded.
 */
static void note_failure(char *failed, size_t size)
{
	size_t used = strlen(failed);

	if (fail_code())
		snprintf(failed + used, size - used, "%s%s", used ? "; " : "", fail_message());
	fail_reset();
}

/* An earlier join keeps its nodes; but a node that was taken out of the file must not connect. */
static void undo_export(struct joining *joining)
{
	if (joining->before.found)
		export_to(joining, has_removed(joining) ? &joining->after : &joining->before);
	else
		export_remove(joining->peers.peer[joining->conf.self].nqn);
}

/*
 * Undo what this run did, also if a step fails: @failed gets its error. After a failure, the record
 * of this run stays: it names all nodes that may be connected or allowed.
 */
static void undo_steps(struct joining *joining, char *failed, size_t size)
{
	const char *name = joining->request->name;

	if (joining->created)
		dm_remove(name);
	note_failure(failed, size);
	peers_disconnect_fresh(&joining->peers);
	note_failure(failed, size);
	/* The record was lost, but peers read here. */
	if (!joining->before.found && joining->exists)
		return;
	if (joining->exported)
		undo_export(joining);
	note_failure(failed, size);
	if (*failed)
		return;
	if (joining->before.found)
		joined_write(&joining->before);
	else
		joined_remove(name);
	note_failure(failed, size);
}

/*
 * After an error, or ^C, undo what this run did and keep the error. If the nodes of a device in use
 * are replaced already, only the record is late: the next join completes it.
 */
static void undo_join(struct joining *joining)
{
	const char *name = joining->request->name;
	enum exit_code code = fail_code();
	char why[1024], failed[768] = "";

	if (joining->changed) {
		fail_add("'nearcache cluster join %s' completes this", name);
		return;
	}
	snprintf(why, sizeof(why), "%s", code ? fail_message() : "the join was interrupted");
	fail_reset();
	undo_steps(joining, failed, sizeof(failed));
	if (code || *failed)
		fail(code ? code : CODE_DEVICE, "%s", why);
	if (*failed)
		fail_add("not all of this was undone: %s: 'nearcache cluster join %s' tries again, 'nearcache cluster leave %s' removes the rest",
			 failed, name, name);
}

static int do_join(struct joining *joining)
{
	/* While the device is in use, first only add hosts: to forbid one ends all connections. */
	if (begin_record(joining) ||
	    export_to(joining, joining->exists ? &joining->both : &joining->after))
		return fail_code();
	joining->exported = true;
	if (disconnect_old(joining) || drop_gone(joining) || peers_connect(&joining->peers) ||
	    (joining->exists ? change_device(joining) : create_device(joining)) ||
	    (joining->exists && export_to(joining, &joining->after)) ||
	    peers_disconnect_refused(&joining->peers) || disconnect_left(joining))
		return fail_code();
	return joined_write(&joining->after);
}

/* All or nothing: a ^C takes effect at the end. */
static int carry_out(struct joining *joining)
{
	sigset_t before;

	if (dm_need_cluster_target())
		return fail_code();
	signals_hold(&before);
	if (do_join(joining) || (!joining->exists && signals_waiting(&before)))
		undo_join(joining);
	signals_release(&before);
	return fail_code();
}

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

static void report_join(const struct joining *joining)
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
	if (joining->request->warm && !dry_run) {
		print_bytes("from_peers_bytes", "from peers", joining->warming.bytes);
		print_bytes("no_peer_bytes", joining->warming.alone ? "no peer is up for" : NULL,
			    joining->warming.alone);
		print_bytes("no_room_bytes", joining->warming.beyond ? "no room for" : NULL,
			    joining->warming.beyond);
	}
	report_nodes(joining);
	report_left(joining);
}

/* In a dry run, the record is needed to name the nodes that would be disconnected. */
static int look_only(struct joining *joining)
{
	size_t i;

	for (i = 0; i < joining->conf.nodes && !fail_code(); i++)
		joined_add(&joining->after, joining->conf.node[i].name);
	return fail_code() ? fail_code() : peers_look(&joining->peers);
}

static int warm_after_join(struct joining *joining)
{
	const struct join_request *request = joining->request;

	if (request->dry_run || !request->warm)
		return 0;
	if (warm_start(request->name, &joining->home.dev, &joining->warming))
		fail_add("the node has joined; 'nearcache prefetch %s --from-peers' tries again to warm it",
			 request->name);
	return fail_code();
}

/*
 * Join, or apply changes of the configuration. Prints the result. Takes the locks of home_lock(), and
 * drops them before it resolves names.
 */
int cluster_join(const struct join_request *request)
{
	struct joining joining = { .request = request };

	if (!prepare_join(&joining) && !joining.idle &&
	    !(request->dry_run ? look_only(&joining) : carry_out(&joining)) &&
	    !warm_after_join(&joining))
		report_join(&joining);
	warm_free(&joining.warming);
	peers_free(&joining.peers);
	peers_table_free(&joining.table);
	dm_device_free(&joining.dev);
	dm_device_free(&joining.home.dev);
	joined_free(&joining.before);
	joined_free(&joining.after);
	joined_free(&joining.both);
	cluster_conf_free(&joining.conf);
	return fail_code();
}
