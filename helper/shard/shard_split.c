// SPDX-License-Identifier: GPL-2.0-only
#include "shard/shard_split.h"

#include <string.h>

/* SplitMix64 (Steele, Lea and Flood, 2014): advances @state and returns the next number. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Returns false for an unknown word. */
bool share_split_parse(const char *word, enum share_split *split)
{
	if (!strcmp(word, "strided"))
		*split = SHARE_STRIDED;
	else if (!strcmp(word, "blocked"))
		*split = SHARE_BLOCKED;
	else
		return false;
	return true;
}

/*
 * Shuffles @order in the same way on all nodes; each epoch has its own order.
 *
 * Fisher-Yates from the end: for i from @count - 1 down to 1, swap i with the upper 64 bits of
 * the product of SplitMix64's next number and i + 1. The initial state is the first number of
 * SplitMix64 with state @seed, plus @epoch. The algorithm is part of the interface, because other
 * releases and other programs must compute the same order.
 */
void share_shuffle(size_t *order, size_t count, uint64_t seed, uint64_t epoch)
{
	uint64_t state = next_random(&seed) + epoch;
	size_t i;

	for (i = count; i-- > 1;) {
		size_t j = (size_t)((unsigned __int128)next_random(&state) * (i + 1) >> 64);
		size_t other = order[j];

		order[j] = order[i];
		order[i] = other;
	}
}

/* Returns the number of the first entry in the blocked share of @rank. */
static size_t block_start(const struct share *share, uint64_t rank, size_t count)
{
	return (size_t)((unsigned __int128)count * rank / share->world_size);
}

/*
 * Moves the node's share to the head of @order. All nodes must pass the same @order. The shares of
 * all ranks are disjoint and cover the list. Returns the number of entries in the share.
 */
size_t share_select(const struct share *share, size_t *order, size_t count)
{
	size_t i, first, step = 1, end = count, kept = 0;

	if (share->shuffled)
		share_shuffle(order, count, share->seed, share->epoch);
	if (share->split == SHARE_BLOCKED) {
		first = block_start(share, share->rank, count);
		end = block_start(share, share->rank + 1, count);
	} else {
		first = share->rank;
		step = share->world_size;
	}
	for (i = first; i < end; i += step)
		order[kept++] = order[i];
	return kept;
}
