/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The roster: the list of shards that the nodes divide, in an order that is the same on all
 * nodes.
 */
#ifndef HELPER_FILES_ROSTER_H
#define HELPER_FILES_ROSTER_H

#include <stddef.h>
#include <stdint.h>

#include "files/range_set.h"

void roster_sort(const struct shards *shards, size_t *order, size_t count);
uint32_t roster_checksum(const struct shards *shards, const size_t *order,
			 size_t count);

#endif /* HELPER_FILES_ROSTER_H */
