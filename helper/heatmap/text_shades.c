// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/text_shades.h"

#include <stdlib.h>
#include <string.h>

#include "heatmap/cell_level.h"
#include "lib/size.h"
#include "lib/sanitize.h"

#define LEVELS		5
#define CELLS_MIN	16
#define CELLS_MAX	500
/* Columns of a time "  12345.6 s", of a shard's number " 123", and of the frame " |" and "|". */
#define TIME_WIDTH	11
#define NUMBER_WIDTH	4
#define AROUND		3

static const char *const blocks[LEVELS] = { "·", "░", "▒", "▓", "█" };
static const char *const letters[LEVELS] = { ".", "-", "+", "*", "#" };

static const char *block_text(const struct shade *shade, unsigned int level)
{
	return shade->utf8 ? blocks[level] : letters[level];
}

static unsigned int prefix_width(const struct shade *shade)
{
	return TIME_WIDTH + (shade->numbered ? NUMBER_WIDTH : 0);
}

/* Returns how many cells per shard fit into @width columns, but at least CELLS_MIN. */
unsigned int shade_cells(const struct shade *shade, unsigned int width)
{
	unsigned int maps = shade->counted ? 2 : 1;
	unsigned int rest = width > prefix_width(shade) ? width - prefix_width(shade) : 0;
	unsigned int cells = rest / maps > AROUND ? rest / maps - AROUND : 0;

	if (cells < CELLS_MIN)
		return CELLS_MIN;
	return cells < CELLS_MAX ? cells : CELLS_MAX;
}

static void put_name(FILE *file, const char *name)
{
	char *clean = strdup(name);

	if (clean)
		fputs(text_clean(clean), file);
	free(clean);
}

static void put_legend(FILE *file, const struct shade *shade)
{
	static const char *const share[LEVELS] = { "none", "to 1/3", "to 2/3", "more", "all" };
	static const char *const decade[LEVELS] = { "none", "to 9", "to 99", "to 999", "more" };
	unsigned int i;

	fputs("cached  ", file);
	for (i = 0; i < LEVELS; i++)
		fprintf(file, " %s %s ", block_text(shade, i), share[i]);
	fputs("\nreads   ", file);
	if (!shade->counted)
		fputs(" not counted: load the counter with 'nearcache heat load'", file);
	for (i = 0; shade->counted && i < LEVELS; i++)
		fprintf(file, " %s %s ", block_text(shade, i), decade[i]);
	fputs(shade->counted ? " per cell\n\n" : "\n\n", file);
}

static void put_shards(FILE *file, const struct shade *shade, const struct grid *grid)
{
	const struct shards *shards = grid->shards;
	char size[SIZE_TEXT], cell[SIZE_TEXT];
	size_t i;

	put_name(file, shade->name);
	if (!shade->numbered)
		fprintf(file, ": %s, %u cells of %s\n",
			size_print(shards->shard[0].bytes, size), grid->cells,
			size_print(shards->shard[0].bytes / grid->cells, cell));
	else
		fprintf(file, ": %u cells each of\n", grid->cells);
	for (i = 0; shade->numbered && i < shards->count; i++) {
		fprintf(file, "%4zu  %10s  ", i + 1,
			size_print(shards->shard[i].bytes, size));
		put_name(file, shards->shard[i].name);
		putc('\n', file);
	}
}

/* Prints "0      32 MiB      64 MiB" above the cells, or percent if there are several shards. */
static void put_scale(FILE *file, const struct grid *grid)
{
	uint64_t bytes = grid->shards->count == 1 ? grid->shards->shard[0].bytes : 0;
	char middle[SIZE_TEXT] = "50 %", end[SIZE_TEXT] = "100 %";
	int width = (int)grid->cells, half;

	if (grid->shards->count == 1) {
		size_print(bytes / 2, middle);
		size_print(bytes, end);
	}
	/* Centre the middle label, or leave it out if there is no room. */
	half = width / 2 + (int)strlen(middle) / 2;
	if (half + (int)strlen(end) + 1 > width || half - (int)strlen(middle) < 2) {
		half = 1;
		*middle = '\0';
	}
	fprintf(file, "  0%*s%*s ", half - 1, middle, width - half, end);
}

static void put_words(FILE *file, const struct shade *shade, const struct grid *grid)
{
	static const char first[] = "cached";

	fprintf(file, "%*s  %s", (int)prefix_width(shade), "", first);
	if (shade->counted)
		fprintf(file, "%*sreads", (int)(grid->cells + AROUND - strlen(first)), "");
	putc('\n', file);
}

static void put_shares(FILE *file, const struct shade *shade, const struct density *line)
{
	unsigned int i;

	fputs(" |", file);
	for (i = 0; i < line->cells; i++)
		fputs(block_text(shade, level_share(line->cell[i],
						    density_edge(line, i + 1) - density_edge(line,
											     i),
						    LEVELS)), file);
	putc('|', file);
}

/* Prints a line for each shard: which part of each cell has its home on this node of the cluster. */
static void put_homes(FILE *file, const struct shade *shade, const struct grid *grid)
{
	size_t i;

	for (i = 0; grid->home && i < grid->shards->count; i++) {
		struct density line = {
			.bytes = grid->shards->shard[i].bytes,
			.cell = grid->home + i * grid->cells,
			.cells = grid->cells,
		};

		fprintf(file, "%*s", TIME_WIDTH, "home here");
		if (shade->numbered)
			fprintf(file, "%*zu", NUMBER_WIDTH, i + 1);
		put_shares(file, shade, &line);
		putc('\n', file);
	}
}

/* Prints the lines above the first sample. */
void shade_heading(FILE *file, const struct shade *shade, const struct grid *grid)
{
	put_shards(file, shade, grid);
	put_legend(file, shade);
	put_words(file, shade, grid);
	fprintf(file, "%*s", (int)prefix_width(shade), "");
	put_scale(file, grid);
	if (shade->counted)
		put_scale(file, grid);
	putc('\n', file);
	put_homes(file, shade, grid);
}

static void put_reads(FILE *file, const struct shade *shade, const double *reads,
		      unsigned int cells, bool counted)
{
	unsigned int i;

	fputs(" |", file);
	for (i = 0; i < cells; i++)
		fputs(counted ? block_text(shade, level_decade(reads[i], LEVELS)) : "?", file);
	putc('|', file);
}

/* Prints a sample, one line per shard. */
void shade_sample(FILE *file, const struct shade *shade, const struct grid *grid,
		  const struct sample *sample)
{
	size_t i;

	for (i = 0; i < grid->shards->count; i++) {
		struct density line = sample_line(sample, grid, i);

		fprintf(file, "%*.1f s", TIME_WIDTH - 2, (double)sample->time / 1e9);
		if (shade->numbered)
			fprintf(file, "%*zu", NUMBER_WIDTH, i + 1);
		put_shares(file, shade, &line);
		if (shade->counted)
			put_reads(file, shade, sample->reads + i * grid->cells,
				  grid->cells, sample->counted);
		putc('\n', file);
	}
}
