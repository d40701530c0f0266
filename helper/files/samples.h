/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples of a shard, or its index alone: --samples and --index-only. */
#ifndef HELPER_FILES_SAMPLES_H
#define HELPER_FILES_SAMPLES_H

#include "files/fiemap.h"
#include "lib/words.h"

/**
 * struct narrowing - what of each file is meant
 * @samples: a list as index_select() takes it, with the index; NULL: not these
 * @index_only: what a reader needs to open the file
 * @format: of the files, INDEX_ANY: as their content says
 */
struct narrowing {
	const char *samples;
	bool index_only;
	enum index_format format;
};

int narrow(struct extents *extents, int fd, const char *path,
	   const struct narrowing *narrowing);

#endif /* HELPER_FILES_SAMPLES_H */
