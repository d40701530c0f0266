// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses Apache Parquet. Layout: "PAR1", the row groups, the metadata in Thrift's compact protocol,
 * the length of the metadata (4 bytes), "PAR1". A row group holds a chunk of each column.
 *
 * The field numbers are those of parquet.thrift in apache/parquet-format.
 */
#include <string.h>

#include "lib/le.h"
#include "lib/error.h"
#include "shard/reader.h"
#include "shard/thrift.h"

#define MAGIC_BYTES	4U
/* Bytes of the metadata's length and the magic at the end of the file. */
#define TAIL		8U

enum { FILE_ROW_GROUPS = 4 };
enum { GROUP_COLUMNS = 1 };
enum { CHUNK_FILE_PATH = 1, CHUNK_META_DATA = 3 };
enum {
	COLUMN_PATH		= 3,
	COLUMN_SIZE		= 7,
	COLUMN_DATA_PAGE	= 9,
	COLUMN_DICTIONARY_PAGE	= 11,
};

/**
 * struct chunk - metadata of a column chunk
 * @name: path of the column, its parts joined by dots
 * @length: length of @name, bytes
 * @size: size of the chunk, bytes
 * @data_page: offset of its first data page
 * @dictionary_page: offset of its dictionary; 0: none
 * @known: the metadata of the chunk was present
 */
struct chunk {
	char name[SCAN_LOOK_MAX];
	size_t length;
	uint64_t size;
	uint64_t data_page;
	uint64_t dictionary_page;
	bool known;
};

static void add_to_name(struct thrift *thrift, struct chunk *chunk)
{
	uint64_t bytes = thrift_binary(thrift);
	/* Bytes of the name so far, with the dot that joins the next part. */
	size_t used = chunk->length ? chunk->length + 1 : 0;
	const unsigned char *text;

	if (thrift->failed)
		return;
	if (bytes > sizeof(chunk->name) - 1 - used) {
		thrift->failed = true;
		scan_damage(thrift->scan, thrift->at - bytes,
			    "the name of a column is longer than %zu bytes",
			    sizeof(chunk->name) - 1);
		return;
	}
	text = scan_look(thrift->scan, thrift->at - bytes, bytes);
	if (!text) {
		thrift->failed = true;
		return;
	}
	if (used)
		chunk->name[used - 1] = '.';
	memcpy(chunk->name + used, text, bytes);
	chunk->length = used + bytes;
}

static void read_path(struct thrift *thrift, const struct thrift_field *field,
		      struct chunk *chunk)
{
	uint64_t count = thrift_list(thrift, field, THRIFT_BINARY);

	while (count-- && !thrift->failed)
		add_to_name(thrift, chunk);
}

static void read_column(struct thrift *thrift, struct chunk *chunk)
{
	struct thrift_field field = { 0 };

	chunk->known = true;
	while (thrift_next(thrift, &field)) {
		if (field.id == COLUMN_PATH)
			read_path(thrift, &field, chunk);
		else if (field.id == COLUMN_SIZE)
			chunk->size = thrift_size(thrift, &field);
		else if (field.id == COLUMN_DATA_PAGE)
			chunk->data_page = thrift_size(thrift, &field);
		else if (field.id == COLUMN_DICTIONARY_PAGE)
			chunk->dictionary_page = thrift_size(thrift, &field);
		else
			thrift_skip(thrift, &field);
	}
}

/* Records an error if the chunk's path is not empty: an empty path means this file. */
static void read_file_path(struct thrift *thrift)
{
	uint64_t at = thrift->at;

	if (!thrift_binary(thrift))
		return;
	thrift->failed = true;
	scan_damage(thrift->scan, at,
		    "a column chunk lies in another file: index that one");
}

static void read_chunk(struct thrift *thrift, struct chunk *chunk)
{
	struct thrift_field field = { 0 };

	chunk->length = 0;
	chunk->size = chunk->data_page = chunk->dictionary_page = 0;
	chunk->known = false;
	while (thrift_next(thrift, &field)) {
		if (field.id == CHUNK_FILE_PATH && field.type == THRIFT_BINARY)
			read_file_path(thrift);
		else if (field.id == CHUNK_META_DATA &&
			 thrift_struct(thrift, &field))
			read_column(thrift, chunk);
		else
			thrift_skip(thrift, &field);
	}
}

static int place_chunk(const struct thrift *thrift, uint64_t at,
		       const struct chunk *chunk, struct index_range *range)
{
	uint64_t metadata = thrift->scan->index->range[0].offset;

	if (!chunk->known)
		return scan_damage(thrift->scan, at,
				   "a column chunk has no metadata: the column is encrypted");
	range->offset = chunk->data_page;
	range->length = chunk->size;
	/* Without a dictionary the offset is 0, or in some files that of the first data page. */
	if (chunk->dictionary_page && chunk->dictionary_page < range->offset)
		range->offset = chunk->dictionary_page;
	if (range->offset >= MAGIC_BYTES && range->offset <= metadata &&
	    range->length <= metadata - range->offset)
		return 0;
	return scan_damage(thrift->scan, at,
			   "column chunk '%.100s' of %llu bytes at %llu lies outside the data, bytes 4 to %llu",
			   chunk->name, (unsigned long long)range->length,
			   (unsigned long long)range->offset,
			   (unsigned long long)metadata);
}

static void widen_range(struct index_range *all, const struct index_range *range)
{
	uint64_t end = range->offset + range->length;

	if (all->offset + all->length > end)
		end = all->offset + all->length;
	if (all->offset > range->offset)
		all->offset = range->offset;
	all->length = end - all->offset;
}

static int add_chunk(struct thrift *thrift, struct chunk *chunk, bool first)
{
	struct shard_index *index = thrift->scan->index;
	uint64_t at = thrift->at, name;
	struct index_range range;

	read_chunk(thrift, chunk);
	chunk->name[chunk->length] = '\0';
	if (thrift->failed || place_chunk(thrift, at, chunk, &range) ||
	    scan_add_name(thrift->scan, chunk->name, chunk->length, &name) ||
	    scan_add_part(thrift->scan, name, range.offset, range.length)) {
		thrift->failed = true;
		return fail_code();
	}
	if (first)
		index->sample[index->samples - 1].range = range;
	else
		widen_range(&index->sample[index->samples - 1].range, &range);
	return 0;
}

static void read_columns(struct thrift *thrift,
			 const struct thrift_field *field)
{
	uint64_t i, count = thrift_list(thrift, field, THRIFT_STRUCT);
	struct chunk chunk;

	for (i = 0; i < count; i++)
		if (add_chunk(thrift, &chunk, !i))
			return;
}

static void read_group(struct thrift *thrift)
{
	struct thrift_field field = { 0 };
	bool columns = false;

	/* A sample of length 0, which stays empty unless read_columns() finds columns. */
	if (scan_add_sample(thrift->scan, INDEX_NO_NAME, MAGIC_BYTES, 0)) {
		thrift->failed = true;
		return;
	}
	while (thrift_next(thrift, &field)) {
		if (field.id == GROUP_COLUMNS && !columns) {
			read_columns(thrift, &field);
			columns = true;
		} else {
			thrift_skip(thrift, &field);
		}
	}
}

static void read_groups(struct thrift *thrift, const struct thrift_field *field)
{
	uint64_t count = thrift_list(thrift, field, THRIFT_STRUCT);

	while (count-- && !thrift->failed)
		read_group(thrift);
}

static int read_metadata(struct index_scan *scan)
{
	const struct index_range *range = &scan->index->range[0];
	struct thrift thrift = {
		.scan = scan,
		.at = range->offset,
		.end = range->offset + range->length - TAIL,
	};
	struct thrift_field field = { 0 };
	bool groups = false;

	while (thrift_next(&thrift, &field)) {
		if (field.id == FILE_ROW_GROUPS && !groups) {
			read_groups(&thrift, &field);
			groups = true;
		} else {
			thrift_skip(&thrift, &field);
		}
	}
	if (thrift.failed || groups)
		return fail_code();
	return scan_damage(scan, range->offset,
			   "the metadata has no list of row groups");
}

static bool magic_at(struct index_scan *scan, uint64_t offset, const char *magic)
{
	const unsigned char *at = scan_look(scan, offset, MAGIC_BYTES);

	return at && !memcmp(at, magic, MAGIC_BYTES);
}

/* Also accepts encrypted files, so that index_parquet() can report the encryption. */
bool index_parquet_is(struct index_scan *scan)
{
	return scan_starts(scan, "PAR1", MAGIC_BYTES) ||
	       scan_starts(scan, "PARE", MAGIC_BYTES);
}

static int find_metadata(struct index_scan *scan)
{
	uint64_t tail = scan->size - TAIL;
	const unsigned char *at;
	uint32_t length;

	if (scan->size < MAGIC_BYTES + TAIL)
		return scan_damage(scan, 0, "%llu bytes are too short for a Parquet file",
				   (unsigned long long)scan->size);
	if (magic_at(scan, tail + 4, "PARE"))
		return scan_damage(scan, tail + 4,
				   "the metadata is encrypted (PARE): the row groups cannot be found without the key");
	if (fail_code())
		return fail_code();
	if (!magic_at(scan, tail + 4, "PAR1") || !magic_at(scan, 0, "PAR1"))
		return fail_code() ? fail_code() :
		       scan_damage(scan, tail + 4,
				   "a Parquet file begins and ends with PAR1, this one does not: was it cut off?");
	at = scan_look(scan, tail, 4);
	if (!at)
		return fail_code();
	length = get_le32(at);
	if (length > tail - MAGIC_BYTES)
		return scan_damage(scan, tail,
				   "metadata of %u bytes does not fit into the file",
				   length);
	scan_add_range(scan, tail - length, length + (uint64_t)TAIL);
	return 0;
}

int index_parquet(struct index_scan *scan)
{
	if (find_metadata(scan))
		return fail_code();
	return read_metadata(scan);
}
