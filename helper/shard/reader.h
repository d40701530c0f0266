/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the formats: a look at the file through a small window, and the index in the
 * making.  Reads are as small as pages, and larger only where one follows another:
 * each may be one from a remote volume.
 */
#ifndef HELPER_SHARD_READER_H
#define HELPER_SHARD_READER_H

#include "shard/index.h"

/* Most bytes of one scan_look(). */
#define SCAN_LOOK_MAX	4096U
/* Longest name that is taken, bytes. */
#define SCAN_NAME_MAX	65535U

/**
 * struct index_scan - a file that is looked at
 * @path: what messages call it
 * @fd: the file
 * @size: bytes
 * @check: compare checksums of the data, too
 * @index: the result
 * @window: what was read last
 * @window_at: its place in the file, bytes
 * @window_length: bytes in it
 * @ahead: bytes of the last read, to read more where one follows another
 * @sample_room: samples that fit in @index
 * @part_room: parts that fit
 * @names_room: bytes of names that fit
 */
struct index_scan {
	const char *path;
	int fd;
	uint64_t size;
	bool check;
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

/* Each format: whether a file looks like it, and its index. */
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
