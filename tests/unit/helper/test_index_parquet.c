// SPDX-License-Identifier: GPL-2.0-only
/* shard/parquet.c and thrift.c: places of row groups and columns; damaged files are refused. */
#include <stdlib.h>

#include "index_unit.h"

#define CHUNK		100U

static void groups(void **state)
{
	static const unsigned int size[][2] = {
		{ 1, 1 }, { 3, 2 }, { 20, 30 }, { 2, 0 }, { 0, 0 },
	};
	struct shard shard = { 0 };
	struct shard_index index;
	unsigned int i, n, chunks;
	char name[32];

	(void)state;
	for (i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		chunks = size[i][0] * size[i][1];
		shard.length = 0;
		shard_parquet(&shard, size[i][0], size[i][1]);
		take(&shard, &index, INDEX_PARQUET);
		assert_int_equal(index.samples, size[i][0]);
		assert_int_equal(index.parts, chunks);
		for (n = 0; n < index.samples; n++)
			sample_is(&index, n, NULL, 4 + n * size[i][1] * CHUNK,
				  size[i][1] * CHUNK);
		for (n = 0; n < chunks; n++) {
			snprintf(name, sizeof(name), "image.c%u",
				 n % size[i][1]);
			part_is(&index, n, name, 4 + n * CHUNK, CHUNK);
		}
		assert_int_equal(index.ranges, 1);
		assert_int_equal(index.range[0].offset, 4 + chunks * CHUNK);
		assert_int_equal(index_bytes(&index),
				 shard.length - 4 - chunks * CHUNK);
		index_free(&index);
	}
	shard_free(&shard);
}

static void ends(void **state)
{
	struct shard shard = { 0 };
	size_t length;

	(void)state;
	shard_parquet(&shard, 1, 1);
	length = shard.length;
	shard.length--;
	refused(&shard, INDEX_ANY, length - 5, "was it cut off?");
	shard.length = 11;
	refused(&shard, INDEX_ANY, 0, "11 bytes are too short for a Parquet file");
	shard.length = 0;
	refused(&shard, INDEX_PARQUET, 0, "0 bytes are too short for a Parquet file");
	shard_parquet(&shard, 1, 1);
	shard.bytes[3] = 'E';
	refused(&shard, INDEX_ANY, length - 4, "was it cut off?");
	shard.bytes[length - 1] = 'E';
	refused(&shard, INDEX_ANY, length - 4, "encrypted (PARE)");
	shard.bytes[3] = '1';
	refused(&shard, INDEX_ANY, length - 4, "encrypted (PARE)");
	shard.bytes[length - 1] = '1';
	shard_set_le(&shard, length - 8, length - 11, 4);
	refused(&shard, INDEX_ANY, length - 8, "does not fit into the file");
	shard_set_le(&shard, length - 8, UINT32_MAX, 4);
	refused(&shard, INDEX_ANY, length - 8,
		"metadata of 4294967295 bytes does not fit");
	shard_set_le(&shard, length - 8, 0, 4);
	refused(&shard, INDEX_ANY, length - 8, "the metadata ends inside a value");
	shard_free(&shard);
}

/* Begin a file whose metadata is at offset 104; set @last, the number of its last field, to 0. */
static void begin(struct shard *shard, int *last)
{
	shard->length = 0;
	*last = 0;
	shard_put(shard, "PAR1", 4);
	shard_fill(shard, 'x', 100);
}

static void finish(struct shard *shard, uint64_t where, const char *what)
{
	shard_fill(shard, 0, 1);
	shard_parquet_end(shard, 104);
	refused(shard, INDEX_ANY, where, what);
}

/* Begin one row group with @chunks column chunks; the caller appends their fields. */
static void begin_chunks(struct shard *shard, unsigned int chunks)
{
	int last;

	begin(shard, &last);
	shard_list(shard, &last, 4, THRIFT_STRUCT, 1);
	last = 0;
	shard_list(shard, &last, 1, THRIFT_STRUCT, chunks);
}

#define IN_CHUNK	108

/* Add a chunk of @size bytes at @page, with a dictionary at @dictionary (0: none). */
static void add_chunk(struct shard *shard, int64_t page, int64_t dictionary,
		      int64_t size)
{
	int last = 0;

	shard_field(shard, &last, 3, THRIFT_STRUCT);
	last = 0;
	shard_list(shard, &last, 3, THRIFT_BINARY, 1);
	shard_text(shard, "c");
	shard_number(shard, &last, 7, size);
	shard_number(shard, &last, 9, page);
	shard_number(shard, &last, 11, dictionary);
	shard_fill(shard, 0, 2);
}

/* Make a row group with a single chunk; see add_chunk(). */
static void chunk(struct shard *shard, int64_t page, int64_t dictionary,
		  int64_t size)
{
	begin_chunks(shard, 1);
	add_chunk(shard, page, dictionary, size);
	shard_fill(shard, 0, 1);
}

static void chunks(void **state)
{
	static const struct {
		int64_t page, dictionary, size;
		const char *what;
	} row[] = {
		{ 3, 0, 10, "'c' of 10 bytes at 3 lies outside" },
		{ 10, 3, 10, "'c' of 10 bytes at 3 lies outside" },
		{ 4, 0, 101, "'c' of 101 bytes at 4 lies outside the data, bytes 4 to 104" },
		{ 105, 0, 0, "at 105 lies outside" },
		{ INT64_MAX, 0, INT64_MAX, "at 9223372036854775807 lies outside" },
		{ 10, 0, INT64_MAX, "of 9223372036854775807 bytes" },
		{ -1, 0, 10, "is negative" }, { 10, -1, 10, "is negative" },
		{ 10, 0, INT64_MIN, "is negative" },
	};
	struct shard shard = { 0 };
	struct shard_index index;
	unsigned int i;

	(void)state;
	/* A dictionary offset of 0 means no dictionary. */
	chunk(&shard, 10, 0, 20);
	shard_fill(&shard, 0, 1);
	shard_parquet_end(&shard, 104);
	take(&shard, &index, INDEX_PARQUET);
	sample_is(&index, 0, NULL, 10, 20);
	index_free(&index);
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		uint64_t where = IN_CHUNK;

		chunk(&shard, row[i].page, row[i].dictionary, row[i].size);
		if (strstr(row[i].what, "negative"))
			where = row[i].size < 0 ? 114 : row[i].page < 0 ? 116 : 118;
		finish(&shard, where, row[i].what);
	}
	shard_free(&shard);
}

/* A row group reaches from the first to the last byte of its chunks, however these are ordered. */
static void order(void **state)
{
	static const struct {
		int64_t page[2], size[2];
		uint64_t offset, length;
	} row[] = {
		{ { 50, 10 }, { 20, 20 }, 10, 60 }, { { 10, 50 }, { 20, 20 }, 10, 60 },
		{ { 10, 20 }, { 60, 10 }, 10, 60 }, { { 20, 10 }, { 10, 60 }, 10, 60 },
		{ { 20, 20 }, { 10, 0 }, 20, 10 },
	};
	struct shard shard = { 0 };
	struct shard_index index;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		begin_chunks(&shard, 2);
		add_chunk(&shard, row[i].page[0], 0, row[i].size[0]);
		add_chunk(&shard, row[i].page[1], 0, row[i].size[1]);
		shard_fill(&shard, 0, 2);
		shard_parquet_end(&shard, 104);
		take(&shard, &index, INDEX_PARQUET);
		sample_is(&index, 0, NULL, row[i].offset, row[i].length);
		index_free(&index);
	}
	shard_free(&shard);
}

static void other_places(void **state)
{
	struct shard shard = { 0 };
	int last = 0;

	(void)state;
	begin_chunks(&shard, 1);
	shard_field(&shard, &last, 1, THRIFT_BINARY);
	shard_text(&shard, "");
	shard_list(&shard, &last, 100, THRIFT_STRUCT, 0);
	shard_fill(&shard, 0, 2);
	finish(&shard, IN_CHUNK, "the column is encrypted");
	begin_chunks(&shard, 1);
	last = 0;
	shard_field(&shard, &last, 1, THRIFT_BINARY);
	shard_text(&shard, "part-0.parquet");
	finish(&shard, IN_CHUNK + 1, "lies in another file");
	begin_chunks(&shard, 1);
	last = 0;
	shard_field(&shard, &last, 9, THRIFT_BINARY);
	shard_text(&shard, "secret");
	shard_fill(&shard, 0, 2);
	finish(&shard, IN_CHUNK, "the column is encrypted");
	shard_free(&shard);
}

/* Read a column name of @bytes bytes; expect refusal with reason @what, or (NULL) success. */
static void long_name(size_t bytes, const char *what)
{
	char *name = calloc(1, 5000);
	struct shard shard = { 0 };
	struct shard_index index;
	int last = 0;

	memset(name, 'n', bytes - 2);
	begin_chunks(&shard, 1);
	shard_field(&shard, &last, 3, THRIFT_STRUCT);
	last = 0;
	shard_list(&shard, &last, 3, THRIFT_BINARY, 2);
	shard_text(&shard, name);
	shard_text(&shard, "c");
	shard_number(&shard, &last, 9, 4);
	shard_fill(&shard, 0, 4);
	if (what) {
		finish(&shard, shard.length - 7, what);
	} else {
		shard_parquet_end(&shard, 104);
		take(&shard, &index, INDEX_PARQUET);
		assert_int_equal(strlen(index_name(&index, index.part[0].name)),
				 bytes);
		index_free(&index);
	}
	free(name);
	shard_free(&shard);
}

static void long_names(void **state)
{
	(void)state;
	long_name(4095, NULL);
	long_name(4096, "longer than 4095 bytes");
}

/* Invalid metadata, and the offset and reason that the message must give. */
static void thrift(void **state)
{
#define BYTES(text)	text, sizeof(text) - 1
	static const struct {
		const char *bytes;
		size_t length, where;
		const char *what;
	} row[] = {
		{ BYTES(""), 105, "no list of row groups" },
		{ BYTES("\x1d"), 105, "an unknown type" },
		{ BYTES("\x15\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 115,
		  "more than 64 bits" },
		{ BYTES("\x15\x80"), 107, "ends inside a value" },
		{ BYTES("\x18\x7f"), 106, "beyond the end of the metadata" },
		{ BYTES("\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 115,
		  "beyond the end of the metadata" },
		{ BYTES("\x17\x01"), 105, "beyond the end of the metadata" },
		{ BYTES("\x49\xfc\xff\xff\xff\xff\x0f"), 111, "longer than the metadata" },
		{ BYTES("\x19\xf5\xff\xff\xff\xff\x0f"), 111, "longer than the metadata" },
		{ BYTES("\x1b\xff\xff\xff\xff\x0f\x55"), 110, "longer than the metadata" },
		{ BYTES("\x1b\x01\x05"), 107, "an unknown type" },
		{ BYTES("\x1b\x01\xd5\0"), 107, "an unknown type" },
		{ BYTES("\x19\x10"), 106, "a list of an unknown type" },
		{ BYTES("\x49\x15\0"), 106, "members of another type" },
		{ BYTES("\x48\x00"), 105, "a field is not a list" },
		{ BYTES("\x49\x1c\x19\x15\0"), 108, "members of another type" },
		{ BYTES("\x49\x1c\x19\x1c\x35\0"), 109, "a field is not a structure" },
		{ BYTES("\x49\x1c\x19\x1c\x3c\x38\0"), 110, "a field is not a list" },
		{ BYTES("\x49\x1c\x19\x1c\x3c\x75\0"), 110, "not a 64-bit number" },
		{ BYTES("\x05\xfe\xff\x03\0\x15\0\x15\0"), 110, "field number out of range" },
	};
	struct shard shard = { 0 };
	unsigned int i;
	int last;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		begin(&shard, &last);
		shard_put(&shard, row[i].bytes, row[i].length);
		if (!strcmp(row[i].what, "no list of row groups"))
			finish(&shard, 104, row[i].what);
		else
			finish(&shard, row[i].where, row[i].what);
	}
	shard_free(&shard);
}

/* The reader recurses into structures, lists and maps, so their depth is limited. */
static void nested(void **state)
{
	static const struct {
		const char *first, *next;
		size_t where;
	} row[] = {
		{ "\x1c", "\x1c\x1c", 104 + 33 },
		{ "\x19", "\x19\x19", 104 + 33 },
		{ "\x1b", "\x01\xbb", 104 + 1 + 2 * 32 },
	};
	struct shard shard = { 0 };
	unsigned int i, n;
	int last;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		begin(&shard, &last);
		shard_put(&shard, row[i].first, 1);
		for (n = 0; n < 50000; n++)
			shard_put(&shard, row[i].next, 2);
		finish(&shard, row[i].where, "too many nested structures");
	}
	shard_free(&shard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups),
		cmocka_unit_test(ends),
		cmocka_unit_test(chunks),
		cmocka_unit_test(order),
		cmocka_unit_test(other_places),
		cmocka_unit_test(long_names),
		cmocka_unit_test(thrift),
		cmocka_unit_test(nested),
	};

	return RUN(tests);
}
