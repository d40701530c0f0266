// SPDX-License-Identifier: GPL-2.0-only
/* shard/mds.c: places of samples in MosaicML shards; damaged shards are refused with the place. */
#include "index_unit.h"

#define SAMPLES		2000U
/* Offset of the first sample, behind the table and the description of the columns. */
#define FIRST(samples)	(4 * (2 + (samples)) + 17)

static void make(struct shard *shard)
{
	shard->length = 0;
	shard_mds(shard, SAMPLES);
}

static void samples(void **state)
{
	struct shard shard = { 0 };
	struct shard_index index;

	(void)state;
	make(&shard);
	take(&shard, &index, INDEX_MDS);
	assert_int_equal(index.samples, SAMPLES);
	assert_int_equal(index.parts, 0);
	sample_is(&index, 0, NULL, FIRST(SAMPLES), 0);
	sample_is(&index, 3, NULL, FIRST(SAMPLES) + 3, 3);
	sample_is(&index, SAMPLES - 1, NULL, shard.length - (SAMPLES - 1),
		  SAMPLES - 1);
	assert_int_equal(index.ranges, 1);
	assert_int_equal(index.range[0].offset, 0);
	assert_int_equal(index.range[0].length, FIRST(SAMPLES));
	assert_int_equal(index_bytes(&index), FIRST(SAMPLES));
	index_free(&index);
	shard.length = 0;
	shard_mds(&shard, 0);
	take(&shard, &index, INDEX_MDS);
	assert_int_equal(index.samples, 0);
	index_free(&index);
	shard_free(&shard);
}

static void damaged(void **state)
{
	struct shard shard = { 0 };

	(void)state;
	make(&shard);
	shard_set_le(&shard, 4 * 12, FIRST(SAMPLES) + 10000, 4);
	refused(&shard, INDEX_ANY, 4 * 13, "sample 11 begins at byte 18025 and ends at");
	make(&shard);
	shard_set_le(&shard, 4 * 12, UINT32_MAX, 4);
	refused(&shard, INDEX_ANY, 4 * 12, "sample 10 begins at");
	make(&shard);
	shard_set_le(&shard, 4 * 12, 0, 4);
	refused(&shard, INDEX_ANY, 4 * 12, "ends at 0 of");
	shard_free(&shard);
}

/* If the table of samples is damaged, the format is unknown, unless the user names mds. */
static void table(void **state)
{
	struct shard shard = { 0 };

	(void)state;
	make(&shard);
	shard_set_le(&shard, 4, 4 * (2 + SAMPLES) - 1, 4);
	refused(&shard, INDEX_MDS, 4, "begins at byte 8007, inside the table");
	refused(&shard, INDEX_ANY, 0, "unknown format");
	make(&shard);
	shard.length--;
	refused(&shard, INDEX_MDS, 4 * (1 + SAMPLES), "was it cut off?");
	refused(&shard, INDEX_ANY, 0, "unknown format");
	make(&shard);
	shard_set_le(&shard, 0, UINT32_MAX, 4);
	refused(&shard, INDEX_MDS, 0, "a table of 4294967295 samples does not fit");
	shard.length = 8;
	shard_set_le(&shard, 0, 1, 4);
	refused(&shard, INDEX_MDS, 0, "a table of 1 samples does not fit");
	shard.length = 3;
	refused(&shard, INDEX_MDS, 0, "4 bytes are expected here");
	make(&shard);
	shard.bytes[4 * (2 + SAMPLES)] = '[';
	refused(&shard, INDEX_ANY, 0, "unknown format");
	shard_free(&shard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples),
		cmocka_unit_test(damaged),
		cmocka_unit_test(table),
	};

	return RUN(tests);
}
