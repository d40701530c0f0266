// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/join.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block/dm_remove.h"
#include "block/signals.h"
#include "cluster/disconnect.h"
#include "cluster/joining.h"
#include "lib/error.h"
#include "lib/path.h"
#include "lib/size.h"
#include "ondisk/print_superblock.h"

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
 *
 * Other timers in the record count only if the kernel shows others as well: another version may have
 * had other defaults, or computed the kernel's time in another way, and after an upgrade no
 * connection is to end without need. A person who joins also corrects timers that another program or
 * version set. The daemon does not: if the kernel never had the wanted ones, it would end all
 * connections over and over.
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
	/* A run that changed the settings was killed. */
	if (!*before->keep_alive || strcmp(before->data_digest, after->data_digest))
		return true;
	return (!joining->request->again || strcmp(before->keep_alive, after->keep_alive) ||
		strcmp(before->fast_io_fail, after->fast_io_fail)) && timers_differ(joining);
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
			warn("cannot check whether cluster device '%s' is the same node of this cluster: %s",
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
int join_export_to(const struct joining *joining, const struct joined *allowed)
{
	const struct cluster_conf *conf = &joining->conf;
	const struct cluster_node *self = cluster_conf_self(conf);
	char uuid[CLUSTER_UUID_TEXT], id[CLUSTER_UUID_TEXT], model[CLUSTER_MODEL];
	char map_uuid[CLUSTER_UUID_TEXT];
	struct export export = {
		.model = cluster_conf_model(conf, model),
		.nqn = joining->peers.peer[conf->self].nqn,
		.device = joining->home.path,
		.uuid = uuid,
		.map = *joining->map.path ? joining->map.path : NULL,
		.map_uuid = map_uuid,
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
	cluster_map_uuid(uuid, map_uuid);
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

static int do_join(struct joining *joining)
{
	/* While the device is in use, first only add hosts: to forbid one ends all connections. */
	if (begin_record(joining))
		return fail_code();
	map_make(&joining->map, joining->request->name, &joining->home, joining->conf.extent,
		 joining->request->again);
	if (join_export_to(joining, joining->exists ? &joining->both : &joining->after))
		return fail_code();
	joining->exported = true;
	if (disconnect_old(joining) || join_drop_gone(joining) || peers_connect(&joining->peers) ||
	    (joining->exists ? join_change_device(joining) : join_create_device(joining)) ||
	    (joining->exists && join_export_to(joining, &joining->after)) ||
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
		join_undo(joining);
	signals_release(&before);
	return fail_code();
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

	if (request->dry_run || request->warm == JOIN_WARM_NOT ||
	    (request->warm == JOIN_WARM_HELD && !joining->created))
		return 0;
	if (!warm_start(request->name, &joining->home.dev, request->warm == JOIN_WARM_ALL,
			&joining->warming))
		return 0;
	fail_add("the node has joined; 'nearcache prefetch %s --from-peers' tries again to warm it",
		 request->name);
	if (request->warm == JOIN_WARM_ALL)
		return fail_code();
	warn("%s", fail_message());
	fail_reset();
	warm_free(&joining->warming);
	return 0;
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
		join_report(&joining);
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
