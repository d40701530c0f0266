/* SPDX-License-Identifier: GPL-2.0-only */
/* The name of what belongs together: ranges, and prefetch jobs. */
#ifndef HELPER_LIB_LABEL_H
#define HELPER_LIB_LABEL_H

#include "nearcache.h"
#include "files/range_set.h"

/* A label with its end. */
#define LABEL_SIZE	(NEARCACHE_LABEL_MAX + 1)

const char *label_check(const char *label);
const char *label_of(const struct shards *shards, char *label);

#endif /* HELPER_LIB_LABEL_H */
