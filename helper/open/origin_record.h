/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a cache records about its origin: identity, size, fingerprint and dataset version.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_OPEN_ORIGIN_RECORD_H
#define HELPER_OPEN_ORIGIN_RECORD_H

#include "block/device.h"
#include "ondisk/superblock.h"

/**
 * struct dataset_change - a change of the origin's record in a superblock
 * @version: the dataset's version, NULL: unchanged
 * @witness: path of the witness device, "": none, NULL: unchanged
 * @witness_now: with @witness: device number of the new witness, 0: none. The old witness drops its
 *	record
 * @session: minimum session number of the superblock
 * @size: size of the origin in bytes, as it is or will be used
 * @drop: drop all cached data
 * @held: a device-mapper device that no longer uses the cache device still holds it
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

#endif /* HELPER_OPEN_ORIGIN_RECORD_H */
