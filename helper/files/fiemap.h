/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a file is on the block device of its file system.
 *
 * A file is mapped whole or refused: what has no place of its own on the device (a
 * hole, inline, delayed, encoded or unwritten data) cannot be cached by range.
 */
#ifndef HELPER_FILES_FIEMAP_H
#define HELPER_FILES_FIEMAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shard/index.h"

/**
 * struct extent - bytes of a file that follow each other on its device
 * @offset: first byte, of the file
 * @start: the same, of the device
 * @length: bytes
 */
struct extent {
	uint64_t offset;
	uint64_t start;
	uint64_t length;
};

/**
 * struct extents - a file, mapped
 * @device: of its file system
 * @size: bytes of the file; the extents cover them without gaps
 * @extent: in the order of the file; neighbours do not follow each other on the device
 * @count: how many
 * @room: that fit
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
