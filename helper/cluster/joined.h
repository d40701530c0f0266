/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The record of a cluster device that 'cluster join' created: one file for each in /run, so that
 * 'leave', 'status' and the daemon find the configuration, and what an interrupted run left.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_JOINED_H
#define HELPER_CLUSTER_JOINED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "cluster/conf.h"
#include "cluster/node_names.h"
#include "lib/name.h"

/* Size of a setting in the record, with NUL. */
#define JOINED_SETTING	16
/* Size of the reason why a record cannot be read, with NUL. */
#define JOINED_WHY	512

/**
 * struct joined_settings - settings of all connections, as text
 * Each is "" if the record was written by a version that did not record it, and @keep_alive,
 * @fast_io_fail and @data_digest also while a run changes them.
 */
struct joined_settings {
	char transport[JOINED_SETTING];
	char tls[JOINED_SETTING];
	char secret[JOINED_SETTING];
	char keep_alive[JOINED_SETTING];
	char fast_io_fail[JOINED_SETTING];
	char data_digest[JOINED_SETTING];
};

/**
 * struct joined - a record
 * @found: there is a record that can be read; otherwise only @name and @why are set
 * @why: set by joined_all(): why the record cannot be read; "": it can
 * @name: of the cluster device
 * @config: path of the configuration
 * @cluster: name of the cluster
 * @self: name of the local node
 * @volume: UUID of the volume
 * @settings: of the connections
 * @known: addresses of the host name of the nodes (dns:), or of the local node
 * @node: names of the nodes that may be connected, or allowed to connect, @nodes of them
 */
struct joined {
	bool found;
	char why[JOINED_WHY];
	char name[NAME_SIZE];
	char config[PATH_MAX];
	char cluster[CLUSTER_NAME];
	char self[CLUSTER_NAME];
	char volume[CLUSTER_UUID_TEXT];
	struct joined_settings settings;
	struct known_addresses known;
	char (*node)[CLUSTER_NAME];
	size_t nodes;
};

int joined_read(struct joined *joined, const char *name);
int joined_write(const struct joined *joined);
int joined_remove(const char *name);
int joined_add(struct joined *joined, const char *node);
void joined_take_settings(struct joined *joined, const struct cluster_conf *conf);
bool joined_has(const struct joined *joined, const char *node);
void joined_free(struct joined *joined);
int joined_all(struct joined **list, size_t *count);
void joined_free_all(struct joined *list, size_t count);

#endif /* HELPER_CLUSTER_JOINED_H */
