// SPDX-License-Identifier: GPL-2.0-only
#include "top/cell_format.h"

#include "lib/size.h"
#include "top/sample_difference.h"

#define MICROSECOND	1000ULL
#define MILLISECOND	(1000 * MICROSECOND)
#define SECOND		(1000 * MILLISECOND)

/* @whole may be 0: shows "-". */
void cell_ratio(struct grid *grid, uint64_t part, uint64_t whole)
{
	if (whole)
		grid_cell(grid, "%.1f %%", 100 * (double)part / (double)whole);
	else
		grid_cell(grid, "-");
}

void cell_bytes(struct grid *grid, uint64_t bytes)
{
	char text[SIZE_TEXT];

	grid_cell(grid, "%s", size_print(bytes, text));
}

void cell_byte_rate(struct grid *grid, uint64_t bytes, uint64_t span)
{
	if (span)
		cell_bytes(grid, since_rate(bytes, span));
	else
		grid_cell(grid, "-");
}

void cell_rate(struct grid *grid, uint64_t count, uint64_t span)
{
	if (span)
		grid_cell(grid, "%llu", (unsigned long long)since_rate(count, span));
	else
		grid_cell(grid, "-");
}

void cell_time(struct grid *grid, uint64_t ns)
{
	if (ns < MILLISECOND)
		grid_cell(grid, "%llu us", (unsigned long long)(ns / MICROSECOND));
	else if (ns < SECOND)
		grid_cell(grid, "%.1f ms", (double)ns / (double)MILLISECOND);
	else
		grid_cell(grid, "%.1f s", (double)ns / (double)SECOND);
}
