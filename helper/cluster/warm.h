/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Warming the cache of this node from its peers. Prefetch jobs read each extent at a peer instead
 * of at the origin: at the node that is the extent's home when this node is absent.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_WARM_H
#define HELPER_CLUSTER_WARM_H

#include "cluster/homes.h"
#include "netlink/client.h"

/*
 * Deadline of jobs that warm the whole part of a node, seconds: later they leave out what finds no
 * free block, because readers took it, and do not wait for readers.
 */
#define WARM_DEADLINE	60

/**
 * struct warm_source - a peer, and the ranges to read there
 * @node: the peer, an index of the nodes
 * @piece: the ranges, @pieces of them, in the order given
 * @room: entries of @piece
 * @bytes: their sum
 * @job: number of the job that reads them, 0: none
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
 * @beyond: bytes left out for lack of room
 * @block: bytes of a block, while @room counts; 0: there is no limit
 * @room: bytes of free blocks
 */
struct warming {
	struct warm_source *source;
	size_t sources;
	uint64_t bytes;
	uint64_t alone;
	uint64_t beyond;
	uint64_t block;
	uint64_t room;
};

int warm_divide(const struct homes *homes, const struct range *range, size_t count,
		struct warming *warming);
int warm_divide_part(const struct homes *homes, const struct dm_device *dev,
		     const struct range *range, size_t count, struct warming *warming);
int warm_run(const struct homes *homes, const struct dm_device *dev, struct warming *warming,
	     const struct nl_job *wishes, bool wait, bool quiet, struct nl_job *sum, size_t *jobs);
int warm_start(const char *name, const struct dm_device *dev, struct warming *warming);
void warm_free(struct warming *warming);

#endif /* HELPER_CLUSTER_WARM_H */
