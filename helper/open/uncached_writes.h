/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gaps: times at which an origin could be written to without its cache, through a pass-through
 * device. Each cache of such an origin is emptied at its next open. The record survives a reboot;
 * without it the pass-through device is read-only.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_OPEN_UNCACHED_WRITES_H
#define HELPER_OPEN_UNCACHED_WRITES_H

#include "block/device.h"
#include "meta/format.h"

#define GAPS_FOLDER	"/var/lib/nearcache"

/* Maximum number of origins, and of caches for each. A cache that does not fit is emptied again. */
#define GAPS_MAX	64
#define GAPS_EMPTIED	64

/* Folder of the record; tests use another one. */
extern const char *gaps_folder;

int gaps_begin(const char *name, const char *origin, const u8 *cache);
int gaps_check(void);
int gaps_concern(const struct nearcache_super *sb, const char *origin,
		 bool *concern);
int gaps_emptied(const struct nearcache_super *sb, u64 epoch);

#endif /* HELPER_OPEN_UNCACHED_WRITES_H */
