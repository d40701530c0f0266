/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fingerprint is a hash of parts of an origin. If it is unchanged, the origin is taken to have
 * the content that was cached.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_ONDISK_FINGERPRINT_ENDS_H
#define HELPER_ONDISK_FINGERPRINT_ENDS_H

#include "block/device.h"
#include "nearcache_format.h"
#include "ondisk/fingerprint_fs.h"

#define FINGERPRINT_SIZE	32

int fingerprint_ends(const struct device *dev, uint64_t size,
		     unsigned char *digest);
void fingerprint_put(struct nearcache_super *sb, const struct fsprint_result *content);
int fingerprint_record(const struct device *dev, struct nearcache_super *sb,
		       struct fsprint_result *content);

#endif /* HELPER_ONDISK_FINGERPRINT_ENDS_H */
