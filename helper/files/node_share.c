// SPDX-License-Identifier: GPL-2.0-only
#include "files/node_share.h"

#include "lib/error.h"
#include "files/roster.h"
#include "shard/partition.h"

/*
 * Checks the options of a share. Returns 0, or an exit code after recording an error with
 * fail().
 */
int allotment_check_words(const struct arguments *args)
{
	bool shared = given(args, OPTION_RANK);

	if (shared != given(args, OPTION_WORLD_SIZE))
		return fail(CODE_USAGE,
			    "--rank N and --world-size N go together: the number of this node, from 0, and the number of nodes");
	if (!shared && given(args, OPTION_SEED | OPTION_EPOCH | OPTION_SPLIT))
		return fail(CODE_USAGE,
			    "--seed, --epoch and --split go with --rank and --world-size");
	if (given(args, OPTION_EPOCH) && !given(args, OPTION_SEED))
		return fail(CODE_USAGE,
			    "--epoch goes with --seed, the same on all nodes");
	if (shared && args->rank >= args->world_size)
		return fail(CODE_USAGE,
			    "--rank %u: the last of %u nodes has rank %u",
			    args->rank, args->world_size, args->world_size - 1);
	return 0;
}

/*
 * Writes the shards of this node to @order as indices of @shards, and returns their number.
 * @order has room for all shards. With --rank, sorts the list by name, because nodes may name
 * the shards in different orders, and sets @checksum to that of the complete list. Without
 * --rank, selects all shards in their order.
 */
size_t allotment_select(const struct arguments *args, uint64_t epoch,
			const struct shards *shards, size_t *order, uint32_t *checksum)
{
	const struct share share = {
		.rank = args->rank,
		.world_size = args->world_size,
		.shuffled = given(args, OPTION_SEED),
		.seed = args->seed,
		.epoch = epoch,
		.split = args->split,
	};
	size_t i;

	for (i = 0; i < shards->count; i++)
		order[i] = i;
	if (!given(args, OPTION_RANK))
		return shards->count;
	roster_sort(shards, order, shards->count);
	*checksum = roster_checksum(shards, order, shards->count);
	return share_select(&share, order, shards->count);
}
