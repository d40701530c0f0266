// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/sample.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

static size_t cells_of(const struct grid *grid)
{
	return grid->shards->count * grid->cells;
}

/**
 * sample_make() - make an empty one
 * @sample: the result; sample_free() is due also after a failure
 * @grid: what it is of
 *
 * Return: 0 or the exit code.
 */
int sample_make(struct sample *sample, const struct grid *grid)
{
	*sample = (struct sample){
		.cached = calloc(cells_of(grid), sizeof(*sample->cached)),
		.reads = calloc(cells_of(grid), sizeof(*sample->reads)),
	};
	return sample->cached && sample->reads ? 0 : fail_memory();
}

/**
 * sample_clear() - make it empty again
 * @sample: the sample
 * @grid: what it is of
 */
void sample_clear(struct sample *sample, const struct grid *grid)
{
	memset(sample->cached, 0, cells_of(grid) * sizeof(*sample->cached));
	memset(sample->reads, 0, cells_of(grid) * sizeof(*sample->reads));
	*sample = (struct sample){ .cached = sample->cached, .reads = sample->reads };
}

/* @weight of @all parts of a difference, but not nothing of what is something. */
static uint64_t part(uint64_t difference, unsigned int weight, uint64_t all)
{
	uint64_t result = difference / all * weight + difference % all * weight / all;

	return difference && !result ? 1 : result;
}

/* So a cell is full or empty only if it was so both times. */
static uint64_t mean(uint64_t a, unsigned int looks, uint64_t b, unsigned int more)
{
	uint64_t all = (uint64_t)looks + more;

	if (!looks)
		return b;
	return b > a ? a + part(b - a, more, all) : a - part(a - b, more, all);
}

/**
 * sample_join() - add what came next
 * @sample: becomes one of both; an empty one becomes @next
 * @next: the next one
 * @grid: what they are of
 */
void sample_join(struct sample *sample, const struct sample *next,
		 const struct grid *grid)
{
	size_t i;

	for (i = 0; i < cells_of(grid); i++) {
		sample->cached[i] = mean(sample->cached[i], sample->looks,
					 next->cached[i], next->looks);
		sample->reads[i] += next->reads[i];
	}
	sample->time = next->time;
	sample->span += next->span;
	sample->looks += next->looks;
	sample->counted |= next->counted;
}

/**
 * sample_line() - what is cached of a shard
 * @sample: the sample
 * @grid: what it is of
 * @shard: number of the shard
 *
 * Return: the line, whose cells are those of @sample; its sum is not known.
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

/* Free all; harmless after that. */
void sample_free(struct sample *sample)
{
	free(sample->cached);
	free(sample->reads);
	*sample = (struct sample){ 0 };
}
