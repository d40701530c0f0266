/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SHA-256 of Nettle. With libcrypto of OpenSSL the command takes twice as long to start, because
 * the loader resolves its 4,000 symbols.
 */
#ifndef HELPER_LIB_SHA256_H
#define HELPER_LIB_SHA256_H

#include <nettle/sha2.h>
#include <stddef.h>

void sha256_of(const void *data, size_t bytes, unsigned char *digest);

#endif /* HELPER_LIB_SHA256_H */
