/* SPDX-License-Identifier: GPL-2.0-only */
/* Shards at a time, cell by cell: how much is cached, and how often it was read. */
#ifndef HELPER_HEATMAP_SAMPLE_H
#define HELPER_HEATMAP_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/bar.h"
#include "files/range_set.h"

/**
 * struct grid - what the cells are of
 * @shards: the shards, which stay the caller's
 * @cells: of each shard, not 0
 */
struct grid {
	const struct shards *shards;
	unsigned int cells;
};

/**
 * struct sample - at a time
 * @time: of its end, nanoseconds since the first look
 * @span: nanoseconds that it is about, 0: a moment
 * @looks: how many samples it was made of
 * @counted: reads were counted
 * @cached: bytes of each cell, shard by shard; of several looks the mean
 * @reads: the same, of the span; of a region of several cells each has its share
 */
struct sample {
	uint64_t time;
	uint64_t span;
	unsigned int looks;
	bool counted;
	uint64_t *cached;
	double *reads;
};

int sample_make(struct sample *sample, const struct grid *grid);
void sample_clear(struct sample *sample, const struct grid *grid);
void sample_join(struct sample *sample, const struct sample *next,
		 const struct grid *grid);
struct density sample_line(const struct sample *sample, const struct grid *grid,
			   size_t shard);
void sample_free(struct sample *sample);

#endif /* HELPER_HEATMAP_SAMPLE_H */
