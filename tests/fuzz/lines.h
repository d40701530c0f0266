/* SPDX-License-Identifier: GPL-2.0-only */
/* Generates table lines and messages, for fuzz_line and for fuzz_words.c in the guest. */
#ifndef NEARCACHE_FUZZ_LINES_H
#define NEARCACHE_FUZZ_LINES_H

#include "meta/ondisk_check.h"

#define LINES_ROOM_MIN	256U

size_t lines_make(char *text, size_t room, const char *origin, const char *cache,
		  const char *witness, u64 *random);

#endif /* NEARCACHE_FUZZ_LINES_H */
