// SPDX-License-Identifier: GPL-2.0-only
/* Selects this node's share of the shards. */
#include "files/node_share.h"

#include <isa-l/crc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "shard/shard_split.h"

/* Fails if a given option needs another one that is not given, or if --rank is too large. */
int node_share_check_words(const struct arguments *args)
{
	bool shared = option_given(args, OPTION_RANK);

	if (shared != option_given(args, OPTION_WORLD_SIZE))
		return fail(CODE_USAGE,
			    "--rank N and --world-size N go together: the number of this node, from 0, and the number of nodes");
	if (!shared && option_given(args, OPTION_SEED | OPTION_EPOCH | OPTION_SPLIT))
		return fail(CODE_USAGE,
			    "--seed, --epoch and --split go with --rank and --world-size");
	if (option_given(args, OPTION_EPOCH) && !option_given(args, OPTION_SEED))
		return fail(CODE_USAGE,
			    "--epoch goes with --seed, the same on all nodes");
	if (shared && args->rank >= args->world_size)
		return fail(CODE_USAGE,
			    "--rank %u: the last of %u nodes has rank %u",
			    args->rank, args->world_size, args->world_size - 1);
	return 0;
}

/*
 * Selects the shards of this node: writes their indices to @order, which has room for all shards,
 * and returns their number. Before that sorts all shards by name, because the command lines of the
 * nodes may differ in order. @checksum receives the checksum of the sorted list.
 *
 * Without --rank, selects all shards in the order of the command line; @checksum is unchanged.
 */
size_t node_share_select(const struct arguments *args, uint64_t epoch,
			const struct shards *shards, size_t *order, uint32_t *checksum)
{
	const struct share share = {
		.rank = args->rank,
		.world_size = args->world_size,
		.shuffled = option_given(args, OPTION_SEED),
		.seed = args->seed,
		.epoch = epoch,
		.split = args->split,
	};
	size_t i;

	for (i = 0; i < shards->count; i++)
		order[i] = i;
	if (!option_given(args, OPTION_RANK))
		return shards->count;
	node_share_sort(shards, order, shards->count);
	*checksum = node_share_checksum(shards, order, shards->count);
	return share_select(&share, order, shards->count);
}

static int compare_names(const void *a, const void *b, void *arg)
{
	const struct shard *shard = arg;

	return strcmp(shard[*(const size_t *)a].name,
		      shard[*(const size_t *)b].name);
}

/*
 * Sorts the indices @order of @shards by name with strcmp(): nodes with different locales need the
 * same order.
 */
void node_share_sort(const struct shards *shards, size_t *order, size_t count)
{
	qsort_r(order, count, sizeof(*order), compare_names, shards->shard);
}

static uint32_t crc_add(uint32_t crc, const char *text, size_t bytes)
{
	return crc32_gzip_refl(crc, (const unsigned char *)text, bytes);
}

/*
 * Returns the CRC-32, as in zlib and gzip, over "NAME\0BYTES\n" of each shard. Nodes compare it to
 * verify that they share one list. @order comes from node_share_sort().
 *
 * The value is part of the interface: other releases and other programs compute the same.
 */
uint32_t node_share_checksum(const struct shards *shards, const size_t *order,
			 size_t count)
{
	char bytes[24];
	uint32_t crc = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct shard *shard = &shards->shard[order[i]];
		int length = snprintf(bytes, sizeof(bytes), "%llu\n",
				      (unsigned long long)shard->bytes);

		crc = crc_add(crc, shard->name, strlen(shard->name) + 1);
		crc = crc_add(crc, bytes, (size_t)length);
	}
	return crc;
}
