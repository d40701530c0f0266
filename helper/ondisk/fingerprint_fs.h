/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fingerprints of file systems. They show most writes that leave the first and last 64 KiB of the
 * origin unchanged. They cover only metadata, so they miss file data that is overwritten in place.
 *
 * The file system is untrusted input: nothing is read beyond the end of the device, and each parser
 * reads a bounded number of bytes.
 */
#ifndef HELPER_ONDISK_FINGERPRINT_FS_H
#define HELPER_ONDISK_FINGERPRINT_FS_H

#include "block/device.h"
#include "nearcache_format.h"

#define FSPRINT_SIZE	32

struct fsprint;

int fsprint_take(const struct device *dev, uint64_t size,
		 enum nearcache_fingerprint *type, unsigned char *digest);

/* Used by the parsers below. A parser returns false if the device has another file system. */
const void *fsprint_look(struct fsprint *print, uint64_t offset, size_t bytes);
void fsprint_add(struct fsprint *print, uint64_t offset, uint64_t bytes);
void fsprint_add_number(struct fsprint *print, uint64_t number);
uint64_t fsprint_size(const struct fsprint *print);

bool fsprint_ext4(struct fsprint *print);
bool fsprint_xfs(struct fsprint *print);
bool fsprint_erofs(struct fsprint *print);

#endif /* HELPER_ONDISK_FINGERPRINT_FS_H */
