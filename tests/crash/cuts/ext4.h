/* SPDX-License-Identifier: GPL-2.0-only */
/* Check an image of ext4 and its files without a kernel. */
#ifndef NEARCACHE_CRASH_EXT4_H
#define NEARCACHE_CRASH_EXT4_H

#include <stdbool.h>
#include <stddef.h>

#include "../../selftests/nearcache/checkpoints.h"

/**
 * struct fs_checked - result of ext4_check()
 * @refused: the journal cannot be replayed, or the file system needs a repair by hand
 * @dirty: e2fsck finds faults after the replay
 * @files: result for the files of checkpoints.h
 * @said: first line of the failed program, or first fault of the files
 */
struct fs_checked {
	bool refused, dirty;
	struct checked files;
	char said[256];
};

void ext4_begin(const char *dir, size_t bytes);
void ext4_check(const void *image, const struct required *need, struct fs_checked *out);

#endif /* NEARCACHE_CRASH_EXT4_H */
