// SPDX-License-Identifier: GPL-2.0-only
/* Heatmaps: reads in cells (region_reads.c), joined samples (sample_matrix.c, sample.c), shades. */
#include "heatmap/region_reads.h"
#include "heatmap/cell_level.h"
#include "heatmap_unit.h"

#define REGION	(16 * MIB)

static void counts_are(const struct counts *counts, const struct count *expected, size_t regions)
{
	size_t i;

	assert_int_equal(counts->regions, regions);
	for (i = 0; i < regions; i++) {
		assert_int_equal(counts->count[i].region, expected[i].region);
		assert_int_equal(counts->count[i].reads, expected[i].reads);
	}
}

static void counted(void **state)
{
	static const struct count sorted[] = { { 1, 7 }, { 3, 30 }, { 9, 2 }, { 12, 5 } };
	static const struct count since[] = { { 1, 7 }, { 3, 20 }, { 9, 2 }, { 12, 0 } };
	struct counts now = { 0 }, before = { 0 }, copy = { 0 };
	uint32_t i;

	(void)state;
	counts_sort(&now);
	assert_int_equal(now.regions, 0);
	/* The kernel's map may list a region twice: the larger number counts. */
	counts_add(&now, 9, 2);
	counts_add(&now, 3, 28);
	counts_add(&now, 12, 5);
	counts_add(&now, 1, 7);
	counts_add(&now, 3, 30);
	counts_sort(&now);
	counts_are(&now, sorted, 4);
	counts_add(&before, 0, 100);
	counts_add(&before, 3, 10);
	counts_add(&before, 9, 4);
	counts_add(&before, 12, 5);
	assert_int_equal(counts_copy(&copy, &now), 0);
	/* Region 9 has 2 reads, 4 before: the map dropped it in between, so both reads are new. */
	counts_since(&copy, &before);
	counts_are(&copy, since, 4);
	counts_free(&copy);
	for (i = 0; i < 1000; i++)
		assert_int_equal(counts_add(&copy, 1000 - i, i), 0);
	counts_sort(&copy);
	assert_int_equal(copy.regions, 1000);
	assert_int_equal(copy.count[0].region, 1);
	counts_free(&now);
	counts_free(&before);
	counts_free(&copy);
}

static void reads_are(const double *reads, const double *expected, unsigned int cells)
{
	unsigned int i;

	for (i = 0; i < cells; i++)
		if (reads[i] < expected[i] - 1e-9 || reads[i] > expected[i] + 1e-9)
			fail_msg("cell %u: %g, not %g", i, reads[i], expected[i]);
}

/* A device of 40 MiB has 2.5 regions: 20 reads of region 0, 8 reads of region 2 (the half one). */
static void spread(void **state)
{
	static const double fine[] = { 10, 10, 0, 0, 8 }, coarse[] = { 20, 8 };
	static const double pieces[] = { 5, 5, 4, 4 };
	struct counts counts = { 0 };
	struct shard shard = { 0 };
	struct density line = { .bytes = 40 * MIB, .cells = 5 };
	double reads[5] = { 0 };

	(void)state;
	counts_add(&counts, 0, 20);
	counts_add(&counts, 2, 8);
	counts_sort(&counts);
	shard_add_range(&shard, 0, 40 * MIB);
	counts_spread(&counts, &shard, 40 * MIB, &line, reads);
	reads_are(reads, fine, 5);
	/* Cells of 20 MiB are larger than regions. */
	line.cells = 2;
	memset(reads, 0, sizeof(reads));
	counts_spread(&counts, &shard, 40 * MIB, &line, reads);
	reads_are(reads, coarse, 2);
	free(shard.range);
	/* A file in two pieces: the second half of region 0, and region 2. */
	shard = (struct shard){ 0 };
	shard_add_range(&shard, 8 * MIB, 8 * MIB);
	shard_add_range(&shard, 32 * MIB, 8 * MIB);
	line = (struct density){ .bytes = 16 * MIB, .cells = 4 };
	memset(reads, 0, sizeof(reads));
	counts_spread(&counts, &shard, 40 * MIB, &line, reads);
	reads_are(reads, pieces, 4);
	free(shard.range);
	counts_free(&counts);
}

/* The sum over 77 cells is the sum over all regions: no read is lost or counted twice. */
static void spread_sum(void **state)
{
	struct counts counts = { 0 };
	struct shard shard = { 0 };
	struct density line = { .cells = 77 };
	double reads[77] = { 0 }, sum = 0, expected = 0;
	uint64_t size = 1000 * REGION - 5 * MIB;
	uint32_t i;

	(void)state;
	for (i = 0; i < 1000; i += 3) {
		counts_add(&counts, i, i);
		expected += i;
	}
	counts_sort(&counts);
	shard_add_range(&shard, 0, size);
	line.bytes = size;
	counts_spread(&counts, &shard, size, &line, reads);
	for (i = 0; i < 77; i++)
		sum += reads[i];
	assert_true(sum > expected - 1e-3 && sum < expected + 1e-3);
	free(shard.range);
	counts_free(&counts);
}

static void levels(void **state)
{
	(void)state;
	assert_int_equal(level_share(0, 1000, 5), 0);
	assert_int_equal(level_share(0, 0, 5), 0);
	assert_int_equal(level_share(1, 1000, 5), 1);
	assert_int_equal(level_share(333, 1000, 5), 1);
	assert_int_equal(level_share(334, 1000, 5), 2);
	assert_int_equal(level_share(667, 1000, 5), 3);
	assert_int_equal(level_share(999, 1000, 5), 3);
	assert_int_equal(level_share(1000, 1000, 5), 4);
	/* A share below 100 % is never rounded up to the highest level. */
	assert_int_equal(level_share(UINT64_MAX - 1, UINT64_MAX, 5), 3);
	assert_int_equal(level_decade(0, 5), 0);
	assert_int_equal(level_decade(0.01, 5), 1);
	assert_int_equal(level_decade(9.9, 5), 1);
	assert_int_equal(level_decade(10, 5), 2);
	assert_int_equal(level_decade(999, 5), 3);
	assert_int_equal(level_decade(1000, 5), 4);
	assert_int_equal(level_decade(1e12, 5), 4);
	assert_int_equal(level_octave(0, 64, 5), 0);
	assert_int_equal(level_octave(64, 64, 5), 4);
	assert_int_equal(level_octave(32, 64, 5), 3);
	assert_int_equal(level_octave(33, 64, 5), 4);
	assert_int_equal(level_octave(16, 64, 5), 2);
	assert_int_equal(level_octave(0.1, 64, 5), 1);
	assert_int_equal(level_octave(0.1, 0.1, 5), 4);
	/* Levels below 1 are unused. */
	assert_int_equal(level_octave(1, 4, 9), 6);
	assert_int_equal(level_octave(0.1, 4, 9), 6);
	assert_int_equal(level_most(0.1), 1);
	assert_int_equal(level_most(5), 8);
	assert_int_equal(level_most(8), 8);
}

static void add(struct matrix *matrix, uint64_t time, uint64_t cached, double reads)
{
	struct sample sample;

	assert_int_equal(sample_make(&sample, &matrix->grid), 0);
	sample.time = time;
	sample.span = 10;
	sample.looks = 1;
	sample.counted = true;
	sample.cached[0] = cached;
	sample.reads[1] = reads;
	assert_int_equal(matrix_add(matrix, &sample), 0);
	sample_free(&sample);
}

/* Samples are joined when the matrix is full: reads are added, cached bytes averaged. */
static void joined(void **state)
{
	static const char *const name[] = { "device" };
	struct shards shards;
	struct grid grid = { .shards = &shards, .cells = 2 };
	struct matrix matrix;
	double reads = 0;
	unsigned int looks = 0, i;

	(void)state;
	make_shards(&shards, name, 1, 2000 * 512);
	assert_int_equal(matrix_make(&matrix, &grid, 4), 0);
	assert_false(matrix_counted(&matrix));
	for (i = 0; i < 4; i++)
		add(&matrix, 10 * (i + 1), i * 1000, i);
	assert_true(matrix_counted(&matrix));
	assert_int_equal(matrix.rows, 4);
	assert_true(matrix_most_reads(&matrix) == 3);
	add(&matrix, 50, 4000, 4);
	assert_int_equal(matrix.rows, 3);
	assert_int_equal(matrix.row[0].cached[0], 500);
	assert_int_equal(matrix.row[1].cached[0], 2500);
	assert_int_equal(matrix.row[2].cached[0], 4000);
	assert_int_equal(matrix.row[1].time, 40);
	assert_int_equal(matrix.row[1].span, 20);
	/* Rows 0 and 1 have two samples each, row 2 has one: the next sample is added to row 2. */
	add(&matrix, 60, 5000, 5);
	assert_int_equal(matrix.rows, 3);
	assert_int_equal(matrix.row[2].cached[0], 4500);
	for (i = 6; i < 101; i++)
		add(&matrix, 10 * (i + 1), i * 1000, i);
	assert_true(matrix.rows <= 4);
	for (i = 0; i < matrix.rows; i++) {
		assert_int_equal(matrix.row[i].time - matrix.row[i].span,
				 i ? matrix.row[i - 1].time : 0);
		reads += matrix.row[i].reads[1];
		looks += matrix.row[i].looks;
	}
	assert_int_equal(looks, 101);
	assert_true(reads == 5050);
	matrix_free(&matrix);
	shards_free(&shards);
}

/* A mean of cached bytes is 100 % only if each sample had 100 %, and 0 only if each had 0. */
static void extremes(void **state)
{
	static const char *const name[] = { "device" };
	struct shards shards;
	struct grid grid = { .shards = &shards, .cells = 1 };
	struct sample some, all;
	uint64_t bytes = 1ULL << 62;
	unsigned int i;

	(void)state;
	make_shards(&shards, name, 1, bytes);
	assert_int_equal(sample_make(&some, &grid), 0);
	assert_int_equal(sample_make(&all, &grid), 0);
	all.looks = 1;
	all.cached[0] = bytes;
	for (i = 0; i < 1000; i++)
		sample_join(&some, &all, &grid);
	assert_int_equal(some.cached[0], bytes);
	all.cached[0] = bytes - 512;
	sample_join(&some, &all, &grid);
	assert_true(some.cached[0] < bytes);
	sample_clear(&some, &grid);
	assert_int_equal(some.looks, 0);
	all.cached[0] = 0;
	for (i = 0; i < 1000; i++)
		sample_join(&some, &all, &grid);
	assert_int_equal(some.cached[0], 0);
	all.cached[0] = 512;
	sample_join(&some, &all, &grid);
	assert_in_range(some.cached[0], 1, 512);
	sample_free(&some);
	sample_free(&all);
	shards_free(&shards);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counted),
		cmocka_unit_test(spread),
		cmocka_unit_test(spread_sum),
		cmocka_unit_test(levels),
		cmocka_unit_test(joined),
		cmocka_unit_test(extremes),
	};

	return RUN(tests);
}
