// SPDX-License-Identifier: GPL-2.0-only
/* files/shard_ranges.c: ranges of files, widened to sectors, sorted and merged. */
#include <stdlib.h>

#include "lib/error.h"
#include "files/shard_ranges.h"
#include "unit.h"

#define K	1024ULL

static struct shard *one(struct shards *shards, uint64_t start, uint64_t length)
{
	struct shard *shard = shards_add(shards, "shard");

	assert_non_null(shard);
	assert_int_equal(shard_add_range(shard, start, length), 0);
	return shard;
}

static void grows_to_sectors(void **state)
{
	struct shards shards = { .size = 1024 * K };
	struct shard *shard = one(&shards, 700, 100);

	(void)state;
	assert_int_equal(shard->range[0].start, 512);
	assert_int_equal(shard->range[0].length, 512);
	/* Range 1024+1000 begins where the previous range ends, so it extends that range. */
	shard_add_range(shard, 1024, 1000);
	assert_int_equal(shard->ranges, 1);
	assert_int_equal(shard->range[0].length, 512 + 1024);
	/* A range inside the previous range changes nothing. */
	shard_add_range(shard, 1100, 10);
	assert_int_equal(shard->bytes, 512 + 1024);
	/* Ranges keep the order in the file: offset 0 of the device is the second range here. */
	shard_add_range(shard, 0, 512);
	assert_int_equal(shard->ranges, 2);
	assert_int_equal(shard->range[1].start, 0);
	assert_int_equal(shards_bytes(&shards), 512 + 1024 + 512);
	shards_free(&shards);
}

static void ranges_are(const struct shards *shards, uint64_t grain, uint64_t gap,
		       const struct range *expected, size_t count)
{
	struct range *range;
	size_t i, found;

	assert_int_equal(shards_ranges(shards, grain, gap, &range, &found), 0);
	assert_int_equal(found, count);
	for (i = 0; i < count; i++) {
		assert_int_equal(range[i].start, expected[i].start);
		assert_int_equal(range[i].length, expected[i].length);
	}
	free(range);
}

#define RANGES(shards, grain, gap, ...)						\
	ranges_are(shards, grain, gap, (const struct range[]){ __VA_ARGS__ },	\
		   sizeof((const struct range[]){ __VA_ARGS__ }) /		\
			   sizeof(struct range))

static void sorted_and_merged(void **state)
{
	struct shards shards = { .size = 100 * K };

	(void)state;
	shard_add_range(one(&shards, 64 * K, 4 * K), 8 * K, 4 * K);
	one(&shards, 12 * K, 4 * K);
	one(&shards, 9 * K, 1 * K);
	one(&shards, 98 * K, 2 * K);
	RANGES(&shards, 512, 0, { 8 * K, 8 * K }, { 64 * K, 4 * K }, { 98 * K, 2 * K });
	RANGES(&shards, 512, 47 * K, { 8 * K, 8 * K }, { 64 * K, 36 * K });
	RANGES(&shards, 512, 48 * K, { 8 * K, 92 * K });
	/* Ranges are widened to multiples of 16 KiB, but not beyond the end of the device. */
	RANGES(&shards, 16 * K, 0, { 0, 16 * K }, { 64 * K, 16 * K }, { 96 * K, 4 * K });
	shards_free(&shards);
}

static void nothing(void **state)
{
	struct shards shards = { .size = K };
	struct range *range;
	size_t count;

	(void)state;
	assert_non_null(shards_add(&shards, "empty"));
	assert_int_equal(shards_ranges(&shards, 512, 0, &range, &count), 0);
	assert_int_equal(count, 0);
	free(range);
	assert_int_equal(shards_bytes(&shards), 0);
	shards_free(&shards);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_to_sectors),
		cmocka_unit_test(sorted_and_merged),
		cmocka_unit_test(nothing),
	};

	return RUN(tests);
}
