/* SPDX-License-Identifier: GPL-2.0-only */
/* What a command is about: files and pieces of a device, as byte ranges of it. */
#ifndef HELPER_FILES_RANGE_SET_H
#define HELPER_FILES_RANGE_SET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/range.h"

/**
 * struct shard - a file, or a range that was given as such
 * @name: as the user named it, or as it was found
 * @range: of the device, whole sectors, in the order of the file
 * @ranges: how many; 0: the file is empty
 * @room: that fit
 * @bytes: sum of the ranges
 * @device: of the file system that the file is on; 0: a range
 * @inode: of the file there
 */
struct shard {
	char *name;
	struct range *range;
	size_t ranges;
	size_t room;
	uint64_t bytes;
	dev_t device;
	ino_t inode;
};

/**
 * struct shards - all of them
 * @size: bytes of the device
 * @shard: in the order of the command line
 * @count: how many
 * @room: that fit
 */
struct shards {
	uint64_t size;
	struct shard *shard;
	size_t count;
	size_t room;
};

struct shard *shards_add(struct shards *shards, const char *name);
int shard_add_range(struct shard *shard, uint64_t start, uint64_t length);
uint64_t shards_bytes(const struct shards *shards);
int shards_ranges(const struct shards *shards, uint64_t grain, uint64_t gap,
		  struct range **ranges, size_t *count);
const char *shards_label(const struct shards *shards, char *label);
void shards_free(struct shards *shards);

#endif /* HELPER_FILES_RANGE_SET_H */
