// SPDX-License-Identifier: GPL-2.0-only
#include "files/node_share.h"

#include "lib/error.h"
#include "files/roster.h"
#include "shard/partition.h"

/**
 * allotment_check_words() - is the command line one that names a share, or none?
 * @args: command line
 *
 * Return: 0 or the exit code.
 */
int allotment_check_words(const struct arguments *args)
{
	bool shared = given(args, OPTION_RANK);

	if (shared != given(args, OPTION_WORLD_SIZE))
		return fail(CODE_USAGE,
			    "--rank N and --world-size N go together: this node's number, from 0, and how many nodes there are");
	if (!shared && given(args, OPTION_SEED | OPTION_EPOCH | OPTION_SPLIT))
		return fail(CODE_USAGE,
			    "--seed, --epoch and --split go with --rank and --world-size");
	if (given(args, OPTION_EPOCH) && !given(args, OPTION_SEED))
		return fail(CODE_USAGE,
			    "--epoch goes with --seed, the same on all nodes");
	if (shared && args->rank >= args->world_size)
		return fail(CODE_USAGE,
			    "--rank %u: of %u nodes the last is number %u",
			    args->rank, args->world_size, args->world_size - 1);
	return 0;
}

/**
 * allotment_select() - the shards that are this node's
 * @args: command line
 * @epoch: of the run
 * @shards: all that are named
 * @order: the result, numbers of @shards; room for all of them
 * @checksum: of the list that is shared out, if it is
 *
 * The list is one of names: nodes may name them in another order.  If none is shared out, all of
 * them, as they are named.
 *
 * Return: how many.
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
