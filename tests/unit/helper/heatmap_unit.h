/* SPDX-License-Identifier: GPL-2.0-only */
/* Synthetic shards, and random numbers, for the tests of heatmaps. */
#ifndef HELPER_HEATMAP_UNIT_H
#define HELPER_HEATMAP_UNIT_H

#include <stdlib.h>

#include "heatmap/sample_matrix.h"
#include "unit.h"

#define MIB	(1ULL << 20)

/* Make @count shards of @bytes each, adjacent on the device. */
static inline void make_shards(struct shards *shards, const char *const *name,
			       size_t count, uint64_t bytes)
{
	size_t i;

	*shards = (struct shards){ .size = count * bytes };
	for (i = 0; i < count; i++) {
		struct shard *shard = shards_add(shards, name[i]);

		assert_non_null(shard);
		if (bytes)
			assert_int_equal(shard_add_range(shard, i * bytes, bytes), 0);
	}
}

static inline uint64_t bytes_of(const struct sample *sample, const struct grid *grid,
				size_t shard, unsigned int cell)
{
	struct density line = sample_line(sample, grid, shard);

	return density_edge(&line, cell + 1) - density_edge(&line, cell);
}

/* Return the next number of a sequence that is the same in each run. */
static inline uint32_t next_random(void)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33);
}

#endif /* HELPER_HEATMAP_UNIT_H */
