/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads Thrift's compact protocol from a range of a file. The first error is recorded with
 * fail(). After an error the functions return 0 for a number, and the end of a structure or list.
 */
#ifndef HELPER_SHARD_THRIFT_H
#define HELPER_SHARD_THRIFT_H

#include "shard/reader.h"

enum thrift_type {
	THRIFT_STOP,
	THRIFT_TRUE,
	THRIFT_FALSE,
	THRIFT_BYTE,
	THRIFT_I16,
	THRIFT_I32,
	THRIFT_I64,
	THRIFT_DOUBLE,
	THRIFT_BINARY,
	THRIFT_LIST,
	THRIFT_SET,
	THRIFT_MAP,
	THRIFT_STRUCT,
	THRIFT_TYPES,
};

/**
 * struct thrift - a position in a range
 * @scan: the file
 * @at: offset of the next byte
 * @end: end of the range, bytes
 * @failed: an error was recorded
 */
struct thrift {
	struct index_scan *scan;
	uint64_t at;
	uint64_t end;
	bool failed;
};

/**
 * struct thrift_field - a field of a structure; zero it before the first thrift_next()
 * @id: field number
 * @type: type of the value; the caller must read or skip the value next
 */
struct thrift_field {
	int32_t id;
	enum thrift_type type;
};

bool thrift_next(struct thrift *thrift, struct thrift_field *field);
uint64_t thrift_list(struct thrift *thrift, const struct thrift_field *field,
		     enum thrift_type type);
bool thrift_struct(struct thrift *thrift, const struct thrift_field *field);
uint64_t thrift_size(struct thrift *thrift, const struct thrift_field *field);
uint64_t thrift_binary(struct thrift *thrift);
void thrift_skip(struct thrift *thrift, const struct thrift_field *field);

#endif /* HELPER_SHARD_THRIFT_H */
