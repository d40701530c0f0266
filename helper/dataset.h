/* SPDX-License-Identifier: GPL-2.0-only */
/* The data that a cache holds a part of, and which version of it. */
#ifndef HELPER_DATASET_H
#define HELPER_DATASET_H

#include "device.h"
#include "super.h"

int dataset_check_version(const char *version);
bool dataset_is_new(const struct nearcache_super *sb, const char *version);
int dataset_seal(struct nearcache_super *sb, const struct device *cache,
		 const struct device *origin, const char *version);
int dataset_replace(struct device *cache, const struct super *super,
		    const struct device *origin, const char *version);

#endif /* HELPER_DATASET_H */
