// SPDX-License-Identifier: GPL-2.0-only
/* nearcache heatmap: draw cached data and reads of a device, or of files on it, over time. */
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cluster/homes.h"
#include "cmd/commands.h"
#include "cmd/node_part.h"
#include "block/dm.h"
#include "lib/error.h"
#include "heatmap/take_sample.h"
#include "heatmap/sample_matrix.h"
#include "heatmap/json_numbers.h"
#include "heatmap/svg_byte_limit.h"
#include "heatmap/text_shades.h"
#include "lib/print.h"
#include "lib/atomic_file.h"
#include "block/signals.h"
#include "files/operand.h"
#include "lib/periodic_wait.h"

#define MILLISECOND	1000000ULL
/* Default time from one sample to the next, milliseconds. */
#define INTERVAL	1000U
/* Maximum number of shards in a picture. */
#define SHARDS_MAX	256
/* Cells per shard in a picture, and in JSON; columns of a text that is not for a terminal. */
#define CELLS_PICTURE	500
#define CELLS_NUMBERS	64
#define WIDTH		80
/* Maximum of a picture: rows of all shards, rows of one shard, bytes.  To fit, rows are merged. */
#define ROWS		2000
#define ROWS_MAX	1000
#define BYTES_MAX	1000000

/*
 * @homes: nodes of the cluster device that the user named: the cache keeps only data that has its
 *	home on this node, and data that failed peers did not serve
 * @shards: the shards to draw; without TARGETs one shard, the whole device
 * @gather: takes the samples
 * @shade: draws the samples as text
 * @matrix: collects the samples for a picture
 * @begin: start of the command, seconds since 1970
 */
struct heatmap {
	const struct arguments *args;
	const struct dm_device *dev;
	const struct homes *homes;
	struct shards shards;
	struct gather gather;
	struct shade shade;
	struct matrix matrix;
	time_t begin;
};

static bool is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", 0);
	bool utf8;

	if (!locale)
		return false;
	utf8 = !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
	freelocale(locale);
	return utf8;
}

static unsigned int terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return WIDTH;
	return size.ws_col;
}

static int find_shards(struct heatmap *map)
{
	struct shard *shard;

	if (target_given(map->args)) {
		if (homes_resolve(TARGET_SHOW, map->args, map->dev, map->homes,
				  &map->shards))
			return fail_code();
		if (map->shards.count > SHARDS_MAX)
			return fail(CODE_USAGE,
				    "%zu files and ranges: at most %d fit; name fewer, or none for the whole device",
				    map->shards.count, SHARDS_MAX);
		return 0;
	}
	shard = shards_add(&map->shards, map->dev->name);
	return shard ? shard_add_range(shard, 0, map->dev->size) : (int)fail_code();
}

/* Maximum rows of one shard if all shards share ROWS.  Even, as matrix_make() requires. */
static size_t rows_of(const struct shards *shards)
{
	size_t rows = ROWS / shards->count / 2 * 2;

	return rows < ROWS_MAX ? rows : ROWS_MAX;
}

/* Count the bytes of the cells of a shard that are here. */
static void count_homes(const struct homes *homes, const struct shard *shard, struct density *line)
{
	uint64_t place = 0;
	size_t i;

	for (i = 0; i < shard->ranges; i++) {
		struct range rest = shard->range[i], piece;

		while (rest.length) {
			if (homes_next(homes, &rest, &piece))
				density_add(line, place, piece.length);
			place += piece.length;
		}
	}
}

static int mark_homes(const struct heatmap *map, struct grid *grid)
{
	const struct shards *shards = grid->shards;
	size_t i;

	if (!homes_divide(map->homes))
		return 0;
	grid->home = calloc(shards->count * grid->cells + 1, sizeof(*grid->home));
	if (!grid->home)
		return fail_memory();
	for (i = 0; i < shards->count; i++) {
		struct density line = {
			.bytes = shards->shard[i].bytes,
			.cell = grid->home + i * grid->cells,
			.cells = grid->cells,
		};

		count_homes(map->homes, &shards->shard[i], &line);
	}
	return 0;
}

static int prepare_heatmap(struct heatmap *map)
{
	struct grid *grid = &map->gather.grid;

	map->shade = (struct shade){
		.name = map->dev->name,
		.utf8 = is_utf8(),
		.counted = map->gather.counted,
		.numbered = target_given(map->args),
	};
	grid->shards = &map->shards;
	if (map->args->output)
		grid->cells = CELLS_PICTURE;
	else if (option_given(map->args, OPTION_JSON))
		grid->cells = CELLS_NUMBERS;
	else
		grid->cells = shade_cells(&map->shade, terminal_width());
	map->begin = time(NULL);
	if (mark_homes(map, grid))
		return fail_code();
	return map->args->output ? matrix_make(&map->matrix, grid, rows_of(&map->shards)) : 0;
}

static void show_heatmap(const struct heatmap *map, const struct sample *sample)
{
	struct timespec now;

	if (!option_given(map->args, OPTION_JSON)) {
		shade_sample(stdout, &map->shade, &map->gather.grid, sample);
	} else {
		clock_gettime(CLOCK_REALTIME, &now);
		print_string("name", NULL, map->dev->name);
		print_string("cluster", NULL,
			     homes_divide(map->homes) ? map->homes->name : NULL);
		print_number("time_ns", NULL,
			     (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
		numbers_print(&map->gather.grid, sample, map->shade.numbered);
		omitted_print(&map->shards.omitted);
	}
	print_next();
}

static int take_sample(struct heatmap *map, struct sample *sample)
{
	sample_clear(sample, &map->gather.grid);
	if (gather_take(&map->gather, sample))
		return fail_code();
	if (map->args->output)
		return matrix_add(&map->matrix, sample);
	show_heatmap(map, sample);
	return fail_code();
}

/* Waits until the next sample is due.  Returns true if a signal ends the command. */
static bool wait_next(struct watch *pace)
{
	uint64_t now = watch_now();

	pace->next = watch_after(pace->next, now, pace->interval);
	return signals_wait((unsigned int)((pace->next - now + MILLISECOND - 1) / MILLISECOND));
}

/* Takes all samples.  A signal ends the last interval early; only a picture gets that sample. */
static void sample_all(struct heatmap *map, struct sample *sample)
{
	const struct arguments *args = map->args;
	bool stopped = false;
	struct watch pace;
	unsigned int i;

	watch_start(&pace, (args->interval ? args->interval : INTERVAL) * MILLISECOND);
	for (i = 0; !stopped && !fail_code() && (!args->count || i < args->count); i++) {
		if (!map->gather.moment)
			stopped = wait_next(&pace);
		if (!stopped || args->output)
			take_sample(map, sample);
	}
}

static int write_picture(struct heatmap *map)
{
	const struct svg svg = {
		.name = map->dev->name,
		.begin = map->begin,
		.numbered = map->shade.numbered,
		.matrix = &map->matrix,
	};
	size_t bytes = 0;
	char *text = picture_draw(&svg, &map->matrix, BYTES_MAX, &bytes);

	if (text && !option_given(map->args, OPTION_DRY_RUN))
		atomic_file_write(map->args->output, text, bytes, false);
	free(text);
	if (fail_code())
		return fail_code();
	print_string("name", NULL, map->dev->name);
	print_string("file", "picture", map->args->output);
	print_bytes("bytes", "size", bytes);
	print_number("rows", "rows", map->matrix.rows);
	print_flag("counted", NULL, matrix_counted(&map->matrix));
	omitted_print(&map->shards.omitted);
	if (!matrix_counted(&map->matrix))
		print_string(NULL, "reads", "not counted: run 'nearcache heat load' to count them");
	return 0;
}

static int run_heatmap(struct heatmap *map)
{
	struct sample sample = { 0 };

	if (find_shards(map) || gather_begin(&map->gather) || prepare_heatmap(map) ||
	    sample_make(&sample, &map->gather.grid))
		goto out;
	if (!map->args->output)
		print_lines();
	if (!map->args->output && !option_given(map->args, OPTION_JSON)) {
		omitted_warn(&map->shards.omitted);
		shade_heading(stdout, &map->shade, &map->gather.grid);
	}
	sample_all(map, &sample);
	/* Draw the samples even if the device has disappeared meanwhile. */
	if (map->matrix.rows)
		write_picture(map);
out:
	sample_free(&sample);
	return fail_code();
}

static int heatmap_device(const struct arguments *args, const struct dm_device *dev,
			  const struct homes *homes)
{
	struct heatmap map = {
		.args = args,
		.dev = dev,
		.homes = homes,
		.gather = {
			.dev = dev,
			.moment = args->count == 1 && !args->interval,
		},
	};
	sigset_t before;

	if (dm_need_table(dev))
		return fail_code();
	if (args->output && !option_given(args, OPTION_DRY_RUN) && atomic_file_check(args->output))
		return fail_code();
	signals_hold(&before);
	run_heatmap(&map);
	signals_release(&before);
	matrix_free(&map.matrix);
	gather_end(&map.gather);
	free(map.gather.grid.home);
	shards_free(&map.shards);
	return fail_code();
}

static int cmd_heatmap(const struct arguments *args)
{
	return node_part_show(args, heatmap_device);
}

const struct verb heatmap_verb = {
	.name = "heatmap",
	.group = VERBS_OBSERVE,
	.operands = "NAME [TARGET...]",
	.operands_min = 1,
	.operands_max = -1,
	.optional = OPTION_INTERVAL | OPTION_COUNT | OPTION_OUTPUT |
		    TARGET_OPTIONS,
	.summary = "draw cached data and reads, place by time",
	.details =
"Each sample is one line, or one for each TARGET. From left to right the line shows the\n"
"place: darker cells have more cached data. While 'nearcache heat' is loaded, a second\n"
"row of cells is darker where more was read since the last sample. A sample is taken at\n"
"the end of each --interval, --count of them or until ^C. --count 1 without --interval\n"
"shows the present state, and all reads since 'heat load'. Reads are counted in regions\n"
"of 16 MiB; a smaller cell shows its share of the region, which includes reads of other\n"
"files.\n"
"\n"
"--output writes the samples as an SVG picture, time downwards, after the last sample.\n"
"The picture has at most 1000 rows (256 TARGETs share 2000) and 1 MB; a row shows the\n"
"mean of several samples where necessary. JSON has one object per line: for each TARGET\n"
"64 cells with cached data and reads.\n"
"\n"
"NAME of a cluster device: a line above the samples, and home_bytes of each cell in JSON,\n"
"show which part of a cell has its home on this node. A picture does not show it.\n"
"\n" TARGET_HELP,
	.run = cmd_heatmap,
};
