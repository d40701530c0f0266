/* SPDX-License-Identifier: GPL-2.0-only */
/* SHA-256 of a file as it is on its device, not in the page cache. */
#ifndef HELPER_VERIFY_CHECKSUM_H
#define HELPER_VERIFY_CHECKSUM_H

#include <stdint.h>

#define CHECKSUM_BYTES	32

/*
 * Instead of an errno: pages of the file stay in the page cache, so a read would not reach the
 * device.
 */
#define CHECKSUM_RESIDENT	(-1)

int checksum_file(const char *path, unsigned char *digest,
		  void (*advance)(uint64_t bytes, void *arg), void *arg);
const char *checksum_error(int error);

#endif /* HELPER_VERIFY_CHECKSUM_H */
