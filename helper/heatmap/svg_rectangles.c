// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/svg_rectangles.h"

#include <stdbool.h>

static unsigned char level_at(const struct plane *plane, size_t row, size_t cell)
{
	return plane->level[row * plane->cells + cell];
}

/* Returns the cell behind the run of equal levels that starts at cell @start. */
static size_t run_end(const struct plane *plane, size_t row, size_t start)
{
	size_t end = start + 1;

	while (end < plane->cells && level_at(plane, row, end) == level_at(plane, row, start))
		end++;
	return end;
}

/* Returns whether a run of @level covers exactly @start to @end. */
static bool is_run(const struct plane *plane, size_t row, size_t start, size_t end,
		   unsigned char level)
{
	return level_at(plane, row, start) == level &&
	       (!start || level_at(plane, row, start - 1) != level) &&
	       run_end(plane, row, start) == end;
}

/* Returns the number of consecutive rows, from @row down, that have the run @start to @end. */
static size_t run_height(const struct plane *plane, size_t row, size_t start, size_t end)
{
	size_t below = row + 1;

	while (below < plane->rows &&
	       is_run(plane, below, start, end, level_at(plane, row, start)))
		below++;
	return below - row;
}

/*
 * Writes the cells of a level as an SVG path, in units of cells and rows. A run of the level in a
 * row is one rectangle, together with the next rows if these have the same run. Returns the
 * number of rectangles.
 */
size_t plane_path(FILE *file, const struct plane *plane, unsigned char level)
{
	size_t row, start, end, count = 0;

	for (row = 0; row < plane->rows; row++)
		for (start = 0; start < plane->cells; start = end) {
			end = run_end(plane, row, start);
			if (level_at(plane, row, start) != level ||
			    (row && is_run(plane, row - 1, start, end, level)))
				continue;
			fprintf(file, "M%zu %zuh%zuv%zuh-%zuz", start, row, end - start,
				run_height(plane, row, start, end), end - start);
			count++;
		}
	return count;
}
