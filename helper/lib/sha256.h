/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SHA-256 by the library Nettle. With OpenSSL's libcrypto, the command would take twice as long to
 * start, because the loader would resolve 4,000 symbols.
 */
#ifndef HELPER_LIB_SHA256_H
#define HELPER_LIB_SHA256_H

#include <nettle/sha2.h>
#include <stddef.h>

void sha256_of(const void *data, size_t bytes, unsigned char *digest);

#endif /* HELPER_LIB_SHA256_H */
