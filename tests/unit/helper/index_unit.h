/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the tests of the index.  unit.h must follow lib/error.h, as cmocka redefines fail(). */
#ifndef HELPER_INDEX_UNIT_H
#define HELPER_INDEX_UNIT_H

#include <stdio.h>
#include <unistd.h>

#include "lib/error.h"
#include "shard/detect_format.h"
#include "shard.h"
#include "unit.h"

/* Call index_open_fd() for a file in memory; return its exit code.  The caller frees @index. */
static inline int take_as(const struct shard *shard, struct shard_index *index,
			  enum index_format format, unsigned int flags)
{
	int fd = shard_file(shard), error;

	fail_reset();
	error = index_open_fd(index, fd, "shard", format, flags);
	close(fd);
	return error;
}

/* Read the index of a valid file, which must be recognised by its content as @format. */
static inline void take(const struct shard *shard, struct shard_index *index,
			enum index_format format)
{
	if (take_as(shard, index, INDEX_ANY, false))
		fail_msg("%s", fail_message());
	assert_int_equal(index->format, format);
	assert_int_equal(index->size, shard->length);
}

/* Check that a damaged file is refused, with a message that gives @offset and reason @what. */
static inline void refused(const struct shard *shard, enum index_format format,
			   uint64_t offset, const char *what)
{
	struct shard_index index;
	char where[64];

	snprintf(where, sizeof(where), "'shard', byte %llu: ",
		 (unsigned long long)offset);
	assert_int_equal(take_as(shard, &index, format, false), CODE_DEVICE);
	index_free(&index);
	if (strncmp(fail_message(), where, strlen(where)) ||
	    !strstr(fail_message(), what))
		fail_msg("not '%s…%s': %s", where, what, fail_message());
}

static inline void sample_is(const struct shard_index *index, uint64_t number,
			     const char *name, uint64_t offset, uint64_t length)
{
	const struct index_sample *sample = &index->sample[number];
	const char *found = index_name(index, sample->name);

	assert_true(number < index->samples);
	if (name)
		assert_string_equal(found, name);
	else
		assert_null(found);
	assert_int_equal(sample->range.offset, offset);
	assert_int_equal(sample->range.length, length);
}

static inline void part_is(const struct shard_index *index, uint64_t number,
			   const char *name, uint64_t offset, uint64_t length)
{
	const struct index_part *part = &index->part[number];

	assert_true(number < index->parts);
	assert_string_equal(index_name(index, part->name), name);
	assert_int_equal(part->range.offset, offset);
	assert_int_equal(part->range.length, length);
}

#endif /* HELPER_INDEX_UNIT_H */
