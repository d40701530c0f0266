// SPDX-License-Identifier: GPL-2.0-only
/* Build synthetic shards in memory; see shard.h. */
#include "shard.h"

#include <isa-l/crc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shard/tar_header.h"

static void *need(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

/* Append bytes.  @data may point into @shard only if the allocated room suffices. */
void shard_put(struct shard *shard, const void *data, size_t bytes)
{
	if (shard->length + bytes > shard->room) {
		shard->room = 2 * (shard->length + bytes);
		shard->bytes = need(realloc(shard->bytes, shard->room));
	}
	if (bytes)
		memcpy(shard->bytes + shard->length, data, bytes);
	shard->length += bytes;
}

void shard_fill(struct shard *shard, unsigned char value, size_t bytes)
{
	while (bytes--)
		shard_put(shard, &value, 1);
}

/* Append a little-endian number. */
void shard_le(struct shard *shard, uint64_t value, unsigned int bytes)
{
	for (; bytes--; value >>= 8)
		shard_fill(shard, (unsigned char)value, 1);
}

/* Overwrite a little-endian number. */
void shard_set_le(struct shard *shard, size_t offset, uint64_t value,
		  unsigned int bytes)
{
	for (; bytes--; value >>= 8)
		shard->bytes[offset++] = (unsigned char)value;
}

/* Return the file descriptor of a file with this content; the caller closes it. */
int shard_file(const struct shard *shard)
{
	int fd = memfd_create("shard", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, shard->bytes, shard->length, 0) !=
		      (ssize_t)shard->length)
		abort();
	return fd;
}

void shard_free(struct shard *shard)
{
	free(shard->bytes);
	memset(shard, 0, sizeof(*shard));
}

/* Set the checksum of a ustar header. */
void shard_tar_seal(unsigned char *block)
{
	unsigned int i, sum = 0;

	memset(block + 148, ' ', 8);
	for (i = 0; i < TAR_BLOCK; i++)
		sum += block[i];
	snprintf((char *)block + 148, 8, "%06o", sum & 0777777);
}

/* Append a ustar header and return its offset. */
size_t shard_tar_header(struct shard *shard, const char *name, char type,
			uint64_t size)
{
	size_t at = shard->length;
	unsigned char *block;

	shard_fill(shard, 0, TAR_BLOCK);
	block = shard->bytes + at;
	memcpy(block, name, strnlen(name, 100));
	snprintf((char *)block + SHARD_TAR_SIZE, 12, "%011llo",
		 (unsigned long long)size);
	block[SHARD_TAR_TYPE] = (unsigned char)type;
	memcpy(block + SHARD_TAR_MAGIC, "ustar\00000", 8);
	shard_tar_seal(block);
	return at;
}

/* Append the data of a member and its padding. */
void shard_tar_body(struct shard *shard, const void *data, size_t bytes)
{
	shard_put(shard, data, bytes);
	shard_fill(shard, 0, -bytes % TAR_BLOCK);
}

void shard_tar_file(struct shard *shard, const char *name, size_t bytes)
{
	shard_tar_header(shard, name, TAR_FILE, bytes);
	shard_fill(shard, 'x', bytes);
	shard_fill(shard, 0, -bytes % TAR_BLOCK);
}

void shard_tar_pax(struct shard *shard, char type, const char *records)
{
	shard_tar_header(shard, "././@PaxHeader", type, strlen(records));
	shard_tar_body(shard, records, strlen(records));
}

void shard_tar_end(struct shard *shard)
{
	shard_fill(shard, 0, 2 * TAR_BLOCK);
}

uint32_t shard_masked_crc(const void *data, size_t bytes)
{
	uint32_t crc = ~crc32_iscsi((unsigned char *)data, (int)bytes, ~0U);

	return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

/* Append a TFRecord record with @bytes bytes of data and both checksums. */
void shard_tfrecord(struct shard *shard, size_t bytes)
{
	size_t at = shard->length;

	shard_le(shard, bytes, 8);
	shard_le(shard, shard_masked_crc(shard->bytes + at, 8), 4);
	at = shard->length;
	shard_fill(shard, 'x', bytes);
	shard_le(shard, bytes ? shard_masked_crc(shard->bytes + at, bytes) :
				shard_masked_crc("", 0), 4);
}

void shard_varint(struct shard *shard, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		shard_fill(shard, 0x80 | (value & 0x7f), 1);
	shard_fill(shard, (unsigned char)value, 1);
}

static void zigzag(struct shard *shard, int64_t value)
{
	shard_varint(shard, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/* Append the header of field @id.  *@last is the number of the previous field and is set to @id. */
void shard_field(struct shard *shard, int *last, int id, enum thrift_type type)
{
	int more = id - *last;

	if (more > 0 && more < 16) {
		shard_fill(shard, (unsigned char)(more << 4 | (int)type), 1);
	} else {
		shard_fill(shard, type, 1);
		zigzag(shard, id);
	}
	*last = id;
}

/* Append a field with a 64-bit number. */
void shard_number(struct shard *shard, int *last, int id, int64_t value)
{
	shard_field(shard, last, id, THRIFT_I64);
	zigzag(shard, value);
}

/* Append a list header; the caller appends the members. */
void shard_list(struct shard *shard, int *last, int id, enum thrift_type type,
		uint64_t count)
{
	shard_field(shard, last, id, THRIFT_LIST);
	if (count < 15) {
		shard_fill(shard, (unsigned char)(count << 4 | type), 1);
	} else {
		shard_fill(shard, 0xf0 | type, 1);
		shard_varint(shard, count);
	}
}

void shard_text(struct shard *shard, const char *text)
{
	shard_varint(shard, strlen(text));
	shard_put(shard, text, strlen(text));
}

/* Append a chunk's metadata.  Chunks are adjacent, 100 bytes each; odd ones have a dictionary. */
static void parquet_chunk(struct shard *shard, unsigned int number,
			  unsigned int column)
{
	int64_t start = 4 + 100 * (int64_t)number;
	int chunk = 0, meta = 0;
	char name[16];

	shard_number(shard, &chunk, 2, 0);
	shard_field(shard, &chunk, 3, THRIFT_STRUCT);
	shard_field(shard, &meta, 1, THRIFT_I32);
	shard_varint(shard, 4);
	shard_list(shard, &meta, 2, THRIFT_I32, 2);
	shard_varint(shard, 0);
	shard_varint(shard, 6);
	shard_list(shard, &meta, 3, THRIFT_BINARY, 2);
	shard_text(shard, "image");
	snprintf(name, sizeof(name), "c%u", column);
	shard_text(shard, name);
	shard_field(shard, &meta, 4, THRIFT_I32);
	shard_varint(shard, 2);
	shard_number(shard, &meta, 5, 10);
	shard_number(shard, &meta, 6, 200);
	shard_number(shard, &meta, 7, 100);
	shard_number(shard, &meta, 9, start + (number % 2 ? 20 : 0));
	if (number % 2)
		shard_number(shard, &meta, 11, start);
	shard_fill(shard, 0, 2);
}

/* Append the trailer: the length of the metadata that begins at offset @metadata, and the magic. */
void shard_parquet_end(struct shard *shard, size_t metadata)
{
	shard_le(shard, shard->length - metadata, 4);
	shard_put(shard, "PAR1", 4);
}

/* Append a schema with unused fields of every type, which the reader must skip. */
static void parquet_schema(struct shard *shard, int *file)
{
	int element = 0;

	shard_field(shard, file, 1, THRIFT_I32);
	shard_varint(shard, 4);
	shard_list(shard, file, 2, THRIFT_STRUCT, 1);
	shard_field(shard, &element, 1, THRIFT_TRUE);
	shard_field(shard, &element, 2, THRIFT_BYTE);
	shard_fill(shard, 7, 1);
	shard_field(shard, &element, 3, THRIFT_DOUBLE);
	shard_fill(shard, 7, 8);
	shard_field(shard, &element, 100, THRIFT_MAP);
	shard_varint(shard, 1);
	shard_fill(shard, THRIFT_BINARY << 4 | THRIFT_I16, 1);
	shard_text(shard, "key");
	shard_varint(shard, 1);
	shard_field(shard, &element, 101, THRIFT_SET);
	shard_fill(shard, 3 << 4 | THRIFT_FALSE, 1);
	shard_fill(shard, 2, 3);
	shard_field(shard, &element, 102, THRIFT_MAP);
	shard_varint(shard, 0);
	shard_fill(shard, 0, 1);
}

void shard_parquet(struct shard *shard, unsigned int groups,
		   unsigned int columns)
{
	unsigned int g, c;
	size_t metadata;
	int file = 0;

	shard_put(shard, "PAR1", 4);
	shard_fill(shard, 'x', 100 * (size_t)groups * columns);
	metadata = shard->length;
	parquet_schema(shard, &file);
	shard_number(shard, &file, 3, 10 * (int64_t)groups);
	shard_list(shard, &file, 4, THRIFT_STRUCT, groups);
	for (g = 0; g < groups; g++) {
		int group = 0;

		shard_list(shard, &group, 1, THRIFT_STRUCT, columns);
		for (c = 0; c < columns; c++)
			parquet_chunk(shard, g * columns + c, c);
		shard_number(shard, &group, 2, 200 * (int64_t)columns);
		shard_number(shard, &group, 3, 10);
		shard_fill(shard, 0, 1);
	}
	shard_field(shard, &file, 6, THRIFT_BINARY);
	shard_text(shard, "nobody");
	shard_fill(shard, 0, 1);
	shard_parquet_end(shard, metadata);
}

/* Make an MDS file in which sample n has n bytes. */
void shard_mds(struct shard *shard, unsigned int samples)
{
	const char text[] = "{\"format\": \"mds\"}";
	uint32_t offset = 4 * (2 + samples) + sizeof(text) - 1;
	unsigned int i;

	shard_le(shard, samples, 4);
	shard_le(shard, offset, 4);
	for (i = 0; i < samples; i++) {
		offset += i;
		shard_le(shard, offset, 4);
	}
	shard_put(shard, text, sizeof(text) - 1);
	for (i = 0; i < samples; i++)
		shard_fill(shard, 'x', i);
}

static void npz_end(struct shard *shard, unsigned int arrays, size_t directory,
		    bool zip64)
{
	size_t bytes = shard->length - directory, end64 = shard->length;

	if (zip64) {
		shard_put(shard, "PK\6\6", 4);
		shard_le(shard, 44, 8);
		shard_le(shard, 45 | 45 << 16, 4);
		shard_le(shard, 0, 8);
		shard_le(shard, arrays, 8);
		shard_le(shard, arrays, 8);
		shard_le(shard, bytes, 8);
		shard_le(shard, directory, 8);
		shard_put(shard, "PK\6\7", 4);
		shard_le(shard, 0, 4);
		shard_le(shard, end64, 8);
		shard_le(shard, 1, 4);
	}
	shard_put(shard, "PK\5\6", 4);
	shard_le(shard, 0, 4);
	shard_le(shard, zip64 ? 0xffff : arrays, 2);
	shard_le(shard, zip64 ? 0xffff : arrays, 2);
	shard_le(shard, zip64 ? UINT32_MAX : bytes, 4);
	shard_le(shard, zip64 ? UINT32_MAX : directory, 4);
	shard_le(shard, 0, 2);
}

/* Append the fields that a local header and a directory entry have in common. */
static void npz_member(struct shard *shard, size_t bytes, bool zip64)
{
	shard_le(shard, 45, 2);
	shard_le(shard, 0, 12);
	shard_le(shard, zip64 ? UINT32_MAX : bytes, 4);
	shard_le(shard, zip64 ? UINT32_MAX : bytes, 4);
	shard_le(shard, strlen("array-00.npy"), 2);
}

/* Make an npz file in which array n is "array-nn.npy" and has 10 + n bytes. */
void shard_npz(struct shard *shard, unsigned int arrays, bool zip64)
{
	size_t start[100], directory;
	char name[16];
	unsigned int i;

	for (i = 0; i < arrays; i++) {
		start[i] = shard->length;
		shard_put(shard, "PK\3\4", 4);
		npz_member(shard, 10 + i, zip64);
		shard_le(shard, zip64 ? 20 : 0, 2);
		snprintf(name, sizeof(name), "array-%02u.npy", i % 100);
		shard_put(shard, name, strlen(name));
		if (zip64) {
			shard_le(shard, 1 | 16 << 16, 4);
			shard_le(shard, 10 + i, 8);
			shard_le(shard, 10 + i, 8);
		}
		shard_fill(shard, 'x', 10 + i);
	}
	directory = shard->length;
	for (i = 0; i < arrays; i++) {
		shard_put(shard, "PK\1\2", 4);
		shard_le(shard, 45, 2);
		npz_member(shard, 10 + i, zip64);
		shard_le(shard, zip64 ? 34 : 0, 2);
		shard_fill(shard, 0, 10);
		shard_le(shard, zip64 ? UINT32_MAX : start[i], 4);
		snprintf(name, sizeof(name), "array-%02u.npy", i % 100);
		shard_put(shard, name, strlen(name));
		if (zip64) {
			/* The reader must find the zip64 field behind another extra field. */
			shard_le(shard, 0x5455 | 2 << 16, 4);
			shard_le(shard, 0, 2);
			shard_le(shard, 1 | 24 << 16, 4);
			shard_le(shard, 10 + i, 8);
			shard_le(shard, 10 + i, 8);
			shard_le(shard, start[i], 8);
		}
	}
	npz_end(shard, arrays, directory, zip64);
}
