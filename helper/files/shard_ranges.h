/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The TARGETs of a command as byte ranges of the device. Functions that return int return 0,
 * or an exit code after recording an error with fail().
 */
#ifndef HELPER_FILES_SHARD_RANGES_H
#define HELPER_FILES_SHARD_RANGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "files/omitted.h"
#include "lib/range.h"

/**
 * struct shard - a file, or a range that the user named
 * @name: as named by the user, or as found in a directory
 * @range: ranges of the device, whole sectors, in the order of the file
 * @ranges: entries in @range; 0 if the file is empty
 * @room: allocated entries
 * @bytes: sum of the ranges
 * @device: number of the file system's device; 0: the shard is a range
 * @inode: inode number of the file
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

/*
 * The shards in the order of the command line. @size: size of the device, bytes. @omitted: parts of
 * the TARGETs without a range.
 */
struct shards {
	uint64_t size;
	struct omitted omitted;
	struct shard *shard;
	size_t count;
	size_t room;
};

struct shard *shards_add(struct shards *shards, const char *name);
int shard_add_range(struct shard *shard, uint64_t start, uint64_t length);
int shard_append_range(struct shard *shard, uint64_t start, uint64_t length);
uint64_t shards_bytes(const struct shards *shards);
int shards_ranges(const struct shards *shards, uint64_t grain, uint64_t gap,
		  struct range **ranges, size_t *count);
const char *shards_label(const struct shards *shards, char *label);
void shards_free(struct shards *shards);

#endif /* HELPER_FILES_SHARD_RANGES_H */
