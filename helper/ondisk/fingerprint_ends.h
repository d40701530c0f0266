/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fingerprints: short proofs that an origin still has the cached content. Functions return 0,
 * or an exit code after recording an error with fail().
 */
#ifndef HELPER_ONDISK_FINGERPRINT_ENDS_H
#define HELPER_ONDISK_FINGERPRINT_ENDS_H

#include "block/device.h"
#include "nearcache_format.h"

#define FINGERPRINT_SIZE	32

int fingerprint_ends(const struct device *dev, uint64_t size,
		     unsigned char *digest);
int fingerprint_record(const struct device *dev, struct nearcache_super *sb);

#endif /* HELPER_ONDISK_FINGERPRINT_ENDS_H */
