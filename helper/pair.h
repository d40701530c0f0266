/* SPDX-License-Identifier: GPL-2.0-only */
/* An origin and a formatted cache device: do they belong together? */
#ifndef HELPER_PAIR_H
#define HELPER_PAIR_H

#include "device.h"
#include "super.h"

/**
 * struct pair - two devices
 * @origin: open origin
 * @cache: open cache device
 * @super: what is on it
 * @size: bytes of the origin that are or will be in use
 * @may_grow: they may be more than the cache was made for
 * @stale_advice: what to do when the origin was changed, for messages
 * @drop: nothing that is cached will be used: the origin may be of any size and
 *	content
 */
struct pair {
	struct device origin;
	struct device cache;
	struct super super;
	u64 size;
	bool may_grow;
	const char *stale_advice;
	bool drop;
};

bool pair_is_active(const struct pair *pair);
int pair_check_free(const struct device *cache, const char *self);
int pair_check_origin(const struct pair *pair);

#endif /* HELPER_PAIR_H */
