/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a training shard holds: its samples and where they are in the file, and what
 * a reader touches to open it.  Only headers are read, however large the file is.
 *
 * A shard comes from anywhere: what it says is checked against its size before
 * anything is allocated or read, and the error names file, byte and what is wrong.
 */
#ifndef HELPER_SHARD_INDEX_H
#define HELPER_SHARD_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "lib/words.h"

/* Most samples, and most parts, of a file. */
#define INDEX_SAMPLES_MAX	100000000U
/* Most ranges that are read to open a file. */
#define INDEX_RANGES_MAX	2
/* Place of a name that there is not. */
#define INDEX_NO_NAME		UINT64_MAX

/**
 * struct index_range - a part of a file
 * @offset: bytes
 * @length: bytes
 */
struct index_range {
	uint64_t offset;
	uint64_t length;
};

/**
 * struct index_part - a file of a tar sample, a column chunk of a row group
 * @range: its data
 * @name: see index_name()
 */
struct index_part {
	struct index_range range;
	uint64_t name;
};

/**
 * struct index_sample - what is read at once: a sample, row group or array
 * @range: all of it, headers and padding included
 * @name: see index_name()
 * @part: its first part
 */
struct index_sample {
	struct index_range range;
	uint64_t name;
	uint64_t part;
};

/**
 * struct shard_index - what is in a file
 * @format: of the file
 * @size: bytes of the file
 * @sample: in the order of the file's own index
 * @samples: how many
 * @part: those of all samples, in the order of the samples
 * @parts: how many; 0 but for tar and parquet
 * @range: what is read to open the file, ascending, without overlap
 * @ranges: how many; 0 for tar and tfrecord
 * @names: all names, each with a NUL behind it
 * @names_size: bytes
 */
struct shard_index {
	enum index_format format;
	uint64_t size;
	struct index_sample *sample;
	uint64_t samples;
	struct index_part *part;
	uint64_t parts;
	struct index_range range[INDEX_RANGES_MAX];
	unsigned int ranges;
	char *names;
	uint64_t names_size;
};

int index_open(struct shard_index *index, const char *path,
	       enum index_format format, bool check);
int index_open_fd(struct shard_index *index, int fd, const char *path,
		  enum index_format format, bool check);
void index_free(struct shard_index *index);

const char *index_name(const struct shard_index *index, uint64_t name);
uint64_t index_parts(const struct shard_index *index, uint64_t sample);
uint64_t index_bytes(const struct shard_index *index);

#endif /* HELPER_SHARD_INDEX_H */
