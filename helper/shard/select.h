/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples of a shard, as the user names them: "0-9,12" or by name. */
#ifndef HELPER_SHARD_SELECT_H
#define HELPER_SHARD_SELECT_H

#include "shard/index.h"

/**
 * struct index_span - samples that follow each other
 * @first: number of the first one
 * @end: number behind the last one
 */
struct index_span {
	uint64_t first;
	uint64_t end;
};

/**
 * struct index_selection - samples that were chosen
 * @span: ascending, without overlap
 * @spans: how many
 * @room: that fit
 */
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

#endif /* HELPER_SHARD_SELECT_H */
