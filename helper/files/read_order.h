/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps the reads of a list to ranges of the device, in their order. */
#ifndef HELPER_FILES_READ_ORDER_H
#define HELPER_FILES_READ_ORDER_H

#include "files/read_list.h"
#include "files/resolve_file.h"

/*
 * Samples of fixed size: sample N of a file begins at byte @header + N * @size. @size 0: the format
 * of each file tells where its samples are.
 */
struct fixed_samples {
	uint64_t header;
	uint64_t size;
};

int read_order_resolve(struct resolving *r, const struct read_list *list,
		       const struct fixed_samples *fixed, struct shards *order);

#endif /* HELPER_FILES_READ_ORDER_H */
