/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Selects the shards of this node from those on the command line, and sorts them.
 * node_share_check_words() returns 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_FILES_NODE_SHARE_H
#define HELPER_FILES_NODE_SHARE_H

#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"
#include "files/shard_ranges.h"

/* Options that a verb adds to its own if it can select one node's share. */
#define NODE_SHARE_OPTIONS	(OPTION_RANK | OPTION_WORLD_SIZE | OPTION_SEED | \
				 OPTION_EPOCH | OPTION_SPLIT)

int node_share_check_words(const struct arguments *args);
size_t node_share_select(const struct arguments *args, uint64_t epoch,
			const struct shards *shards, size_t *order, uint32_t *checksum);

void node_share_sort(const struct shards *shards, size_t *order, size_t count);
uint32_t node_share_checksum(const struct shards *shards, const size_t *order,
			 size_t count);

#endif /* HELPER_FILES_NODE_SHARE_H */
