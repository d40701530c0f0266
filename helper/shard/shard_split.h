/* SPDX-License-Identifier: GPL-2.0-only */
/* Computes which shards of a list, which is the same on all nodes, belong to one node. */
#ifndef HELPER_SHARD_SHARD_SPLIT_H
#define HELPER_SHARD_SHARD_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * enum share_split - how the nodes divide the list
 * @SHARE_STRIDED: of N nodes each gets every Nth entry
 * @SHARE_BLOCKED: each node gets consecutive entries
 */
enum share_split {
	SHARE_STRIDED,
	SHARE_BLOCKED,
};

/* The words of share_split_parse(), for messages. */
#define SHARE_SPLIT_WORDS	"strided or blocked"

/**
 * struct share - selects a node's share
 * @rank: number of the node, below @world_size
 * @world_size: number of nodes
 * @shuffled: shuffle the list first, by @seed and @epoch
 * @seed: seed of the training run, the same on all nodes
 * @epoch: number of the epoch
 * @split: how the nodes divide the list
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

#endif /* HELPER_SHARD_SHARD_SPLIT_H */
