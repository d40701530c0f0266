// SPDX-License-Identifier: GPL-2.0-only
/* shard/tfrecord.c: places of records; records with wrong checksums or lengths are refused. */
#include "index_unit.h"

#define RECORD(bytes)	(16 + (bytes))

/* Reference values from other implementations, because shard.c and the helper compute checksums
 * with the same library: the header of a 24-byte record in TensorFlow's event files, and the
 * published CRC-32C of "123456789" (0xe3069283), masked.
 */
static const unsigned char header[] = {
	24, 0, 0, 0, 0, 0, 0, 0, 0xa3, 0x7f, 0x4b, 0x22,
};

#define MASKED_123456789	0xc78ab0e5U

static void make(struct shard *shard)
{
	shard->length = 0;
	shard_tfrecord(shard, 5);
	shard_tfrecord(shard, 0);
	shard_tfrecord(shard, 10000);
	shard_tfrecord(shard, 70000);
}

static void records(void **state)
{
	struct shard shard = { 0 };
	struct shard_index index;

	(void)state;
	make(&shard);
	take(&shard, &index, INDEX_TFRECORD);
	assert_int_equal(index.samples, 4);
	assert_int_equal(index.parts, 0);
	assert_int_equal(index.ranges, 0);
	sample_is(&index, 0, NULL, 0, RECORD(5));
	sample_is(&index, 1, NULL, 21, RECORD(0));
	sample_is(&index, 2, NULL, 37, RECORD(10000));
	sample_is(&index, 3, NULL, 10053, RECORD(70000));
	index_free(&index);
	assert_int_equal(take_as(&shard, &index, INDEX_ANY, INDEX_CHECK), 0);
	assert_int_equal(index.samples, 4);
	index_free(&index);
	shard.length = 0;
	assert_int_equal(take_as(&shard, &index, INDEX_TFRECORD, 0), 0);
	assert_int_equal(index.samples, 0);
	index_free(&index);
	shard_free(&shard);
}

static void damaged(void **state)
{
	struct shard shard = { 0 };

	(void)state;
	make(&shard);
	shard.bytes[21] ^= 1;
	refused(&shard, INDEX_ANY, 21, "checksum of a record's length");
	make(&shard);
	shard.bytes[37 + 8] ^= 0x80;
	refused(&shard, INDEX_ANY, 37, "checksum of a record's length");
	make(&shard);
	shard.bytes[0] ^= 1;
	refused(&shard, INDEX_TFRECORD, 0, "checksum of a record's length");
	refused(&shard, INDEX_ANY, 0, "unknown format");
	shard_free(&shard);
}

static void cut_off(void **state)
{
	struct shard shard = { 0 };

	(void)state;
	make(&shard);
	shard.length--;
	refused(&shard, INDEX_ANY, 10053, "a record of 70000 bytes");
	shard.length = 10053 + 12 + 69999;
	refused(&shard, INDEX_ANY, 10053, "a record of 70000 bytes");
	shard.length = 10053 + 12;
	refused(&shard, INDEX_ANY, 10053, "a record of 70000 bytes");
	shard.length = 10053 + 11;
	refused(&shard, INDEX_ANY, 10053, "12 bytes are expected");
	/* A length that would overflow when it is added to its offset. */
	shard.length = 0;
	shard_le(&shard, UINT64_MAX - 20, 8);
	shard_le(&shard, shard_masked_crc(shard.bytes, 8), 4);
	shard_fill(&shard, 0, 100);
	refused(&shard, INDEX_ANY, 0, "18446744073709551595 bytes");
	shard_free(&shard);
}

/* Checksums of the data are checked only with --check. */
static void data(void **state)
{
	static const size_t place[] = { 12, 16, 17, 33, 37 + 12 + 9999,
					10053 + 12 + 65000, 10053 + 12 + 70003 };
	struct shard shard = { 0 };
	struct shard_index index;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(place) / sizeof(place[0]); i++) {
		make(&shard);
		shard.bytes[place[i]] ^= 0x10;
		take(&shard, &index, INDEX_TFRECORD);
		index_free(&index);
		assert_int_equal(take_as(&shard, &index, INDEX_ANY, INDEX_CHECK),
				 CODE_DEVICE);
		assert_non_null(strstr(fail_message(), "bytes here is wrong"));
		index_free(&index);
	}
	shard_free(&shard);
}

static void other_writers(void **state)
{
	struct shard shard = { 0 };
	struct shard_index index;

	(void)state;
	shard_put(&shard, header, sizeof(header));
	shard_fill(&shard, 'x', 24 + 4);
	take(&shard, &index, INDEX_TFRECORD);
	sample_is(&index, 0, NULL, 0, RECORD(24));
	index_free(&index);
	shard.length = 0;
	shard_le(&shard, 9, 8);
	shard_le(&shard, shard_masked_crc(shard.bytes, 8), 4);
	shard_put(&shard, "123456789", 9);
	shard_le(&shard, MASKED_123456789, 4);
	assert_int_equal(take_as(&shard, &index, INDEX_ANY, INDEX_CHECK), 0);
	index_free(&index);
	shard_free(&shard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records),
		cmocka_unit_test(damaged),
		cmocka_unit_test(cut_off),
		cmocka_unit_test(data),
		cmocka_unit_test(other_writers),
	};

	return RUN(tests);
}
