// SPDX-License-Identifier: GPL-2.0-only
#include "top/grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "top/text_width.h"

/* Columns of the terminal between two columns of the grid. */
#define GAP	2

/* Makes an empty grid. @column must outlive it. The caller frees the grid with grid_free(). */
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

/* Fills the next cell, row by row. If memory runs out, records an error. */
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

/* Highlights the last row, which must be complete. */
void grid_alarm(struct grid *grid)
{
	size_t rows = grid_rows(grid);

	if (rows)
		grid->alarm[rows - 1] = true;
}

size_t grid_rows(const struct grid *grid)
{
	return grid->cells / grid->columns;
}

static size_t widest_cell(const struct grid *grid, size_t column)
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

static size_t total_width(const struct grid *grid, const struct grid_widths *widths)
{
	size_t c, sum = 0;

	for (c = 0; c < grid->columns; c++)
		if (widths->of[c])
			sum += widths->of[c] + (sum ? GAP : 0);
	return sum;
}

/* Narrows the widest column that may be cut, by at most @excess; false if no column may be cut. */
static bool cut_column(const struct grid *grid, struct grid_widths *widths, size_t excess)
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

/* Hides the visible column with the highest rank. Returns false if no column may be hidden. */
static bool drop_column(const struct grid *grid, struct grid_widths *widths)
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

/* Gives each visible column its full width again, after a hidden column made room. */
static void widen_columns(const struct grid *grid, const struct grid_widths *natural,
			  struct grid_widths *widths)
{
	size_t c;

	for (c = 0; c < grid->columns; c++)
		if (widths->of[c])
			widths->of[c] = natural->of[c];
}

/*
 * Fits the complete grid into @width columns of the terminal: cuts texts first, then hides
 * columns. If the rest is still too wide, grid_row() cuts the lines.
 */
void grid_fit(const struct grid *grid, size_t width, struct grid_widths *widths)
{
	struct grid_widths natural;
	size_t c;

	for (c = 0; c < grid->columns; c++)
		natural.of[c] = widest_cell(grid, c);
	*widths = natural;
	for (;;) {
		size_t sum;

		while ((sum = total_width(grid, widths)) > width &&
		       cut_column(grid, widths, sum - width))
			;
		if (sum <= width || !drop_column(grid, widths))
			return;
		widen_columns(grid, &natural, widths);
	}
}

static void pad_line(char *line, size_t *used, size_t count)
{
	memset(line + *used, ' ', count);
	*used += count;
}

static void put_cell(const struct grid_column *column, const char *text, size_t width,
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
		pad_line(line, used, width - columns);
}

/* Returns the text in @column of the row that starts at @cell, or the title if @cell is NULL. */
static const char *text_of(const struct grid *grid, char *const *cell, size_t column)
{
	return cell ? cell[column] : grid->column[column].title;
}

/* Returns an upper limit for the bytes of the line, NUL included. */
static size_t room_of(const struct grid *grid, const struct grid_widths *widths,
		      char *const *cell)
{
	size_t c, room = 1;

	for (c = 0; c < grid->columns; c++)
		room += strlen(text_of(grid, cell, c)) + widths->of[c] + GAP + 2;
	return room;
}

static void write_line(const struct grid *grid, const struct grid_widths *widths,
		       char *const *cell, char *line, size_t room)
{
	size_t used = 0, c;

	for (c = 0; c < grid->columns; c++) {
		if (!widths->of[c])
			continue;
		if (used)
			pad_line(line, &used, GAP);
		put_cell(&grid->column[c], text_of(grid, cell, c), widths->of[c], line,
			 &used, room);
	}
	while (used && line[used - 1] == ' ')
		used--;
	line[used] = '\0';
}

/*
 * Formats the row that starts at @cell, or the titles if @cell is NULL. Returns a line, which the
 * caller frees, or NULL after recording an error.
 */
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

/*
 * Returns the line of titles, cut to @width columns of the terminal, or NULL after recording an
 * error. The caller frees the line.
 */
char *grid_heading(const struct grid *grid, const struct grid_widths *widths,
		   size_t width)
{
	return make_line(grid, widths, NULL, width);
}

/* Returns row number @row as a line, in the same way as grid_heading() returns the titles. */
char *grid_row(const struct grid *grid, const struct grid_widths *widths, size_t row,
	       size_t width)
{
	return make_line(grid, widths, &grid->cell[row * grid->columns], width);
}

void grid_free(struct grid *grid)
{
	size_t i;

	for (i = 0; i < grid->cells; i++)
		free(grid->cell[i]);
	free(grid->cell);
	free(grid->alarm);
	memset(grid, 0, sizeof(*grid));
}
