/* SPDX-License-Identifier: GPL-2.0-only */
/* Restricts a shard to its index or to some samples: --index-only and --samples. */
#ifndef HELPER_FILES_SAMPLE_SELECT_H
#define HELPER_FILES_SAMPLE_SELECT_H

#include "files/fiemap.h"
#include "lib/enum_words.h"

/**
 * struct narrowing - the selected part of each file
 * @samples: a list for index_select(), includes the index; NULL: not given
 * @index_only: only the part that a reader reads to open the file
 * @format: of the files; INDEX_ANY: detect
 */
struct narrowing {
	const char *samples;
	bool index_only;
	enum index_format format;
};

int narrow(struct extents *extents, int fd, const char *path,
	   const struct narrowing *narrowing);

#endif /* HELPER_FILES_SAMPLE_SELECT_H */
