// SPDX-License-Identifier: GPL-2.0-only
#include "top/grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "top/width.h"

/* Between two columns. */
#define GAP	2

/**
 * grid_start() - begin a grid
 * @grid: it; grid_free() is due
 * @column: its columns; not copied
 * @columns: how many, up to GRID_COLUMNS
 */
void grid_start(struct grid *grid, const struct grid_column *column, size_t columns)
{
	memset(grid, 0, sizeof(*grid));
	grid->column = column;
	grid->columns = columns;
}

static bool has_room(struct grid *grid)
{
	size_t room = grid->room ? 2 * grid->room : 8 * grid->columns;
	char **cell;
	bool *alarm;

	if (grid->cells < grid->room)
		return true;
	cell = reallocarray(grid->cell, room, sizeof(*cell));
	if (cell)
		grid->cell = cell;
	alarm = reallocarray(grid->alarm, room / grid->columns, sizeof(*alarm));
	if (alarm)
		grid->alarm = alarm;
	if (!cell || !alarm)
		return false;
	memset(alarm + grid->room / grid->columns, 0,
	       (room - grid->room) / grid->columns * sizeof(*alarm));
	grid->room = room;
	return true;
}

/**
 * grid_cell() - fill the next cell, row by row
 * @grid: it; memory that runs out is a recorded error
 * @format: its text
 */
void grid_cell(struct grid *grid, const char *format, ...)
{
	va_list args;
	char *text;
	int bytes;

	if (!has_room(grid)) {
		fail_memory();
		return;
	}
	va_start(args, format);
	bytes = vasprintf(&text, format, args);
	va_end(args);
	if (bytes < 0)
		fail_memory();
	else
		grid->cell[grid->cells++] = text;
}

/**
 * grid_alarm() - have the last row stand out
 * @grid: it; the row is complete
 */
void grid_alarm(struct grid *grid)
{
	size_t rows = grid_rows(grid);

	if (rows)
		grid->alarm[rows - 1] = true;
}

/**
 * grid_rows() - how many rows there are
 * @grid: it
 *
 * Return: complete rows.
 */
size_t grid_rows(const struct grid *grid)
{
	return grid->cells / grid->columns;
}

static size_t widest(const struct grid *grid, size_t column)
{
	const char *title = grid->column[column].title;
	size_t i, most = title ? width_of(title) : 0;

	for (i = column; i < grid->cells; i += grid->columns) {
		size_t width = width_of(grid->cell[i]);

		if (width > most)
			most = width;
	}
	return most;
}

static size_t total(const struct grid *grid, const struct grid_widths *widths)
{
	size_t c, sum = 0;

	for (c = 0; c < grid->columns; c++)
		if (widths->of[c])
			sum += widths->of[c] + (sum ? GAP : 0);
	return sum;
}

/* Cut the widest one of those that may be cut, by as little as will do.  Return: whether. */
static bool cut(const struct grid *grid, struct grid_widths *widths, size_t excess)
{
	size_t c, most = grid->columns;

	for (c = 0; c < grid->columns; c++) {
		const struct grid_column *column = &grid->column[c];

		if (column->least && widths->of[c] > column->least &&
		    (most == grid->columns || widths->of[c] > widths->of[most]))
			most = c;
	}
	if (most == grid->columns)
		return false;
	if (excess > widths->of[most] - grid->column[most].least)
		excess = widths->of[most] - grid->column[most].least;
	widths->of[most] -= excess;
	return true;
}

/* Leave out the one that is needed least.  Return: whether one could be. */
static bool drop(const struct grid *grid, struct grid_widths *widths)
{
	size_t c, least = grid->columns;

	for (c = 0; c < grid->columns; c++)
		if (widths->of[c] && grid->column[c].rank &&
		    (least == grid->columns ||
		     grid->column[c].rank > grid->column[least].rank))
			least = c;
	if (least == grid->columns)
		return false;
	widths->of[least] = 0;
	return true;
}

/* As wide as it would like to be, of those that are not left out. */
static void widen(const struct grid *grid, const struct grid_widths *natural,
		  struct grid_widths *widths)
{
	size_t c;

	for (c = 0; c < grid->columns; c++)
		if (widths->of[c])
			widths->of[c] = natural->of[c];
}

/**
 * grid_fit() - share out the width that there is
 * @grid: complete
 * @width: columns of the terminal
 * @widths: the result; what stays may still be too wide, and is cut then
 *
 * Texts are cut first, then columns are left out.
 */
void grid_fit(const struct grid *grid, size_t width, struct grid_widths *widths)
{
	struct grid_widths natural;
	size_t c;

	for (c = 0; c < grid->columns; c++)
		natural.of[c] = widest(grid, c);
	*widths = natural;
	for (;;) {
		size_t sum;

		while ((sum = total(grid, widths)) > width &&
		       cut(grid, widths, sum - width))
			;
		if (sum <= width || !drop(grid, widths))
			return;
		widen(grid, &natural, widths);
	}
}

static void pad(char *line, size_t *used, size_t count)
{
	memset(line + *used, ' ', count);
	*used += count;
}

/* Of one column. */
static void put(const struct grid_column *column, const char *text, size_t width,
		char *line, size_t *used, size_t room)
{
	size_t begin = *used, columns, bytes;

	columns = width_copy(text, width, line + begin, room - begin);
	bytes = strlen(line + begin);
	if (column->right && columns < width) {
		memmove(line + begin + width - columns, line + begin, bytes);
		memset(line + begin, ' ', width - columns);
		*used += width - columns + bytes;
		return;
	}
	*used += bytes;
	if (columns < width)
		pad(line, used, width - columns);
}

/* @cell: texts, or NULL: the titles. */
static const char *text_of(const struct grid *grid, char *const *cell, size_t column)
{
	return cell ? cell[column] : grid->column[column].title;
}

/* Bytes that a line takes at most. */
static size_t room_of(const struct grid *grid, const struct grid_widths *widths,
		      char *const *cell)
{
	size_t c, room = 1;

	for (c = 0; c < grid->columns; c++)
		room += strlen(text_of(grid, cell, c)) + widths->of[c] + GAP + 2;
	return room;
}

/* @line: room for it. */
static void write_line(const struct grid *grid, const struct grid_widths *widths,
		       char *const *cell, char *line, size_t room)
{
	size_t used = 0, c;

	for (c = 0; c < grid->columns; c++) {
		if (!widths->of[c])
			continue;
		if (used)
			pad(line, &used, GAP);
		put(&grid->column[c], text_of(grid, cell, c), widths->of[c], line,
		    &used, room);
	}
	while (used && line[used - 1] == ' ')
		used--;
	line[used] = '\0';
}

/* @cell: texts, or NULL: the titles.  Return: for free(), or NULL. */
static char *make_line(const struct grid *grid, const struct grid_widths *widths,
		       char *const *cell, size_t width)
{
	size_t room = room_of(grid, widths, cell);
	char *line = malloc(room), *fits = malloc(room);

	if (line && fits) {
		write_line(grid, widths, cell, line, room);
		width_copy(line, width, fits, room);
		free(line);
		return fits;
	}
	fail_memory();
	free(line);
	free(fits);
	return NULL;
}

/**
 * grid_heading() - the titles
 * @grid: it; its columns have titles
 * @widths: from grid_fit()
 * @width: columns of the terminal
 *
 * Return: a line, for free(); NULL after recording the error.
 */
char *grid_heading(const struct grid *grid, const struct grid_widths *widths,
		   size_t width)
{
	return make_line(grid, widths, NULL, width);
}

/**
 * grid_row() - a row
 * @grid: it
 * @widths: from grid_fit()
 * @row: its number, of grid_rows()
 * @width: columns of the terminal
 *
 * Return: a line, for free(); NULL after recording the error.
 */
char *grid_row(const struct grid *grid, const struct grid_widths *widths, size_t row,
	       size_t width)
{
	return make_line(grid, widths, &grid->cell[row * grid->columns], width);
}

/**
 * grid_free() - free what is in a grid
 * @grid: it
 */
void grid_free(struct grid *grid)
{
	size_t i;

	for (i = 0; i < grid->cells; i++)
		free(grid->cell[i]);
	free(grid->cell);
	free(grid->alarm);
	memset(grid, 0, sizeof(*grid));
}
