/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions for the format parsers: they read the file through a window, and build the index.
 * Each read may go to a remote volume, so a read is one page, and grows only while the parser
 * reads sequentially.
 *
 * Functions that return int return 0, or an exit code after recording an error with fail(),
 * unless they say otherwise.
 */
#ifndef HELPER_SHARD_READER_H
#define HELPER_SHARD_READER_H

#include "shard/detect_format.h"

/* Maximum bytes that scan_look() returns. */
#define SCAN_LOOK_MAX	4096U
/* Longest accepted name, bytes. */
#define SCAN_NAME_MAX	65535U
/* Maximum bytes of a path in a message, so that the reason still fits behind the path. */
#define PATH_SHOWN	1024

/**
 * struct index_scan - the state of a scan
 * @path: name of the file in messages
 * @fd: descriptor of the file
 * @size: size of the file, bytes
 * @check: also compare checksums of the data
 * @concatenated: read the tar archives behind the first one as well
 * @index: the result
 * @window: copy of the part of the file read last
 * @window_at: offset of @window in the file, bytes
 * @window_length: bytes in @window
 * @ahead: size of the last read, bytes; doubled while reads are sequential
 * @sample_room: allocated entries of @index->sample
 * @part_room: allocated entries of @index->part
 * @names_room: allocated bytes of @index->names
 */
struct index_scan {
	const char *path;
	int fd;
	uint64_t size;
	bool check;
	bool concatenated;
	struct shard_index *index;
	unsigned char *window;
	uint64_t window_at;
	size_t window_length;
	size_t ahead;
	uint64_t sample_room;
	uint64_t part_room;
	uint64_t names_room;
};

int scan_start(struct index_scan *scan);
void scan_end(struct index_scan *scan);
int scan_damage(const struct index_scan *scan, uint64_t offset,
		const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool scan_has(const struct index_scan *scan, uint64_t offset, uint64_t bytes);
const unsigned char *scan_look(struct index_scan *scan, uint64_t offset,
			       size_t bytes);
int scan_read(const struct index_scan *scan, uint64_t offset, void *buffer,
	      size_t bytes);
bool scan_starts(struct index_scan *scan, const char *magic, size_t bytes);

int scan_add_name(struct index_scan *scan, const char *name, size_t bytes,
		  uint64_t *place);
int scan_add_sample(struct index_scan *scan, uint64_t name, uint64_t offset,
		    uint64_t length);
int scan_add_part(struct index_scan *scan, uint64_t name, uint64_t offset,
		  uint64_t length);
void scan_add_range(struct index_scan *scan, uint64_t offset, uint64_t length);

/* For each format: a test whether the file seems to have this format, and a parser. */
bool index_tar_is(struct index_scan *scan);
int index_tar(struct index_scan *scan);
bool index_tfrecord_is(struct index_scan *scan);
int index_tfrecord(struct index_scan *scan);
bool index_parquet_is(struct index_scan *scan);
int index_parquet(struct index_scan *scan);
bool index_mds_is(struct index_scan *scan);
int index_mds(struct index_scan *scan);
bool index_npz_is(struct index_scan *scan);
int index_npz(struct index_scan *scan);

#endif /* HELPER_SHARD_READER_H */
