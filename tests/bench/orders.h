/* SPDX-License-Identifier: GPL-2.0-only */
/* In which orders training jobs read a dataset, epoch by epoch; the same ones everywhere. */
#ifndef BENCH_ORDERS_H
#define BENCH_ORDERS_H

#include <stdint.h>

/**
 * enum pattern - what an epoch reads
 * @PATTERN_FULL: each block once, in a fresh random order
 * @PATTERN_SHARDS: each block once; shards in a fresh random order, in sequence inside
 * @PATTERN_SAME: each block once, in the same random order each epoch
 * @PATTERN_HALF: a random half of the blocks, each once: what one of two nodes reads
 * @PATTERN_JOBS: two jobs read each block once, in fresh random orders of their own, in turns;
 *	one of them is half an epoch ahead
 * @PATTERN_MIXTURE: the first tenth of the blocks four times, the next three tenths two times,
 *	a random half of the others once, in random order
 * @PATTERN_SWITCH: as @PATTERN_FULL; from epoch SWITCH_EPOCH on, another dataset of this size,
 *	which lies behind the first one
 */
enum pattern {
	PATTERN_FULL,
	PATTERN_SHARDS,
	PATTERN_SAME,
	PATTERN_HALF,
	PATTERN_JOBS,
	PATTERN_MIXTURE,
	PATTERN_SWITCH,
	PATTERN_COUNT
};

/* The first epoch has number 1. */
#define SWITCH_EPOCH	4
#define SHARDS		32

/**
 * struct dataset
 * @blocks: of the dataset, each of which is read whole
 * @seed: other orders for each
 */
struct dataset {
	uint32_t blocks;
	uint64_t seed;
};

uint64_t mixed(uint64_t a, uint64_t b);
void shuffle(uint32_t *list, uint32_t count, uint64_t seed);
int pattern_of(const char *name);
uint32_t pattern_room(const struct dataset *d, enum pattern pattern);
uint32_t pattern_order(const struct dataset *d, enum pattern pattern, uint32_t epoch,
		       uint32_t *order);

#endif /* BENCH_ORDERS_H */
