/* SPDX-License-Identifier: GPL-2.0-only */
/* The data that a cache holds a part of, and which version of it. */
#ifndef HELPER_OPEN_DATASET_H
#define HELPER_OPEN_DATASET_H

#include "block/device.h"
#include "ondisk/superblock.h"

/**
 * struct dataset_change - what a cache records anew of its origin
 * @version: the dataset's version, NULL: as it was
 * @witness: path of the witness device, "": none, NULL: as it was
 * @witness_now: then: its number, 0: none.  The one before is told
 * @session: number that the superblock gets if it has less
 * @size: bytes of the origin that are or will be in use
 * @drop: what is cached is dropped
 * @held: a device-mapper device that has given the cache device up holds it
 */
struct dataset_change {
	const char *version;
	const char *witness;
	dev_t witness_now;
	u64 session;
	u64 size;
	bool drop;
	bool held;
};

int dataset_check_version(const char *version);
bool dataset_is_new(const struct nearcache_super *sb, const char *version);
int dataset_seal(struct nearcache_super *sb, const struct device *cache,
		 const struct device *origin, const char *version);
int dataset_record(struct device *cache, const struct super *super,
		   const struct device *origin,
		   const struct dataset_change *change);

#endif /* HELPER_OPEN_DATASET_H */
