// SPDX-License-Identifier: GPL-2.0-only
/* Compare this node with its configuration: device, export and connections. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "block/device_sysfs.h"
#include "cluster/home.h"
#include "cluster/link.h"
#include "cluster/report.h"
#include "cluster/view.h"
#include "lib/error.h"
#include "lib/print.h"

#define NVMET		"/sys/kernel/config/nvmet"
#define SECTOR		512

/* @differences: rows that were printed. */
struct checking {
	struct view view;
	struct cluster_home home;
	size_t differences;
};

static void print_difference(struct checking *checking, const char *node, const char *what,
			     const char *wanted, const char *found)
{
	checking->differences++;
	print_record(NULL, NULL);
	print_string("node", "node", node);
	print_string("what", "what", what);
	print_string("wanted", "wanted", wanted);
	print_string("found", "found", found);
	print_end();
}

static void compare_text(struct checking *checking, const char *node, const char *what,
			 const char *wanted, const char *found)
{
	if (!found || strcmp(wanted, found))
		print_difference(checking, node, what, wanted, found && *found ? found : "none");
}

static void compare_number(struct checking *checking, const char *node, const char *what,
			   uint64_t wanted, uint64_t found)
{
	char text[2][32];

	snprintf(text[0], sizeof(text[0]), "%llu", (unsigned long long)wanted);
	snprintf(text[1], sizeof(text[1]), "%llu", (unsigned long long)found);
	compare_text(checking, node, what, text[0], text[1]);
}

/* Read the first line of a file; "" if there is none. */
static const char *read_first(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");

	if (!file || !fgets(text, (int)size, file))
		*text = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (file)
		fclose(file);
	return text;
}

static void check_device(struct checking *checking)
{
	const struct view *view = &checking->view;
	const struct peers_table *table = &view->table;
	const struct cluster_conf *conf = &view->conf;
	const char *self = cluster_conf_self(conf)->name;
	char number[32];
	size_t i;

	compare_text(checking, self, "local node", self, table->self);
	compare_number(checking, self, "extent", conf->extent, table->extent);
	compare_number(checking, self, "replicas", conf->replicas, table->replicas);
	compare_number(checking, self, "stall-timeout, ms", conf->stall_timeout,
		       table->stall_timeout);
	compare_number(checking, self, "bandwidth", conf->bandwidth, table->bandwidth);
	snprintf(number, sizeof(number), "%u:%u", major(checking->home.dev.number),
		 minor(checking->home.dev.number));
	compare_text(checking, self, "cache below the device", number, table->home);
	compare_number(checking, self, "size", checking->home.dev.size, view->dev->size);
	compare_text(checking, self, "volume UUID", checking->home.volume, view->joined.volume);
	for (i = 0; i < table->nodes; i++)
		if (!view_peer(view, table->node[i].name))
			print_difference(checking, table->node[i].name, "node of the device",
					 "none", "present");
}

/* Compare the hosts that may connect with the other nodes of the configuration. */
static void check_hosts(struct checking *checking, const char *subsystem)
{
	const struct cluster_conf *conf = &checking->view.conf;
	const char *self = cluster_conf_self(conf)->name;
	char path[512], nqn[CLUSTER_NQN_SIZE], id[CLUSTER_UUID_TEXT], hosts[320];
	size_t i, known = 0, count = 0;
	struct dirent *entry;
	DIR *dir;

	snprintf(hosts, sizeof(hosts), "%s/allowed_hosts", subsystem);
	dir = opendir(hosts);
	while (dir && (entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	for (i = 0; i < conf->nodes; i++) {
		if (i == conf->self)
			continue;
		cluster_host_names(conf->name, conf->node[i].name, checking->view.joined.volume,
				   nqn, id);
		snprintf(path, sizeof(path), "%s/%s", hosts, nqn);
		dir = opendir(path);
		known += !!dir;
		if (dir)
			closedir(dir);
		else
			print_difference(checking, conf->node[i].name, "may connect here", "yes",
					 "no");
	}
	if (count > known)
		compare_number(checking, self, "hosts that may connect", conf->nodes - 1, count);
}

static void check_export(struct checking *checking)
{
	const struct cluster_conf *conf = &checking->view.conf;
	const struct peer *here = &checking->view.peers.peer[conf->self];
	const char *self = here->node->name;
	char subsystem[256], path[320], text[256];

	snprintf(subsystem, sizeof(subsystem), NVMET "/subsystems/%s", here->nqn);
	snprintf(path, sizeof(path), "%s/namespaces/1/enable", subsystem);
	if (strcmp(read_first(path, text, sizeof(text)), "1")) {
		print_difference(checking, self, "export of the cache", "enabled",
				 *text ? "disabled" : "none");
		return;
	}
	snprintf(path, sizeof(path), "%s/namespaces/1/device_path", subsystem);
	compare_text(checking, self, "exported device", checking->home.path,
		     read_first(path, text, sizeof(text)));
	snprintf(path, sizeof(path), "%s/namespaces/1/device_uuid", subsystem);
	compare_text(checking, self, "exported UUID", here->uuid,
		     read_first(path, text, sizeof(text)));
	snprintf(path, sizeof(path), "%s/attr_allow_any_host", subsystem);
	compare_text(checking, self, "every host may connect", "0",
		     read_first(path, text, sizeof(text)));
	check_hosts(checking, subsystem);
}

/* Compare a parameter of a connection. Older kernels do not show all of them. */
static void check_parameter(struct checking *checking, const struct peer *peer,
			    const char *attribute, const char *what, const char *wanted)
{
	char path[320], text[256];

	snprintf(path, sizeof(path), "/sys/class/nvme/%s/%s", peer->state.controller, attribute);
	if (*read_first(path, text, sizeof(text)))
		compare_text(checking, peer->node->name, what, wanted, text);
}

static void check_timeouts(struct checking *checking, const struct peer *peer)
{
	const struct cluster_conf *conf = &checking->view.conf;
	char text[32];

	snprintf(text, sizeof(text), "%u", link_kernel_keep_alive(conf->keep_alive));
	check_parameter(checking, peer, "kato", "keep-alive time of the kernel, s", text);
	snprintf(text, sizeof(text), "%u", conf->fast_io_fail);
	check_parameter(checking, peer, "fast_io_fail_tmo", "fast-io-fail, s", text);
	check_parameter(checking, peer, "ctrl_loss_tmo", "limit of reconnects", "off");
	check_parameter(checking, peer, "transport", "transport",
			conf->transport == CLUSTER_RDMA ? "rdma" : "tcp");
	check_parameter(checking, peer, "hostnqn", "host NQN", checking->view.peers.host_nqn);
}

static void check_peer(struct checking *checking, const struct peer *peer)
{
	const struct peers_node *node = peers_table_node(&checking->view.table, peer->node->name);
	const char *name = peer->node->name;
	unsigned int major_number, minor_number;
	char sectors[32], model[CLUSTER_MODEL];

	if (!node)
		print_difference(checking, name, "node of the device", "present", "none");
	else
		compare_number(checking, name, "weight", peer->node->weight, node->weight);
	if (peer->self)
		return;
	if (!peer->state.connected) {
		print_difference(checking, name, "connection", "live", "none");
		return;
	}
	if (!peer->state.live)
		print_difference(checking, name, "connection", "live", "lost");
	compare_text(checking, name, "volume: UUID of its namespace", peer->uuid,
		     peer->state.uuid);
	if (node)
		compare_text(checking, name, "device", peer->device, node->device);
	if (sscanf(peer->device, "%u:%u", &major_number, &minor_number) == 2 &&
	    identity_attribute(makedev(major_number, minor_number), "size", sectors,
			       sizeof(sectors)))
		compare_number(checking, name, "size", checking->home.dev.size,
			       strtoull(sectors, NULL, 10) * SECTOR);
	if (*peer->differs)
		compare_text(checking, name, "settings of its cluster",
			     cluster_conf_model(&checking->view.conf, model), peer->state.model);
	check_timeouts(checking, peer);
}

static int compare_all(struct checking *checking)
{
	const struct view *view = &checking->view;
	size_t i;

	if (!view->configured)
		return fail(CODE_USAGE, "%s", view->why);
	if (home_find(&checking->home, view->dev->name) || home_read_volume(&checking->home))
		return fail_code();
	print_string("name", NULL, view->dev->name);
	print_string("config", NULL, view->conf.path);
	print_table("differences");
	check_device(checking);
	check_export(checking);
	for (i = 0; i < view->conf.nodes; i++)
		check_peer(checking, &view->peers.peer[i]);
	print_end();
	print_string(NULL, checking->differences ? NULL : "no differences", view->dev->name);
	if (!checking->differences)
		return 0;
	return fail(CODE_USAGE,
		    "'%s' differs from '%s' in %zu point%s: 'nearcache cluster join %s' applies nodes, bandwidth, stall-timeout and the export; for other settings leave, then join; for another volume or cache, compare the files and the caches of both nodes",
		    view->dev->name, view->conf.path, checking->differences,
		    checking->differences == 1 ? "" : "s", view->dev->name);
}

/* Print how a cluster device differs from its configuration. A difference is an error. */
int cluster_check(const char *name)
{
	struct checking checking = { 0 };
	struct dm_device dev;

	if (view_need_device(name, &dev))
		return fail_code();
	if (!view_take(&checking.view, &dev))
		compare_all(&checking);
	view_free(&checking.view);
	dm_device_free(&checking.home.dev);
	dm_device_free(&dev);
	return fail_code();
}
