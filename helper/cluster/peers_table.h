/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table line, the message "nodes" and the status line of the target nearcache-peers:
 * kmod/doc/cluster.md.
 */
#ifndef HELPER_CLUSTER_PEERS_TABLE_H
#define HELPER_CLUSTER_PEERS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nearcache.h"
#include "nearcache_cluster.h"

/* Size of a device in a table with NUL: a number like 259:12, or a path. */
#define PEERS_DEVICE	128
/* Device of the local node, and of a peer without a connection. */
#define PEERS_ABSENT	"-"

struct peers_node {
	char name[NEARCACHE_CLUSTER_NAME_MAX + 1];
	uint32_t weight;
	char device[PEERS_DEVICE];
};

/**
 * struct peers_table - a table line
 * @home: the cache of the local node
 * @origin: the shared volume
 * @extent: bytes
 * @replicas: nodes that keep each extent
 * @self: name of the local node
 * @node: the nodes, @nodes of them
 * @stall_timeout: milliseconds
 * @bandwidth: most bytes per second that are read at peers; 0: no limit
 */
struct peers_table {
	char home[PEERS_DEVICE];
	char origin[PEERS_DEVICE];
	uint64_t extent;
	unsigned int replicas;
	char self[NEARCACHE_CLUSTER_NAME_MAX + 1];
	struct peers_node *node;
	size_t nodes;
	unsigned int stall_timeout;
	uint64_t bandwidth;
};

/**
 * struct peers_load - status of a node
 * @state: enum nearcache_peer_state, or a larger number of a newer module
 * @begun: reads sent
 * @ended: reads answered
 * @bytes: bytes read
 * @errors: reads that failed
 * @latency: mean time of a read, ns; 0: unknown
 */
struct peers_load {
	uint64_t state;
	uint64_t begun;
	uint64_t ended;
	uint64_t bytes;
	uint64_t errors;
	uint64_t latency;
};

/**
 * struct peers_status - a status line
 * @load: status of the nodes, in the order of the table; NULL: unknown
 * @origin_latency: mean time of a read at the origin, ns; 0: unknown
 * @waited: reads that waited for the bandwidth
 */
struct peers_status {
	struct peers_load *load;
	uint64_t origin_latency;
	uint64_t waited;
};

char *peers_table_print(const struct peers_table *table);
char *peers_message_print(const struct peers_node *node, size_t nodes);
bool peers_table_parse(const char *text, struct peers_table *table);
void peers_table_free(struct peers_table *table);
dev_t peers_number(const char *device);
struct peers_node *peers_table_node(const struct peers_table *table, const char *name);
bool peers_status_parse(const char *line, size_t nodes, struct peers_status *status);
void peers_status_free(struct peers_status *status);
const char *peers_state_word(uint64_t state);
void peers_shares(const struct peers_node *node, size_t nodes, uint64_t extents, uint64_t *share,
		  uint64_t *counted);

#endif /* HELPER_CLUSTER_PEERS_TABLE_H */
