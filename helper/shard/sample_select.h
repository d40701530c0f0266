/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses the user's selection of samples by number or name, such as "0-9,cat". index_select() and
 * index_select_all() return 0, or an exit code after recording an error with fail(). The caller
 * calls index_select_free() in both cases.
 */
#ifndef HELPER_SHARD_SAMPLE_SELECT_H
#define HELPER_SHARD_SAMPLE_SELECT_H

#include "shard/detect_format.h"

/* Samples from number @first up to @end (exclusive). */
struct index_span {
	uint64_t first;
	uint64_t end;
};

/* The selected samples: @span is ascending and disjoint, with room for @room entries. */
struct index_selection {
	struct index_span *span;
	uint64_t spans;
	uint64_t room;
};

int index_select(struct index_selection *selection,
		 const struct shard_index *index, const char *path,
		 const char *list);
int index_select_all(struct index_selection *selection,
		     const struct shard_index *index);
void index_select_free(struct index_selection *selection);

#endif /* HELPER_SHARD_SAMPLE_SELECT_H */
