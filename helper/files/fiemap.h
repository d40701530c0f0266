/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps a file to the block device of its file system. The caller decides about the parts without
 * data on the device, and those whose location is unknown; holes have no extent.
 *
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_FILES_FIEMAP_H
#define HELPER_FILES_FIEMAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shard/detect_format.h"

/**
 * enum extent_kind - relation between bytes of a file and the device
 * @EXTENT_DATA: the bytes are on the device
 * @EXTENT_UNWRITTEN: the device has room for the bytes, but they were never written: they read as
 *	zeros, and the device is not read. Another host may have written them meanwhile
 * @EXTENT_UNLOCATED: the bytes have no location of their own or an unknown one (inline, encoded),
 *	or none yet (delayed allocation)
 */
enum extent_kind {
	EXTENT_DATA,
	EXTENT_UNWRITTEN,
	EXTENT_UNLOCATED,
};

/**
 * struct extent - consecutive bytes of a file
 * @offset: in the file
 * @start: on the device, where the bytes are consecutive as well; unless EXTENT_UNLOCATED
 * @length: bytes
 * @kind: whether the device has the bytes
 * @why: for EXTENT_UNLOCATED, words that follow "the data"
 */
struct extent {
	uint64_t offset;
	uint64_t start;
	uint64_t length;
	enum extent_kind kind;
	const char *why;
};

/**
 * struct extents - the map of a file
 * @device: number of the file system's device
 * @size: size of the file, bytes
 * @selected: bytes of the file that the map is about: @size, or less after extents_keep()
 * @extent: in the order of the file, and inside it except after extents_read_allocated(); extents
 *	adjacent both in the file and on the device are merged
 * @count: entries in @extent
 * @room: allocated entries
 */
struct extents {
	dev_t device;
	uint64_t size;
	uint64_t selected;
	struct extent *extent;
	size_t count;
	size_t room;
};

int extents_read(struct extents *extents, int fd, const char *path);
int extents_read_allocated(struct extents *extents, int fd, const char *path);
int extents_keep(struct extents *extents, const struct index_range *range,
		 size_t ranges);
void extents_free(struct extents *extents);

#endif /* HELPER_FILES_FIEMAP_H */
