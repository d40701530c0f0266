/* SPDX-License-Identifier: GPL-2.0-only */
/* The SHA-256 of a file as its device has it, past the page cache. */
#ifndef HELPER_VERIFY_CHECKSUM_H
#define HELPER_VERIFY_CHECKSUM_H

#include <stdint.h>

#define CHECKSUM_BYTES	32

/* In place of an errno: what is read would be what memory has, not what the device has. */
#define CHECKSUM_RESIDENT	(-1)

int checksum_file(const char *path, unsigned char *digest,
		  void (*advance)(uint64_t bytes, void *arg), void *arg);
const char *checksum_error(int error);

#endif /* HELPER_VERIFY_CHECKSUM_H */
