/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads parts of a volume through the cluster device, so that the caches of the peers keep them. */
#ifndef HELPER_CLUSTER_READ_PEERS_H
#define HELPER_CLUSTER_READ_PEERS_H

#include "cluster/homes.h"

/**
 * struct peer_reading - a reading and its result
 * @piece: the ranges to read, @pieces of them: see homes_select()
 * @bytes: their sum
 * @bandwidth: most bytes per second; 0: no limit
 * @quiet: show no progress
 * @done: bytes read
 * @stopped: a signal ended the reading
 */
struct peer_reading {
	struct range *piece;
	size_t pieces;
	uint64_t bytes;
	uint64_t bandwidth;
	bool quiet;
	uint64_t done;
	bool stopped;
};

int read_peers(const struct homes *homes, struct peer_reading *reading);

#endif /* HELPER_CLUSTER_READ_PEERS_H */
