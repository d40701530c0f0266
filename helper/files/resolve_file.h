/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps the files and ranges of TARGETs to ranges of the device, for files/operand.c and
 * files/read_order.c. Functions that return int return 0, or an exit code after recording an error
 * with fail().
 */
#ifndef HELPER_FILES_RESOLVE_FILE_H
#define HELPER_FILES_RESOLVE_FILE_H

#include "block/dm.h"
#include "block/layer_map.h"
#include "files/glob.h"
#include "files/operand.h"
#include "files/sample_extents.h"
#include "files/shard_ranges.h"

/* Index of the shard of a file that was skipped. */
#define NO_SHARD	SIZE_MAX

/* Consecutive bytes of a file, from @offset on, and the range of the device that has them. */
struct place {
	uint64_t offset;
	struct range range;
};

/* The places of a file, ascending by offset. The caller zeroes it before the first use. */
struct places {
	struct place *place;
	size_t count;
	size_t room;
};

/**
 * struct resolving - state while TARGETs are resolved to shards
 * @dev: the device
 * @use: purpose of the result
 * @strict: refuse a file of which something would be left out
 * @shards: the result
 * @narrowing: selected part of each file
 * @why: error about the last file that was found and passed over; NULL: there is none
 * @holes: bytes of holes that the command cannot drop
 * @hole_files: number of files that have these holes
 * @hole_first: name of the first of them
 * @layers: stack of devices from the last file's file system down to @dev
 * @seen: files by device and inode: a tree of struct seen
 * @places: NULL, or the places of the file that is being mapped
 */
struct resolving {
	const struct dm_device *dev;
	enum target_use use;
	bool strict;
	struct shards *shards;
	struct narrowing narrowing;
	char *why;
	uint64_t holes;
	size_t hole_files;
	const char *hole_first;
	struct layers layers;
	void *seen;
	struct places *places;
};

int resolving_file(struct resolving *r, const struct glob_word *word, size_t *number);
int resolving_places(struct resolving *r, const struct glob_word *word, struct places *places,
		   uint64_t *size, size_t *number);
int resolving_range(struct resolving *r, const struct glob_word *word);
void resolving_warn_holes(const struct resolving *r);
void resolving_free(struct resolving *r);

#endif /* HELPER_FILES_RESOLVE_FILE_H */
