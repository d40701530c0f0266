/* SPDX-License-Identifier: GPL-2.0-only */
/* A sample: for each cell of each shard, the cached bytes and the number of reads. */
#ifndef HELPER_HEATMAP_SAMPLE_H
#define HELPER_HEATMAP_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/density_bar.h"
#include "files/shard_ranges.h"

/*
 * Each shard is divided into @cells (not 0) equal cells. The caller owns @shards, and @home: for each
 * cell, the bytes that have their home on this node of a cluster; NULL: there is no cluster.
 */
struct grid {
	const struct shards *shards;
	unsigned int cells;
	uint64_t *home;
};

/**
 * struct sample - one sample, or several joined ones
 * @time: end of the sample, ns since the first sample
 * @span: duration, ns; 0 for a single moment, with all @reads since counting began
 * @looks: number of samples joined
 * @counted: reads were counted
 * @cached: cached bytes of each cell, shard by shard; the mean of joined samples
 * @reads: reads of each cell in @span; cells share the reads of a region that covers them
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
