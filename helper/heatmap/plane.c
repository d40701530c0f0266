// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/plane.h"

#include <stdbool.h>

static unsigned char at(const struct plane *plane, size_t row, size_t cell)
{
	return plane->level[row * plane->cells + cell];
}

/* Where the run ends that begins at a cell. */
static size_t run_end(const struct plane *plane, size_t row, size_t start)
{
	size_t end = start + 1;

	while (end < plane->cells && at(plane, row, end) == at(plane, row, start))
		end++;
	return end;
}

/* Whether a run of that level is just from @start to @end. */
static bool is_run(const struct plane *plane, size_t row, size_t start, size_t end,
		   unsigned char level)
{
	return at(plane, row, start) == level &&
	       (!start || at(plane, row, start - 1) != level) &&
	       run_end(plane, row, start) == end;
}

/* Rows from @row down that have the same run. */
static size_t height(const struct plane *plane, size_t row, size_t start, size_t end)
{
	size_t below = row + 1;

	while (below < plane->rows &&
	       is_run(plane, below, start, end, at(plane, row, start)))
		below++;
	return below - row;
}

/**
 * plane_path() - write where a level is, as the path of an SVG
 * @file: where to
 * @plane: in units of cells and rows
 * @level: which one
 *
 * Neighbours in a row are one rectangle, and those of the next rows if they are just below.
 *
 * Return: how many rectangles there are.
 */
size_t plane_path(FILE *file, const struct plane *plane, unsigned char level)
{
	size_t row, start, end, count = 0;

	for (row = 0; row < plane->rows; row++)
		for (start = 0; start < plane->cells; start = end) {
			end = run_end(plane, row, start);
			if (at(plane, row, start) != level ||
			    (row && is_run(plane, row - 1, start, end, level)))
				continue;
			fprintf(file, "M%zu %zuh%zuv%zuh-%zuz", start, row, end - start,
				height(plane, row, start, end), end - start);
			count++;
		}
	return count;
}
