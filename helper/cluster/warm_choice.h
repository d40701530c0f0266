/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Choice of the data that a node reads at each peer to warm its cache, and of its order.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_WARM_CHOICE_H
#define HELPER_CLUSTER_WARM_CHOICE_H

#include "cluster/homes.h"
#include "cluster/peer_map.h"

/* Most ranges of all jobs that warm a part: a quarter of those that a cache can have in its jobs. */
#define WARM_PIECES_MAX	(256U << 10)

/**
 * struct warm_source - a peer, and the ranges to read there
 * @node: the peer, an index of the nodes
 * @piece: the ranges, @pieces of them, in the order in which to read them
 * @room: entries of @piece
 * @bytes: sum of the lengths of @piece
 * @job: number of the job that reads the ranges; 0: none
 */
struct warm_source {
	size_t node;
	struct range *piece;
	size_t pieces;
	size_t room;
	uint64_t bytes;
	uint32_t job;
};

/**
 * struct warming - the ranges to read at each peer
 * @source: one for each node; those of the local node and of peers that are not up stay empty
 * @sources: entries of @source
 * @bytes: sum of all ranges in @source
 * @alone: bytes of the ranges for which no peer is up
 * @absent: bytes that no peer has by its map: left to readers
 * @beyond: bytes left out for lack of room, or behind WARM_PIECES_MAX
 * @ask: may a peer ask the origin for data that it lacks?
 * @block: bytes of a block of the local cache, for warm_choose()
 * @room: bytes of free blocks, for warm_choose()
 */
struct warming {
	struct warm_source *source;
	size_t sources;
	uint64_t bytes;
	uint64_t alone;
	uint64_t absent;
	uint64_t beyond;
	bool ask;
	uint64_t block;
	uint64_t room;
};

int warm_divide(const struct homes *homes, const struct range *range, size_t count,
		struct warming *warming);
bool warm_is_offered(const struct homes *homes, const struct peer_map *map,
		     const struct range *missing, size_t count);
int warm_choose(const struct homes *homes, const struct peer_map *map,
		const struct range *missing, size_t count, struct warming *warming);
void warm_free(struct warming *warming);

#endif /* HELPER_CLUSTER_WARM_CHOICE_H */
