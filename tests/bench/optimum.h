/* SPDX-License-Identifier: GPL-2.0-only */
/* What no cache can beat. */
#ifndef BENCH_OPTIMUM_H
#define BENCH_OPTIMUM_H

#include <stdint.h>

/**
 * struct reads - all reads of a run
 * @block: of each, below @blocks
 * @count: how many
 * @blocks: that there are
 */
struct reads {
	uint32_t *block;
	uint32_t count;
	uint32_t blocks;
};

void optimum(const struct reads *r, uint32_t slots, uint8_t *hit);

#endif /* BENCH_OPTIMUM_H */
