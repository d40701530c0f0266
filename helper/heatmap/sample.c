// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/sample.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

static size_t cells_of(const struct grid *grid)
{
	return grid->shards->count * grid->cells;
}

/*
 * Makes an empty sample. The caller calls sample_free() after success and failure. Returns 0, or
 * an exit code after recording an error with fail().
 */
int sample_make(struct sample *sample, const struct grid *grid)
{
	*sample = (struct sample){
		.cached = calloc(cells_of(grid), sizeof(*sample->cached)),
		.reads = calloc(cells_of(grid), sizeof(*sample->reads)),
	};
	return sample->cached && sample->reads ? 0 : fail_memory();
}

void sample_clear(struct sample *sample, const struct grid *grid)
{
	memset(sample->cached, 0, cells_of(grid) * sizeof(*sample->cached));
	memset(sample->reads, 0, cells_of(grid) * sizeof(*sample->reads));
	*sample = (struct sample){ .cached = sample->cached, .reads = sample->reads };
}

/* Returns @difference * @weight / @all, but at least 1 if @difference is not 0. */
static uint64_t weighted_part(uint64_t difference, unsigned int weight, uint64_t all)
{
	uint64_t result = difference / all * weight + difference % all * weight / all;

	return difference && !result ? 1 : result;
}

/* Returns the weighted mean.  If @a and @b differ by more than 1, it lies strictly between them. */
static uint64_t weighted_mean(uint64_t a, unsigned int looks, uint64_t b, unsigned int more)
{
	uint64_t all = (uint64_t)looks + more;

	if (!looks)
		return b;
	return b > a ? a + weighted_part(b - a, more, all) : a - weighted_part(a - b, more, all);
}

/*
 * Joins the sample @next, which follows @sample in time, into @sample. If @sample is empty, it
 * becomes a copy of @next.
 */
void sample_join(struct sample *sample, const struct sample *next,
		 const struct grid *grid)
{
	size_t i;

	for (i = 0; i < cells_of(grid); i++) {
		sample->cached[i] = weighted_mean(sample->cached[i], sample->looks,
						  next->cached[i], next->looks);
		sample->reads[i] += next->reads[i];
	}
	sample->time = next->time;
	sample->span += next->span;
	sample->looks += next->looks;
	sample->counted |= next->counted;
}

/*
 * Returns the cached bytes of each cell of a shard. The result points into @sample; its @present
 * is not set.
 */
struct density sample_line(const struct sample *sample, const struct grid *grid,
			   size_t shard)
{
	return (struct density){
		.bytes = grid->shards->shard[shard].bytes,
		.cell = sample->cached + shard * grid->cells,
		.cells = grid->cells,
	};
}

/* May be called twice. */
void sample_free(struct sample *sample)
{
	free(sample->cached);
	free(sample->reads);
	*sample = (struct sample){ 0 };
}
