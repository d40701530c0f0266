/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the superblock says about the origin, to recognise it at the next open: device id, size,
 * fingerprints and dataset version.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_ORIGIN_RECORD_H
#define HELPER_OPEN_ORIGIN_RECORD_H

#include "block/device.h"
#include "ondisk/fingerprint_fs.h"
#include "ondisk/superblock.h"

/**
 * struct dataset_change - a change of the superblock by dataset_record()
 * @version: new version of the dataset, NULL: unchanged
 * @witness: path of the new witness, "": none, NULL: unchanged
 * @witness_now: device number of @witness, 0: none. If the old witness is another device,
 *	witness_leave() marks the record on the old witness
 * @session: if the session number in the superblock is lower, it is raised to @session
 * @size: bytes of the origin that the device uses or will use
 * @drop: drop all cached data
 * @content: the file systems on the origin. dataset_record() sets it, but not if it is @known
 * @known: @content and the recorded fingerprint of the ends describe the origin as it was when the
 *	cached data was compared with it: record @content and do not read the origin again
 * @held: an idle dm device has the cache device open, so the cache device cannot be claimed
 */
struct dataset_change {
	const char *version;
	const char *witness;
	dev_t witness_now;
	u64 session;
	u64 size;
	bool drop;
	struct fsprint_result *content;
	bool known;
	bool held;
};

int dataset_check_version(const char *version);
bool dataset_is_new(const struct nearcache_super *sb, const char *version);
int dataset_seal(struct nearcache_super *sb, const struct device *cache,
		 const struct device *origin, const char *version,
		 struct fsprint_result *content);
int dataset_record(struct device *cache, const struct super *super,
		   const struct device *origin,
		   const struct dataset_change *change);
int dataset_empty(struct device *cache, const struct super *super);

#endif /* HELPER_OPEN_ORIGIN_RECORD_H */
