/* SPDX-License-Identifier: GPL-2.0-only */
/* The hits of an optimal cache: an upper bound for the hits of any cache. */
#ifndef BENCH_OPTIMUM_H
#define BENCH_OPTIMUM_H

#include <stdint.h>

/**
 * struct reads - a sequence of reads
 * @block: block of each read, below @blocks
 * @count: number of reads
 * @blocks: number of blocks
 */
struct reads {
	uint32_t *block;
	uint32_t count;
	uint32_t blocks;
};

void optimum(const struct reads *r, uint32_t slots, uint8_t *hit);

#endif /* BENCH_OPTIMUM_H */
