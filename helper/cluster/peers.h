/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The other nodes as this one sees them: their names, and the connections to them.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_PEERS_H
#define HELPER_CLUSTER_PEERS_H

#include "cluster/conf.h"
#include "cluster/export.h"
#include "cluster/link.h"
#include "cluster/node_names.h"
#include "cluster/peers_table.h"

/* Size of the reason why a peer is absent, with NUL. */
#define PEER_WHY	1024

/* Size of the text about a difference, with NUL. */
#define PEER_DIFFERS	256

/**
 * struct peer - a node of the configuration
 * @node: its line
 * @self: the local node; then only @node and @nqn are set
 * @nqn: the NVMe subsystem in which it exports its cache
 * @uuid: UUID that its namespace has if it serves the volume of this node
 * @link: the connection to it
 * @state: of the connection
 * @device: of the connection, for the table: its number, or PEERS_ABSENT
 * @end: time at which peers_connect() gives up, as by watch_now()
 * @fresh: this run made the connection, or moved it to another address
 * @refused: it serves another volume, or does not allow this node to connect
 * @skipped: it is not connected because of struct peers.skip
 * @why: why it is absent; "": it is not
 * @differs: how its settings differ from those of this node; "": not, or unknown
 */
struct peer {
	const struct cluster_node *node;
	bool self;
	char nqn[CLUSTER_NQN_SIZE];
	char uuid[CLUSTER_UUID_TEXT];
	struct link link;
	struct link_state state;
	char device[PEERS_DEVICE];
	uint64_t end;
	bool fresh;
	bool refused;
	bool skipped;
	char why[PEER_WHY];
	char differs[PEER_DIFFERS];
};

/**
 * struct peers - all nodes of the configuration
 * @conf: the configuration, which must stay
 * @peer: one for each node, in the same order, @conf->nodes of them
 * @host_nqn: of the local node
 * @host_id: see @host_nqn
 * @skip: a blank and a name for each node that peers_connect() does not connect; NULL: none
 */
struct peers {
	const struct cluster_conf *conf;
	struct peer *peer;
	char host_nqn[CLUSTER_NQN_SIZE];
	char host_id[CLUSTER_UUID_TEXT];
	const char *skip;
};

int peers_init(struct peers *peers, const struct cluster_conf *conf, const char *volume);
void peers_free(struct peers *peers);
int peers_look(struct peers *peers);
int peers_connect(struct peers *peers);
int peers_disconnect_refused(struct peers *peers);
int peers_disconnect_fresh(struct peers *peers);
bool peer_has_moved(const struct peer *peer);

#endif /* HELPER_CLUSTER_PEERS_H */
