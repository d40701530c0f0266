// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/json_numbers.h"

#include "lib/print.h"

/* @home: bytes of each cell that have their home on this node; NULL: there is no cluster. */
static void print_cells(const struct density *line, const double *reads, bool counted,
			const uint64_t *home)
{
	unsigned int i;

	print_table("cells");
	for (i = 0; i < line->cells && line->bytes; i++) {
		uint64_t start = density_edge(line, i);

		print_record(NULL, NULL);
		print_number("start", NULL, start);
		print_number("length", NULL, density_edge(line, i + 1) - start);
		print_number("cached_bytes", NULL, line->cell[i]);
		if (home)
			print_number("home_bytes", NULL, home[i]);
		if (counted)
			print_real("reads", NULL, reads[i]);
		print_end();
	}
	print_end();
}

static uint64_t sum_line(const struct density *line)
{
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i < line->cells; i++)
		bytes += line->cell[i];
	return bytes;
}

/* Prints a sample into the open JSON object. If not @named, prints null as the name of a shard. */
void numbers_print(const struct grid *grid, const struct sample *sample, bool named)
{
	size_t i;

	print_number("elapsed_ns", NULL, sample->time);
	print_number("span_ns", NULL, sample->span);
	print_flag("counted", NULL, sample->counted);
	print_table("shards");
	for (i = 0; i < grid->shards->count; i++) {
		struct density line = sample_line(sample, grid, i);

		print_record(NULL, NULL);
		print_string("name", NULL, named ? grid->shards->shard[i].name : NULL);
		print_number("bytes", NULL, line.bytes);
		print_number("cached_bytes", NULL, sum_line(&line));
		print_cells(&line, sample->reads + i * grid->cells, sample->counted,
			    grid->home ? grid->home + i * grid->cells : NULL);
		print_end();
	}
	print_end();
}
