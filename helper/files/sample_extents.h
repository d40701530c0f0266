/* SPDX-License-Identifier: GPL-2.0-only */
/* Restricts a shard to its index or to some samples: --index-only and --samples. */
#ifndef HELPER_FILES_SAMPLE_EXTENTS_H
#define HELPER_FILES_SAMPLE_EXTENTS_H

#include "files/fiemap.h"
#include "lib/enum_words.h"

/**
 * struct narrowing - the selected part of each file
 * @samples: select the index and these samples, a list for index_select(); NULL: not given
 * @index_only: select only the index, which a reader reads to open the file
 * @format: format of the files; INDEX_ANY: detect it from the content
 * @concatenated: read the tar archives behind the first one as well
 * @quiet: give no warnings, and ignore @concatenated for a shard that is not a tar archive
 * @skip_damaged: a damaged file is none to select from, whatever format its name claims
 */
struct narrowing {
	const char *samples;
	bool index_only;
	enum index_format format;
	bool concatenated;
	bool quiet;
	bool skip_damaged;
};

int narrow(struct extents *extents, int fd, const char *path,
	   const struct narrowing *narrowing, bool *none);

#endif /* HELPER_FILES_SAMPLE_EXTENTS_H */
