/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps a file to the block device of its file system.
 *
 * A file is mapped completely or refused: data without a location of its own on the device (a
 * hole, inline, delayed, encoded or unwritten data) cannot be cached by range.
 *
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_FILES_FIEMAP_H
#define HELPER_FILES_FIEMAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shard/detect_format.h"

/* Bytes that are consecutive both in a file (from @offset) and on its device (from @start). */
struct extent {
	uint64_t offset;
	uint64_t start;
	uint64_t length;
};

/**
 * struct extents - the map of a file
 * @device: number of the file system's device
 * @size: size of the file, bytes; before extents_keep() the extents cover the file without gaps
 * @extent: in the order of the file; extents adjacent both in the file and on the device are merged
 * @count: entries in @extent
 * @room: allocated entries
 */
struct extents {
	dev_t device;
	uint64_t size;
	struct extent *extent;
	size_t count;
	size_t room;
};

int extents_read(struct extents *extents, int fd, const char *path);
int extents_keep(struct extents *extents, const struct index_range *range,
		 size_t ranges);
void extents_free(struct extents *extents);

#endif /* HELPER_FILES_FIEMAP_H */
