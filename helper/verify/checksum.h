/* SPDX-License-Identifier: GPL-2.0-only */
/* Compute the SHA-256 of a file from the data on its device, not in the page cache. */
#ifndef HELPER_VERIFY_CHECKSUM_H
#define HELPER_VERIFY_CHECKSUM_H

#include <stdint.h>

#define CHECKSUM_BYTES	32

/*
 * Returned in place of an errno: some pages of the file could not be dropped from the page cache,
 * so a read would return the data of these pages and not reach the device.
 */
#define CHECKSUM_RESIDENT	(-1)

int checksum_file(const char *path, unsigned char *digest,
		  void (*advance)(uint64_t bytes, void *arg), void *arg);
const char *checksum_error(int error);

#endif /* HELPER_VERIFY_CHECKSUM_H */
