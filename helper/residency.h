/* SPDX-License-Identifier: GPL-2.0-only */
/* What of a shard is cached. */
#ifndef HELPER_RESIDENCY_H
#define HELPER_RESIDENCY_H

#include <sys/types.h>

#include "density.h"
#include "shards.h"

int residency_of(dev_t number, const struct shard *shard, struct density *density);

#endif /* HELPER_RESIDENCY_H */
