/* SPDX-License-Identifier: GPL-2.0-only */
/* Synthetic training shards in memory, for the unit tests and the fuzzer of the index. */
#ifndef HELPER_UNIT_SHARD_H
#define HELPER_UNIT_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shard/thrift.h"

/**
 * struct shard - a file under construction
 * @bytes: its content; NULL if empty
 * @length: length in bytes
 * @room: allocated bytes
 */
struct shard {
	unsigned char *bytes;
	size_t length;
	size_t room;
};

void shard_put(struct shard *shard, const void *data, size_t bytes);
void shard_fill(struct shard *shard, unsigned char value, size_t bytes);
void shard_le(struct shard *shard, uint64_t value, unsigned int bytes);
void shard_set_le(struct shard *shard, size_t offset, uint64_t value,
		  unsigned int bytes);
int shard_file(const struct shard *shard);
void shard_free(struct shard *shard);

/* Tar; the numbers are offsets of header fields. */
#define SHARD_TAR_SIZE	124
#define SHARD_TAR_TYPE	156
#define SHARD_TAR_MAGIC	257
size_t shard_tar_header(struct shard *shard, const char *name, char type,
			uint64_t size);
void shard_tar_seal(unsigned char *block);
void shard_tar_body(struct shard *shard, const void *data, size_t bytes);
void shard_tar_file(struct shard *shard, const char *name, size_t bytes);
void shard_tar_pax(struct shard *shard, char type, const char *records);
void shard_tar_end(struct shard *shard);

/* TFRecord. */
uint32_t shard_masked_crc(const void *data, size_t bytes);
void shard_tfrecord(struct shard *shard, size_t bytes);

/* Thrift's compact protocol. */
void shard_varint(struct shard *shard, uint64_t value);
void shard_field(struct shard *shard, int *last, int id, enum thrift_type type);
void shard_number(struct shard *shard, int *last, int id, int64_t value);
void shard_list(struct shard *shard, int *last, int id, enum thrift_type type,
		uint64_t count);
void shard_text(struct shard *shard, const char *text);

/* Whole files.  The numbers are row groups and columns (parquet), samples (MDS), arrays (npz). */
void shard_parquet(struct shard *shard, unsigned int groups,
		   unsigned int columns);
void shard_parquet_end(struct shard *shard, size_t metadata);
void shard_mds(struct shard *shard, unsigned int samples);
void shard_npz(struct shard *shard, unsigned int arrays, bool zip64);

#endif /* HELPER_UNIT_SHARD_H */
