// SPDX-License-Identifier: GPL-2.0-only
/* heatmap/shade.c: heatmaps as lines of text. */
#include "heatmap/text_shades.h"
#include "heatmap_unit.h"

static const char *const device[] = { "nc" };
static const char *const files[] = { "one.tar", "two\033[2J\xff.tar" };

/* Return the text of a sample, or of the heading (NULL), valid until the next call. */
static const char *drawn(const struct shade *shade, const struct grid *grid,
			 const struct sample *sample)
{
	static char text[4096];
	FILE *file = fmemopen(text, sizeof(text), "w");

	assert_non_null(file);
	if (sample)
		shade_sample(file, shade, grid, sample);
	else
		shade_heading(file, shade, grid);
	assert_int_equal(fclose(file), 0);
	return text;
}

static void contains(const char *text, const char *word)
{
	if (!strstr(text, word))
		fail_msg("no '%s' in:\n%s", word, text);
}

/* Make a sample: cells 0 to 4 have 0, 30, 60, 90 and 100 % cached, and reads of all levels. */
static void make(struct sample *sample, const struct grid *grid)
{
	static const double reads[] = { 0, 0.5, 10, 999, 1e6 };
	unsigned int i;

	assert_int_equal(sample_make(sample, grid), 0);
	for (i = 0; i < 5; i++) {
		uint64_t bytes = bytes_of(sample, grid, 0, i);

		sample->cached[i] = i == 4 ? bytes : bytes / 10 * (i * 3);
		sample->reads[i] = reads[i];
	}
	sample->time = 12345678901ULL;
	sample->counted = true;
}

static void lines(void **state)
{
	struct shade shade = { .name = "nc", .utf8 = true, .counted = true };
	struct shards shards;
	struct grid grid = { .shards = &shards, .cells = 16 };
	struct sample sample;

	(void)state;
	make_shards(&shards, device, 1, 64 * MIB);
	make(&sample, &grid);
	assert_string_equal(drawn(&shade, &grid, &sample),
			    "     12.3 s |·░▒▓█···········| |·░▒▓█···········|\n");
	shade.utf8 = false;
	assert_string_equal(drawn(&shade, &grid, &sample),
			    "     12.3 s |.-+*#...........| |.-+*#...........|\n");
	/* If the BPF program does not count, the numbers of reads are unknown. */
	sample.counted = false;
	assert_string_equal(drawn(&shade, &grid, &sample),
			    "     12.3 s |.-+*#...........| |????????????????|\n");
	shade.counted = false;
	assert_string_equal(drawn(&shade, &grid, &sample),
			    "     12.3 s |.-+*#...........|\n");
	contains(drawn(&shade, &grid, NULL), "'nearcache heat load'");
	sample_free(&sample);
	shards_free(&shards);
}

static void heading(void **state)
{
	struct shade shade = { .name = "nc", .counted = true };
	struct shards shards;
	struct grid grid = { .shards = &shards, .cells = 32 };
	const char *text;

	(void)state;
	make_shards(&shards, device, 1, 64 * MIB);
	text = drawn(&shade, &grid, NULL);
	contains(text, "nc: 64 MiB, 32 cells of 2 MiB\n");
	contains(text, " . none  - to 1/3  + to 2/3  * more  # all \n");
	contains(text, " . none  - to 9  + to 99  * to 999  # more  per cell\n");
	/* The labels of the scale are above the ends of the rows. */
	contains(text, "\n             0            32 MiB       64 MiB"
		       "   0            32 MiB       64 MiB \n");
	contains(text, "\n             cached                             reads\n");
	shards_free(&shards);
}

/* Each shard has its own line; control characters in its name are printed as '?'. */
static void several(void **state)
{
	struct shade shade = { .name = "nc", .numbered = true };
	struct shards shards;
	struct grid grid = { .shards = &shards, .cells = 16 };
	struct sample sample;
	const char *text;

	(void)state;
	make_shards(&shards, files, 2, 64 * MIB);
	make(&sample, &grid);
	sample.cached[31] = bytes_of(&sample, &grid, 1, 15);
	assert_string_equal(drawn(&shade, &grid, &sample),
			    "     12.3 s   1 |.-+*#...........|\n"
			    "     12.3 s   2 |...............#|\n");
	text = drawn(&shade, &grid, NULL);
	contains(text, "   1      64 MiB  one.tar\n   2      64 MiB  two?[2J?.tar\n");
	contains(text, "100 %");
	sample_free(&sample);
	shards_free(&shards);
}

/* shade_cells() makes a line fill the width of the terminal. */
static void fits(void **state)
{
	struct shade shade = { .name = "nc" };
	struct shards shards;
	struct grid grid = { .shards = &shards, .cells = 0 };
	struct sample sample;
	unsigned int width, form;

	(void)state;
	make_shards(&shards, device, 1, 64 * MIB);
	for (width = 60; width < 400; width += 7)
		for (form = 0; form < 4; form++) {
			size_t length;

			shade.counted = form & 1;
			shade.numbered = form & 2;
			grid.cells = shade_cells(&shade, width);
			make(&sample, &grid);
			length = strlen(drawn(&shade, &grid, &sample)) - 1;
			assert_in_range(length, width - 1, width);
			sample_free(&sample);
		}
	assert_int_equal(shade_cells(&shade, 0), 16);
	assert_int_equal(shade_cells(&shade, 1), 16);
	assert_int_equal(shade_cells(&shade, UINT32_MAX), 500);
	shards_free(&shards);
}

/* An empty file has no cached cells. */
static void empty(void **state)
{
	struct shade shade = { .name = "nc", .numbered = true };
	struct shards shards;
	struct grid grid = { .shards = &shards, .cells = 16 };
	struct sample sample;

	(void)state;
	make_shards(&shards, files, 1, 0);
	assert_int_equal(sample_make(&sample, &grid), 0);
	assert_string_equal(drawn(&shade, &grid, &sample),
			    "      0.0 s   1 |................|\n");
	contains(drawn(&shade, &grid, NULL), "0 B");
	sample_free(&sample);
	shards_free(&shards);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(heading),
		cmocka_unit_test(several),
		cmocka_unit_test(fits),
		cmocka_unit_test(empty),
	};

	return RUN(tests);
}
