/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times at which an origin could be written to without its cache: while a device passed
 * through to it.  Whatever cache there is of such an origin starts empty when it is opened
 * next.  What is known of them survives a reboot, or nobody gets to write.
 */
#ifndef HELPER_OPEN_UNCACHED_WRITES_H
#define HELPER_OPEN_UNCACHED_WRITES_H

#include "block/device.h"
#include "meta/format.h"

#define GAPS_FOLDER	"/var/lib/nearcache"

/* Origins and, for each, caches that are remembered.  What is forgotten is emptied again. */
#define GAPS_MAX	64
#define GAPS_EMPTIED	64

/* Where they are kept; tests have another place. */
extern const char *gaps_folder;

int gaps_begin(const char *name, const char *origin, const u8 *cache);
int gaps_check(void);
int gaps_concern(const struct nearcache_super *sb, const char *origin,
		 bool *concern);
int gaps_emptied(const struct nearcache_super *sb, u64 epoch);

#endif /* HELPER_OPEN_UNCACHED_WRITES_H */
