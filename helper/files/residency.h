/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the cached parts of a shard. */
#ifndef HELPER_FILES_RESIDENCY_H
#define HELPER_FILES_RESIDENCY_H

#include <sys/types.h>

#include "lib/density_bar.h"
#include "files/shard_ranges.h"

int residency_of(dev_t number, const struct shard *shard, struct density *density);

#endif /* HELPER_FILES_RESIDENCY_H */
