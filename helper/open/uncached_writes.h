/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A gap is a time in which a pass-through device could write to an origin without its cache. Gaps
 * are recorded in a file that survives a reboot; a pass-through device whose gap cannot be recorded
 * is read-only. At its next open, each cache of that origin is emptied.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_UNCACHED_WRITES_H
#define HELPER_OPEN_UNCACHED_WRITES_H

#include "block/device.h"
#include "meta/ondisk_check.h"

#define GAPS_FOLDER	"/var/lib/nearcache"

/*
 * Maximum number of gaps in the file, and of emptied caches listed for a gap. Beyond these numbers,
 * caches are emptied more often than needed.
 */
#define GAPS_MAX	64
#define GAPS_EMPTIED	64

/* Folder of the file; tests set another one. */
extern const char *gaps_folder;

int gaps_begin(const char *name, const char *origin, const u8 *cache);
int gaps_add(const char *name, const char *origin, const u8 *cache, const char *run);
int gaps_remove(const char *run);
int gaps_check(void);
int gaps_concern(const struct nearcache_super *sb, const char *origin,
		 bool *concern);
int gaps_emptied(const struct nearcache_super *sb, u64 epoch);

#endif /* HELPER_OPEN_UNCACHED_WRITES_H */
