/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration of a cluster: /etc/nearcache/cluster.conf, the same file on all nodes; see
 * cluster.conf(5).
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_CONF_H
#define HELPER_CLUSTER_CONF_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cluster/addresses.h"
#include "cluster/known_addresses.h"
#include "nearcache_cluster.h"

#define CLUSTER_CONF_FILE	"/etc/nearcache/cluster.conf"
/* Environment variable that names the local node. */
#define CLUSTER_NODE_VARIABLE	"NEARCACHE_NODE"
/* Size of the name of a cluster, or of a node, with NUL. */
#define CLUSTER_NAME		(NEARCACHE_CLUSTER_NAME_MAX + 1)
/* Size of a host name with NUL. */
#define CLUSTER_HOST		ADDRESS_HOST
/* Size of the reason why a host name cannot be resolved, with NUL. */
#define CLUSTER_WHY		80
/* Size of an address or host name with its port, with NUL. */
#define CLUSTER_PLACE		(CLUSTER_HOST + 16)
/* Size of the model number of an NVMe subsystem, with NUL. */
#define CLUSTER_MODEL		41
/* Size of a secret with NUL: DHHC-1, hash, 68 bytes in base64. */
#define CLUSTER_SECRET		128

enum cluster_transport { CLUSTER_TCP, CLUSTER_RDMA };

/**
 * struct cluster_node - a node of the file
 * @name: its name; with dns: its address
 * @host: address or host name as written, without the port
 * @address: numeric address, set by cluster_conf_resolve(); "": @host cannot be resolved
 * @why: why @address is ""
 * @port: TCP or RDMA port; 0 until cluster_conf_finish() if the line has none
 * @weight: relative size of its cache
 * @unit: @weight was written as a size
 * @line: number of the line
 */
struct cluster_node {
	char name[CLUSTER_NAME];
	char host[CLUSTER_HOST];
	char address[ADDRESS_TEXT];
	char why[CLUSTER_WHY];
	unsigned int port;
	uint32_t weight;
	bool unit;
	unsigned int line;
};

/**
 * struct cluster_conf - the file
 * @given: bit of each setting that the file has
 * @path: of the file
 * @name: of the cluster
 * @extent: bytes
 * @replicas: nodes that keep each extent
 * @transport: of the connections
 * @port: for nodes whose line has none
 * @secret_file: file with the secret; "": no authentication
 * @secret: the secret, read by cluster_conf_read(); "": none
 * @tls: encrypt connections
 * @data_digest: connections check each block of data
 * @bandwidth: most bytes per second that are read at peers; 0: no limit
 * @stall_timeout: milliseconds without an answer after which a peer has failed
 * @keep_alive: seconds after which a silent connection counts as lost
 * @fast_io_fail: seconds after which reads at a lost peer fail
 * @dns: the only node line is dns:HOST
 * @node: the nodes, @nodes of them
 * @self: index of the local node
 * @known: addresses of the host name of dns:, otherwise of the host name of the local node
 */
struct cluster_conf {
	uint32_t given;
	char path[PATH_MAX];
	char name[CLUSTER_NAME];
	uint64_t extent;
	unsigned int replicas;
	enum cluster_transport transport;
	unsigned int port;
	char secret_file[PATH_MAX];
	char secret[CLUSTER_SECRET];
	bool tls;
	bool data_digest;
	uint64_t bandwidth;
	unsigned int stall_timeout;
	unsigned int keep_alive;
	unsigned int fast_io_fail;
	bool dns;
	struct cluster_node *node;
	size_t nodes;
	size_t self;
	struct known_addresses known;
};

int cluster_conf_parse(struct cluster_conf *conf, const char *path, char *text);
struct cluster_node *cluster_conf_add_node(struct cluster_conf *conf, unsigned int line);
int cluster_conf_read(struct cluster_conf *conf, const char *path, const char *self,
		      const struct known_addresses *known);
const char *cluster_conf_model(const struct cluster_conf *conf, char *text);
const char *cluster_node_place(const struct cluster_node *node, char *text);
void cluster_conf_free(struct cluster_conf *conf);

static inline const struct cluster_node *cluster_conf_self(const struct cluster_conf *conf)
{
	return &conf->node[conf->self];
}

#endif /* HELPER_CLUSTER_CONF_H */
