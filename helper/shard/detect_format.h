/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the samples in a training shard, which is a file with many samples, and the ranges that
 * a reader reads to open the file. Reads only headers, however large the file is.
 *
 * A shard is untrusted input: each number in it is checked against the file size before
 * anything is allocated or read. An error names the file, the byte and the fault.
 *
 * Functions that return int return 0, or an exit code after recording an error with fail(),
 * unless they say otherwise.
 */
#ifndef HELPER_SHARD_DETECT_FORMAT_H
#define HELPER_SHARD_DETECT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/enum_words.h"

/* Flags of index_open(). */
/* Read all data and compare its checksums (tfrecord only). */
#define INDEX_CHECK		1U
/* Read also the archives behind the end of the first one (tar only). */
#define INDEX_CONCATENATED	2U

/* Maximum number of samples, and of parts, of a file. */
#define INDEX_SAMPLES_MAX	100000000U
/* Maximum number of ranges that a reader reads to open a file. */
#define INDEX_RANGES_MAX	2
/* Value of index_sample.name or index_part.name if there is no name. */
#define INDEX_NO_NAME		UINT64_MAX

struct index_range {
	uint64_t offset;
	uint64_t length;
};

/**
 * struct index_part - a file of a tar sample, or a column chunk of a row group
 * @range: data of the file, without header and padding, or the column chunk
 * @name: argument of index_name()
 */
struct index_part {
	struct index_range range;
	uint64_t name;
};

/**
 * struct index_sample - a unit that a reader reads at once: sample, row group or array
 * @range: the whole sample with headers and padding
 * @name: argument of index_name()
 * @part: number of its first part in @part of struct shard_index
 */
struct index_sample {
	struct index_range range;
	uint64_t name;
	uint64_t part;
};

/**
 * struct shard_index - samples and parts of a file
 * @format: never INDEX_ANY
 * @size: size of the file, bytes
 * @sample: in the order of the index in the file, or without an index in the order of the file
 * @samples: entries in @sample
 * @part: grouped by sample, in the order of @sample
 * @parts: entries in @part; 0 except in tar and parquet
 * @range: parts of the file that a reader reads to open it, ascending, disjoint
 * @ranges: entries in @range; 0 for tar and tfrecord
 * @names: all names, each ends with a NUL
 * @names_size: bytes in @names
 * @unended: the file is a tar archive without an end-of-archive block
 * @unsearched: offset at which the search for data behind the end of the archive stopped, after
 *	many zeros; 0: it did not stop before the end of the file
 * @damaged: index_open() failed because of the file's content, not because of a read error
 * @rest: offset of data behind the end of the archive, which is not indexed; 0: there is none
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
	bool unended;
	bool damaged;
	uint64_t rest;
	uint64_t unsearched;
};

int index_open(struct shard_index *index, const char *path,
	       enum index_format format, unsigned int flags);
bool index_name_claims(const char *path, enum index_format format);
int index_open_fd(struct shard_index *index, int fd, const char *path,
		  enum index_format format, unsigned int flags);
void index_free(struct shard_index *index);

const char *index_name(const struct shard_index *index, uint64_t name);
uint64_t index_parts(const struct shard_index *index, uint64_t sample);
uint64_t index_bytes(const struct shard_index *index);
uint64_t index_rest_bytes(const struct shard_index *index);
void index_warn(const struct shard_index *index, const char *path);
int index_check_concatenated(const struct shard_index *index, const char *path);

#endif /* HELPER_SHARD_DETECT_FORMAT_H */
