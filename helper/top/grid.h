/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lays out a table for the width of the terminal. A "column of the terminal" is as wide as one
 * character. A "column" alone is a column of the table.
 */
#ifndef HELPER_TOP_GRID_H
#define HELPER_TOP_GRID_H

#include <stdbool.h>
#include <stddef.h>

#define GRID_COLUMNS	16

/**
 * struct grid_column - a column of the grid
 * @title: text in the heading; NULL: the grid has no heading
 * @right: right-aligned, for numbers
 * @least: smallest width if its texts may be cut, in columns of the terminal; 0: do not cut
 * @rank: if the columns do not fit, the highest rank is hidden first; 0: never hidden
 */
struct grid_column {
	const char *title;
	bool right;
	size_t least;
	unsigned int rank;
};

/**
 * struct grid - a table
 * @column: the columns
 * @columns: entries in @column, at most GRID_COLUMNS
 * @cell: texts, row by row
 * @alarm: whether each row is highlighted
 * @cells: entries in @cell
 * @room: allocated cells
 */
struct grid {
	const struct grid_column *column;
	size_t columns;
	char **cell;
	bool *alarm;
	size_t cells;
	size_t room;
};

/* Width of each column of the grid, in columns of the terminal; 0: the column is hidden. */
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
