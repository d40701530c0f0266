/* SPDX-License-Identifier: GPL-2.0-only */
/* Orders in which training jobs read a dataset, epoch by epoch; the seed determines them. */
#ifndef BENCH_ORDERS_H
#define BENCH_ORDERS_H

#include <stdint.h>

/**
 * enum pattern - reads of an epoch
 * @PATTERN_FULL: each block once, in a fresh random order
 * @PATTERN_SHARDS: each block once; shards in a fresh random order, blocks of a shard in sequence
 * @PATTERN_SAME: each block once, in the same random order each epoch
 * @PATTERN_HALF: a fresh random half of the blocks, each once: the share of one of two nodes
 * @PATTERN_JOBS: two jobs take turns and read each block once, each in its own fresh random order;
 *	one job is half an epoch ahead
 * @PATTERN_MIXTURE: the first tenth of the blocks four times, the next three tenths twice,
 *	a random half of the others once, in random order
 * @PATTERN_SWITCH: like @PATTERN_FULL; epochs from SWITCH_EPOCH on read a second dataset of the
 *	same size, which follows the first on the device
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

/* Number of the first epoch of the second dataset; epochs count from 1. */
#define SWITCH_EPOCH	4
#define SHARDS		32

/**
 * struct dataset - a dataset and its orders
 * @blocks: number of blocks; each read is one block
 * @seed: selects the random orders
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
