// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "orders.h"

static const char *const names[PATTERN_COUNT] = {
	"full", "shards", "same", "half", "jobs", "mixture", "switch",
};

/* Return element @b of the pseudo-random sequence with seed @a. */
uint64_t mixed(uint64_t a, uint64_t b)
{
	uint64_t x = (a * 0x9e3779b97f4a7c15ULL) ^ (b + 0x7f4a7c159e3779b9ULL);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* Shuffle @list, with the same result for the same @seed. */
void shuffle(uint32_t *list, uint32_t count, uint64_t seed)
{
	uint32_t i, k, other;

	for (i = count; i > 1; i--) {
		k = mixed(seed, i) % i;
		other = list[i - 1];
		list[i - 1] = list[k];
		list[k] = other;
	}
}

/* Return the seed of a random order; different values of @use give one epoch several orders. */
static uint64_t seed_of(const struct dataset *d, uint32_t epoch, uint32_t use)
{
	return mixed(d->seed, (uint64_t)use << 32 | epoch);
}

static uint32_t numbers(uint32_t *list, uint32_t first, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		list[i] = first + i;
	return count;
}

/* All @d->blocks blocks from @first on, in the random order of this epoch of @job. */
static uint32_t reshuffled(const struct dataset *d, uint32_t epoch, uint32_t job, uint32_t first,
			   uint32_t *order)
{
	numbers(order, first, d->blocks);
	shuffle(order, d->blocks, seed_of(d, epoch, job));
	return d->blocks;
}

static uint32_t by_shards(const struct dataset *d, uint32_t epoch, uint32_t *order)
{
	uint32_t shard[SHARDS], length = d->blocks / SHARDS, n = 0, i;

	numbers(shard, 0, SHARDS);
	shuffle(shard, SHARDS, seed_of(d, epoch, 0));
	/* The last shard also gets the remainder of the division by SHARDS. */
	for (i = 0; i < SHARDS; i++)
		n += numbers(order + n, shard[i] * length,
			     shard[i] == SHARDS - 1 ? d->blocks - shard[i] * length : length);
	return n;
}

/* Alternate the reads of two jobs.  The second job is half an epoch ahead: it reads the second half
 * of its own epoch @epoch, then the first half of its epoch @epoch + 1.
 */
static uint32_t by_two_jobs(const struct dataset *d, uint32_t epoch, uint32_t *order)
{
	uint32_t n = d->blocks, half = n / 2, i;
	uint32_t *first = order + 2 * n, *other = first + n;

	reshuffled(d, epoch, 1, 0, first);
	reshuffled(d, epoch, 2, 0, other);
	memmove(other, other + half, (n - half) * sizeof(*other));
	reshuffled(d, epoch + 1, 2, 0, other + n);
	memcpy(other + n - half, other + n, half * sizeof(*other));
	for (i = 0; i < n; i++) {
		order[2 * i] = first[i];
		order[2 * i + 1] = other[i];
	}
	return 2 * n;
}

static uint32_t by_heat(const struct dataset *d, uint32_t epoch, uint32_t *order)
{
	uint32_t hot = d->blocks / 10, warm = d->blocks * 3 / 10, cold = d->blocks - hot - warm;
	uint32_t n = 0, i;

	for (i = 0; i < 4; i++)
		n += numbers(order + n, 0, hot);
	for (i = 0; i < 2; i++)
		n += numbers(order + n, hot, warm);
	numbers(order + n, hot + warm, cold);
	shuffle(order + n, cold, seed_of(d, epoch, 1));
	n += cold / 2;
	shuffle(order, n, seed_of(d, epoch, 0));
	return n;
}

/* Returns the enum pattern with this name, such as "full"; -1 for an unknown name. */
int pattern_of(const char *name)
{
	int i;

	for (i = 0; i < PATTERN_COUNT; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

/* Number of elements that the array @order of pattern_order() must have. */
uint32_t pattern_room(const struct dataset *d, enum pattern pattern)
{
	return (pattern == PATTERN_JOBS ? 5 : 2) * d->blocks;
}

/**
 * pattern_order() - make the list of reads of an epoch
 * @d: dataset
 * @pattern: pattern
 * @epoch: number of the epoch, from 1
 * @order: output: blocks in the order of the reads; pattern_room() elements
 *
 * Return: number of reads.
 */
uint32_t pattern_order(const struct dataset *d, enum pattern pattern, uint32_t epoch,
		       uint32_t *order)
{
	switch (pattern) {
	case PATTERN_SHARDS:
		return by_shards(d, epoch, order);
	case PATTERN_SAME:
		return reshuffled(d, 0, 0, 0, order);
	case PATTERN_HALF:
		return reshuffled(d, epoch, 0, 0, order) / 2;
	case PATTERN_JOBS:
		return by_two_jobs(d, epoch, order);
	case PATTERN_MIXTURE:
		return by_heat(d, epoch, order);
	case PATTERN_SWITCH:
		return reshuffled(d, epoch, 0, epoch < SWITCH_EPOCH ? 0 : d->blocks, order);
	default:
		return reshuffled(d, epoch, 0, 0, order);
	}
}
