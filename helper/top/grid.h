/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows and columns, made fit for the width that there is. */
#ifndef HELPER_TOP_GRID_H
#define HELPER_TOP_GRID_H

#include <stdbool.h>
#include <stddef.h>

#define GRID_COLUMNS	16

/**
 * struct grid_column - a column
 * @title: above it; NULL: the grid has no heading
 * @right: numbers
 * @least: columns of the terminal that it may be cut to, 0: it is not cut
 * @rank: of those that do not fit, the highest goes first; 0: it stays
 */
struct grid_column {
	const char *title;
	bool right;
	size_t least;
	unsigned int rank;
};

/**
 * struct grid - rows
 * @column: columns, @columns of them
 * @columns: how many, up to GRID_COLUMNS
 * @cell: texts, row by row
 * @alarm: rows that stand out
 * @cells: how many cells there are
 * @room: cells that fit
 */
struct grid {
	const struct grid_column *column;
	size_t columns;
	char **cell;
	bool *alarm;
	size_t cells;
	size_t room;
};

/**
 * struct grid_widths - what is shown of each column
 * @of: columns of the terminal, 0: it is left out
 */
struct grid_widths {
	size_t of[GRID_COLUMNS];
};

void grid_start(struct grid *grid, const struct grid_column *column, size_t columns);
void grid_cell(struct grid *grid, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void grid_alarm(struct grid *grid);
size_t grid_rows(const struct grid *grid);
void grid_fit(const struct grid *grid, size_t width, struct grid_widths *widths);
char *grid_heading(const struct grid *grid, const struct grid_widths *widths,
		   size_t width);
char *grid_row(const struct grid *grid, const struct grid_widths *widths, size_t row,
	       size_t width);
void grid_free(struct grid *grid);

#endif /* HELPER_TOP_GRID_H */
