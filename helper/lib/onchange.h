/* SPDX-License-Identifier: GPL-2.0-only */
/* What becomes of cached data when the origin is not what the cache recorded. */
#ifndef HELPER_LIB_ONCHANGE_H
#define HELPER_LIB_ONCHANGE_H

#include <stdbool.h>

/* For messages. */
#define ON_CHANGE_WORDS	"drop, refuse or trust"

/**
 * enum on_change - what to do
 * @ON_CHANGE_DEFAULT: not said: each verb has its own way
 * @ON_CHANGE_DROP: go on with an empty cache
 * @ON_CHANGE_REFUSE: do not go on
 * @ON_CHANGE_TRUST: go on with what is cached, and record the origin as it is
 */
enum on_change {
	ON_CHANGE_DEFAULT = 0,
	ON_CHANGE_DROP,
	ON_CHANGE_REFUSE,
	ON_CHANGE_TRUST,
};

bool on_change_parse(const char *word, enum on_change *result);

#endif /* HELPER_LIB_ONCHANGE_H */
