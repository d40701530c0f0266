// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/svg.h"

#include <stdint.h>
#include <stdlib.h>

#include "lib/error.h"
#include "heatmap/cell_level.h"
#include "heatmap/legend.h"
#include "heatmap/svg_rectangles.h"
#include "heatmap/xml.h"
#include "lib/size.h"

/* Pixels: margins, width of a map, gap between maps. */
#define LEFT		90
#define TOP		128
#define RIGHT		30
#define WIDTH		LEGEND_WIDTH
#define GAP		60
/* Pixels: height of a row, of a map, of the space below a map for its axis and the next title. */
#define ROW		12
#define HEIGHT_MIN	36
#define HEIGHT_MAX	480
#define BELOW		64

/* Number of labels on an axis, including both ends. */
#define MARKS		5

/* The maps of a shard, drawn side by side: cached bytes on the left, reads on the right. */
enum map { CACHED, READS };

/*
 * @maps: number of maps side by side; @height: height of a map, pixels; @most: at least the
 * reads of the cell that was read most, for level_octave().
 */
struct layout {
	unsigned int maps;
	unsigned int height;
	double most;
};

static struct layout lay_out(const struct matrix *matrix)
{
	size_t shards = matrix->grid.shards->count;
	size_t most = shards ? HEIGHT_MAX * 2 / (shards + 1) : HEIGHT_MAX;
	struct layout layout = {
		.maps = matrix_counted(matrix) ? 2 : 1,
		.height = HEIGHT_MIN,
		.most = level_most(matrix_most_reads(matrix)),
	};

	if (matrix->rows * ROW > HEIGHT_MIN)
		layout.height = matrix->rows < HEIGHT_MAX / ROW ? matrix->rows * ROW : HEIGHT_MAX;
	if (layout.height > most)
		layout.height = most > HEIGHT_MIN ? most : HEIGHT_MIN;
	return layout;
}

static unsigned int map_left(enum map map)
{
	return LEFT + map * (WIDTH + GAP);
}

static unsigned int map_top(const struct layout *layout, size_t shard)
{
	return TOP + shard * (layout->height + BELOW);
}

static const char *date_text(time_t time, char *text, size_t size)
{
	struct tm utc;

	if (!gmtime_r(&time, &utc) || !strftime(text, size, "%Y-%m-%d %H:%M:%S UTC", &utc))
		return "-";
	return text;
}

static void put_title(FILE *file, const struct svg *svg, const struct layout *layout)
{
	const struct matrix *matrix = svg->matrix;
	uint64_t end = matrix->rows ? matrix->row[matrix->rows - 1].time : 0;
	char from[32], to[32];
	unsigned int looks = 0;
	size_t i;

	for (i = 0; i < matrix->rows; i++)
		looks += matrix->row[i].looks;
	fputs("<title>nearcache ", file);
	xml_text(file, svg->name);
	fputs("</title>\n<text class=\"t\" x=\"20\" y=\"28\">", file);
	xml_text(file, svg->name);
	fprintf(file, ": cached data%s</text>\n", layout->maps > 1 ? " and reads" : "");
	fprintf(file, "<text x=\"20\" y=\"48\">%s to %s, samples: %u, rows: %zu%s</text>\n",
		date_text(svg->begin, from, sizeof(from)),
		date_text(svg->begin + (time_t)(end / 1000000000), to, sizeof(to)),
		looks, matrix->rows,
		layout->maps > 1 ? "" :
			"; reads are not counted: load the counter with 'nearcache heat load'");
}

static void put_begin(FILE *file, const struct svg *svg, const struct layout *layout)
{
	unsigned int width = map_left(layout->maps - 1) + WIDTH + RIGHT;
	unsigned int height = map_top(layout, svg->matrix->grid.shards->count);

	fprintf(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%u\" height=\"%u\" "
		"viewBox=\"0 0 %u %u\" font-family=\"sans-serif\" font-size=\"11\">\n",
		width, height, width, height);
	fputs("<style>.t{font-size:16px}.m{text-anchor:middle}.e{text-anchor:end}"
	      ".a{fill:none;stroke:#000}</style>\n"
	      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", file);
	put_title(file, svg, layout);
}

static unsigned char level_of(const struct matrix *matrix, const struct layout *layout,
			      size_t shard, enum map map, size_t row, unsigned int cell)
{
	const struct sample *sample = &matrix->row[row];
	struct density line = sample_line(sample, &matrix->grid, shard);

	if (map == CACHED)
		return level_share(line.cell[cell],
				   density_edge(&line, cell + 1) - density_edge(&line, cell),
				   LEGEND_LEVELS);
	if (!sample->counted)
		return LEGEND_UNKNOWN;
	return level_octave(sample->reads[shard * matrix->grid.cells + cell], layout->most,
			    LEGEND_LEVELS);
}

static void fill_plane(struct plane *plane, const struct matrix *matrix,
		       const struct layout *layout, size_t shard, enum map map)
{
	size_t row;
	unsigned int cell;

	for (row = 0; row < plane->rows; row++)
		for (cell = 0; cell < plane->cells; cell++)
			plane->level[row * plane->cells + cell] =
				level_of(matrix, layout, shard, map, row, cell);
}

/* Draws all cells. Level 0 is the background, a single rectangle, which the other levels cover. */
static void put_cells(FILE *file, const struct plane *plane)
{
	unsigned char level;

	fprintf(file, "<path fill=\"%s\" d=\"M0 0h%zuv%zuh-%zuz\"/>\n", legend_colour(0),
		plane->cells, plane->rows, plane->cells);
	for (level = 1; level <= LEGEND_UNKNOWN; level++) {
		fprintf(file, "<path fill=\"%s\" d=\"", legend_colour(level));
		plane_path(file, plane, level);
		fputs("\"/>\n", file);
	}
}

static void put_place(FILE *file, const struct svg *svg, const struct layout *layout,
		      size_t shard, enum map map)
{
	const struct density axis = {
		.bytes = svg->matrix->grid.shards->shard[shard].bytes,
		.cells = MARKS - 1,
	};
	unsigned int y = map_top(layout, shard) + layout->height, i;
	char text[SIZE_TEXT];

	for (i = 0; i < MARKS; i++) {
		unsigned int x = map_left(map) + WIDTH * i / (MARKS - 1);

		fprintf(file, "<path class=\"a\" d=\"M%u %uv4\"/>"
			"<text class=\"%s\" x=\"%u\" y=\"%u\">%s</text>\n",
			x, y, i == MARKS - 1 ? "e" : "m", x, y + 16,
			size_print(density_edge(&axis, i), text));
	}
	fprintf(file, "<text class=\"m\" x=\"%u\" y=\"%u\">offset %s (bytes)</text>\n",
		map_left(map) + WIDTH / 2, y + 30,
		svg->numbered ? "in the target" : "on the device");
}

/* Returns the start of a row in seconds, or the end of the last row. */
static double row_seconds(const struct matrix *matrix, size_t row)
{
	const struct sample *sample = &matrix->row[row];

	if (row == matrix->rows)
		return (double)matrix->row[row - 1].time / 1e9;
	return (double)(sample->time - sample->span) / 1e9;
}

/* Labels the time axis. A single sample with a span of 0 gets one label. */
static void put_time(FILE *file, const struct svg *svg, const struct layout *layout, size_t shard)
{
	const struct matrix *matrix = svg->matrix;
	unsigned int top = map_top(layout, shard), i;
	size_t row, last = SIZE_MAX;

	for (i = 0; i < MARKS && matrix->rows; i++) {
		unsigned int y;

		row = matrix->rows * i / (MARKS - 1);
		if (row == last || (row && row_seconds(matrix, row) <= row_seconds(matrix, 0)))
			continue;
		last = row;
		y = top + layout->height * row / matrix->rows;
		fprintf(file, "<path class=\"a\" d=\"M%u %uh-4\"/>"
			"<text class=\"e\" x=\"%u\" y=\"%u\">%.1f s</text>\n",
			LEFT, y, LEFT - 7, y + 4, row_seconds(matrix, row));
	}
	fprintf(file, "<text class=\"m\" transform=\"translate(24 %u)rotate(-90)\">"
		"time (seconds)</text>\n", top + layout->height / 2);
}

static void put_map(FILE *file, const struct svg *svg, const struct layout *layout,
		    size_t shard, enum map map, struct plane *plane)
{
	unsigned int x = map_left(map), y = map_top(layout, shard);

	fill_plane(plane, svg->matrix, layout, shard, map);
	fprintf(file, "<g shape-rendering=\"crispEdges\" "
		"transform=\"translate(%u %u)scale(%.6g %.6g)\">\n",
		x, y, (double)WIDTH / (double)plane->cells,
		plane->rows ? (double)layout->height / (double)plane->rows : 1.0);
	put_cells(file, plane);
	fprintf(file, "</g><path class=\"a\" d=\"M%u %uh%uv%uh-%uz\"/>\n", x, y, WIDTH,
		layout->height, WIDTH);
	put_place(file, svg, layout, shard, map);
}

static void put_shard(FILE *file, const struct svg *svg, const struct layout *layout,
		      size_t shard, struct plane *plane)
{
	unsigned int map;

	if (svg->numbered) {
		fprintf(file, "<text x=\"%u\" y=\"%u\">", LEFT, map_top(layout, shard) - 6);
		xml_text(file, svg->matrix->grid.shards->shard[shard].name);
		fputs("</text>\n", file);
	}
	put_time(file, svg, layout, shard);
	for (map = CACHED; map < layout->maps; map++)
		put_map(file, svg, layout, shard, map, plane);
}

/* Writes the document. Returns 0, or an exit code after recording an error with fail(). */
int svg_write(FILE *file, const struct svg *svg)
{
	const struct matrix *matrix = svg->matrix;
	struct layout layout = lay_out(matrix);
	struct plane plane = { .rows = matrix->rows, .cells = matrix->grid.cells };
	size_t i;

	plane.level = calloc(plane.rows + 1, plane.cells);
	if (!plane.level)
		return fail_memory();
	put_begin(file, svg, &layout);
	legend_shares(file, map_left(CACHED), TOP - 58);
	if (layout.maps > 1)
		legend_reads(file, map_left(READS), TOP - 58, layout.most);
	for (i = 0; i < matrix->grid.shards->count; i++)
		put_shard(file, svg, &layout, i, &plane);
	fputs("</svg>\n", file);
	free(plane.level);
	return 0;
}
