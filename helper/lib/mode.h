/* SPDX-License-Identifier: GPL-2.0-only */
/* How a device treats writes: the first word of its table. */
#ifndef HELPER_LIB_MODE_H
#define HELPER_LIB_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "nearcache_counters.h"

/* All words, as messages list them. */
#define MODE_WORDS	"read-only, writearound or writethrough"

const char *mode_word(uint64_t mode);
bool mode_parse(const char *word, enum nearcache_mode *mode);
bool mode_writes(enum nearcache_mode mode);

#endif /* HELPER_LIB_MODE_H */
