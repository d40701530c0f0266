// SPDX-License-Identifier: GPL-2.0-only
#include "lib/sha256.h"

/* @digest receives SHA256_DIGEST_SIZE bytes. */
void sha256_of(const void *data, size_t bytes, unsigned char *digest)
{
	struct sha256_ctx sum;

	sha256_init(&sum);
	sha256_update(&sum, bytes, data);
	sha256_digest(&sum, SHA256_DIGEST_SIZE, digest);
}
