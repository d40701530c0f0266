/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SHA-256.  By Nettle: a start of the command takes half as long as with OpenSSL's libcrypto,
 * of whose 4,000 symbols one of these is looked for after the other each time.
 */
#ifndef HELPER_LIB_SHA256_H
#define HELPER_LIB_SHA256_H

#include <nettle/sha2.h>
#include <stddef.h>

void sha256_of(const void *data, size_t bytes, unsigned char *digest);

#endif /* HELPER_LIB_SHA256_H */
