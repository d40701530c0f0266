/* SPDX-License-Identifier: GPL-2.0-only */
/* One node's share of a list of shards that all nodes have. */
#ifndef HELPER_SHARD_PARTITION_H
#define HELPER_SHARD_PARTITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * enum share_split - which part of the list is whose
 * @SHARE_STRIDED: of N nodes each gets every Nth
 * @SHARE_BLOCKED: each gets a run
 */
enum share_split {
	SHARE_STRIDED,
	SHARE_BLOCKED,
};

/* For messages. */
#define SHARE_SPLIT_WORDS	"strided or blocked"

/**
 * struct share - whose share
 * @rank: number of the node, below @world_size
 * @world_size: nodes
 * @shuffled: the list is shuffled first
 * @seed: by this
 * @epoch: and this
 * @split: what is whose then
 */
struct share {
	uint64_t rank;
	uint64_t world_size;
	bool shuffled;
	uint64_t seed;
	uint64_t epoch;
	enum share_split split;
};

bool share_split_parse(const char *word, enum share_split *split);
void share_shuffle(size_t *order, size_t count, uint64_t seed, uint64_t epoch);
size_t share_select(const struct share *share, size_t *order, size_t count);

#endif /* HELPER_SHARD_PARTITION_H */
