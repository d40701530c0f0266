// SPDX-License-Identifier: GPL-2.0-only
/* Heatmaps as SVG (heatmap/svg.c): valid XML, each cell in its colour, limited size. */
#include <stdio.h>
#include <unistd.h>

#include "heatmap/legend.h"
#include "heatmap/svg_byte_limit.h"
#include "heatmap/svg_rectangles.h"
#include "heatmap/xml.h"
#include "heatmap_unit.h"

static const char *const device[] = { "nc" };
static const char *const files[] = { "a&b<c>\"d\"'e'.tar", "\033\x01\xff\xef\xbf\xbf" };

static char *draw(const struct svg *svg, size_t *bytes)
{
	char *text = NULL;
	FILE *file = open_memstream(&text, bytes);

	assert_non_null(file);
	assert_int_equal(svg_write(file, svg), 0);
	assert_int_equal(fclose(file), 0);
	return text;
}

static void contains(const char *text, const char *word)
{
	if (!strstr(text, word))
		fail_msg("no '%s' in:\n%.4000s", word, text);
}

/* Return the first line that xmllint with @options prints for @text; "" if it is not installed. */
static const char *lint(const char *text, const char *options)
{
	char path[] = "/tmp/heatmap.XXXXXX", command[256];
	static char answer[256];
	FILE *pipe;
	int fd = mkstemp(path);
	size_t n;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	snprintf(command, sizeof(command),
		 "! command -v xmllint >/dev/null || xmllint --nonet %s %s 2>&1 && echo", options, path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	n = fread(answer, 1, sizeof(answer) - 1, pipe);
	answer[n] = '\0';
	if (pclose(pipe))
		fail_msg("xmllint %s: %s", options, answer);
	unlink(path);
	answer[strcspn(answer, "\n")] = '\0';
	return answer;
}

/* Check that XPath expression @path has the value @expected; no check without xmllint. */
static void xpath_is(const char *text, const char *path, const char *expected)
{
	char options[256];
	const char *answer;

	snprintf(options, sizeof(options), "--xpath \"%s\"", path);
	answer = lint(text, options);
	if (*answer && strcmp(answer, expected))
		fail_msg("%s is '%s', not '%s'", path, answer, expected);
}

static void escaped(void **state)
{
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);

	(void)state;
	xml_text(file, "a<b>&\"'\n\x7f\xc2\x85\xff \xc3\xbc \xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd");
	fclose(file);
	assert_string_equal(text, "a&lt;b&gt;&amp;&quot;&apos;?" "?" "?" "?" "?"
				  " \xc3\xbc ??\xef\xbf\xbd");
	free(text);
}

/* Paint the rectangles of @path in @level; return their number. */
static size_t paint(struct plane *plane, const char *path, unsigned char level)
{
	size_t x, y, width, height, back, row, cell, count = 0;
	int used;

	for (; *path; path += used, count++) {
		used = 0;
		assert_int_equal(sscanf(path, "M%zu %zuh%zuv%zuh-%zuz%n", &x, &y, &width,
					&height, &back, &used), 5);
		assert_true(used);
		assert_int_equal(width, back);
		assert_true(x + width <= plane->cells && y + height <= plane->rows);
		for (row = y; row < y + height; row++)
			for (cell = x; cell < x + width; cell++) {
				/* No cell is painted twice. */
				assert_int_equal(plane->level[row * plane->cells + cell], 0xff);
				plane->level[row * plane->cells + cell] = level;
			}
	}
	return count;
}

static size_t repaint(const struct plane *plane, unsigned char levels)
{
	struct plane copy = *plane;
	size_t rectangles = 0;
	unsigned char level;

	copy.level = malloc(plane->rows * plane->cells);
	memset(copy.level, 0xff, plane->rows * plane->cells);
	for (level = 0; level < levels; level++) {
		char *text = NULL;
		size_t bytes, count;
		FILE *file = open_memstream(&text, &bytes);

		count = plane_path(file, plane, level);
		fclose(file);
		assert_int_equal(paint(&copy, text, level), count);
		rectangles += count;
		free(text);
	}
	assert_memory_equal(copy.level, plane->level, plane->rows * plane->cells);
	free(copy.level);
	return rectangles;
}

/* plane_path() covers each cell by one rectangle of its level, simple planes by 1 or 2 in all. */
static void planes(void **state)
{
	unsigned char level[37 * 23];
	struct plane plane = { level, 23, 37 };
	unsigned int turn, i;

	(void)state;
	memset(level, 2, sizeof(level));
	assert_int_equal(repaint(&plane, 4), 1);
	/* The left half and the right half are a rectangle each. */
	for (i = 0; i < sizeof(level); i++)
		level[i] = i % 37 < 18;
	assert_int_equal(repaint(&plane, 4), 2);
	for (turn = 0; turn < 200; turn++) {
		for (i = 0; i < sizeof(level); i++)
			level[i] = i && next_random() % (turn + 2) ? level[i - 1] :
								     next_random() % 4;
		repaint(&plane, 4);
	}
	plane.rows = 0;
	assert_int_equal(repaint(&plane, 4), 0);
}

/* Make @rows samples of a cache that fills up; @counted: the samples have reads as well. */
static void make(struct matrix *matrix, const struct grid *grid, size_t rows, bool counted)
{
	size_t cells = grid->shards->count * grid->cells, row, i;
	struct sample sample;

	assert_int_equal(matrix_make(matrix, grid, 1000), 0);
	assert_int_equal(sample_make(&sample, grid), 0);
	for (row = 0; row < rows; row++) {
		sample.time = (row + 1) * 2000000000ULL;
		sample.span = 2000000000ULL;
		sample.looks = 1;
		sample.counted = counted;
		for (i = 0; i < cells; i++) {
			sample.cached[i] = i * rows <= row * cells ?
					   bytes_of(&sample, grid, i / grid->cells, i % grid->cells) : 0;
			sample.reads[i] = counted ? (double)((row + i) % 50 / 10) : 0;
		}
		assert_int_equal(matrix_add(matrix, &sample), 0);
	}
	sample_free(&sample);
}

static void pictures(void **state)
{
	struct shards shards;
	struct grid grid = { .shards = &shards, .cells = 500 };
	struct matrix matrix;
	struct svg svg = { .name = "a<b", .begin = 1700000000, .matrix = &matrix };
	size_t bytes;
	char *text;

	(void)state;
	make_shards(&shards, device, 1, 64 * MIB);
	make(&matrix, &grid, 10, true);
	text = draw(&svg, &bytes);
	lint(text, "--noout");
	contains(text, "<title>nearcache a&lt;b</title>");
	/* The legend has whole numbers of reads. */
	contains(text, ">≤4</text>");
	contains(text, ">≤1</text>");
	assert_null(strstr(text, "≤0"));
	contains(text, "2023-11-14 22:13:20 UTC to 2023-11-14 22:13:40 UTC, samples: 10, rows: 10<");
	contains(text, ">64 MiB</text>");
	contains(text, ">offset on the device (bytes)</text>");
	contains(text, ">20.0 s</text>");
	xpath_is(text, "local-name(/*)", "svg");
	xpath_is(text, "count(//*[local-name()='g'])", "2");
	/* Each level has one path, so only colours of the legend are used. */
	xpath_is(text, "count(//*[local-name()='g']/*[local-name()='path'])", "22");
	free(text);
	matrix_free(&matrix);
	make(&matrix, &grid, 10, false);
	text = draw(&svg, &bytes);
	lint(text, "--noout");
	xpath_is(text, "count(//*[local-name()='g'])", "1");
	contains(text, "reads are not counted");
	free(text);
	matrix_free(&matrix);
	shards_free(&shards);
}

/* Odd file names with 0 samples of empty files, 1 sample of duration 0, and 2 samples. */
static void odd_ones(void **state)
{
	struct shards shards;
	struct grid grid = { .shards = &shards, .cells = 500 };
	struct matrix matrix;
	struct svg svg = { .name = "nc", .numbered = true, .matrix = &matrix };
	size_t bytes, rows;
	char *text;

	(void)state;
	for (rows = 0; rows < 3; rows++) {
		make_shards(&shards, files, 2, rows ? 1 << 20 : 0);
		make(&matrix, &grid, rows, true);
		if (rows == 1)
			matrix.row[0].time = matrix.row[0].span = 0;
		text = draw(&svg, &bytes);
		lint(text, "--noout");
		contains(text, "a&amp;b&lt;c&gt;&quot;d&quot;&apos;e&apos;.tar</text>");
		contains(text, ">?" "?" "?" "?</text>");
		if (rows == 1)
			xpath_is(text, "count(//*[.='0.0 s'])", "2");
		free(text);
		matrix_free(&matrix);
		shards_free(&shards);
	}
}

/* With 256 files, the maximum, the picture stays below 1 MB. */
static void many(void **state)
{
	const char *name[256];
	struct shards shards;
	struct grid grid = { .shards = &shards, .cells = 500 };
	struct matrix matrix;
	struct svg svg = { .name = "nc", .numbered = true, .matrix = &matrix };
	size_t bytes, i;
	char *text;

	(void)state;
	for (i = 0; i < 256; i++)
		name[i] = "/data/train/a-name-that-is-not-short-0000123.tar";
	make_shards(&shards, name, 256, MIB);
	make(&matrix, &grid, 1, true);
	text = draw(&svg, &bytes);
	lint(text, "--noout");
	assert_in_range(bytes, 1000, 1000000);
	free(text);
	matrix_free(&matrix);
	shards_free(&shards);
}

/* 1000 samples of 500 cells: a regular picture has 1000 rows.  Noise is joined until it fits. */
static void small(void **state)
{
	struct shards shards;
	struct grid grid = { .shards = &shards, .cells = 500 };
	struct matrix matrix;
	struct svg svg = { .name = "nc", .matrix = &matrix };
	size_t bytes, row, i;
	char *text;

	(void)state;
	make_shards(&shards, device, 1, 64 * MIB);
	make(&matrix, &grid, 1000, false);
	text = picture_draw(&svg, &matrix, 1000000, &bytes);
	assert_in_range(bytes, 1000, 200000);
	assert_int_equal(bytes, strlen(text));
	assert_int_equal(matrix.rows, 1000);
	for (row = 0; row < 1000; row++)
		for (i = 0; i < 500; i++)
			matrix.row[row].cached[i] = next_random() % 2 * bytes_of(&matrix.row[row], &grid, 0, i);
	free(text);
	text = picture_draw(&svg, &matrix, 1000000, &bytes);
	assert_in_range(bytes, 1000, 1000000);
	assert_in_range(matrix.rows, 62, 500);
	contains(text, "samples: 1000, rows: ");
	contains(text, ">2000.0 s</text>");
	lint(text, "--noout");
	free(text);
	/* However small the limit is, one row is drawn. */
	text = picture_draw(&svg, &matrix, 1, &bytes);
	assert_int_equal(matrix.rows, 1);
	assert_true(bytes > 1);
	free(text);
	matrix_free(&matrix);
	shards_free(&shards);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escaped),
		cmocka_unit_test(planes),
		cmocka_unit_test(pictures),
		cmocka_unit_test(odd_ones),
		cmocka_unit_test(many),
		cmocka_unit_test(small),
	};

	return RUN(tests);
}
