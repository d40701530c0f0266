/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The manifest describes each shard, as the host created it, in one line:
 *
 *	SHA-256 SUM64 BYTES SAMPLES NAME
 *
 * SHA-256 is the proof.  SUM64 is a checksum so cheap under emulation that the loader computes it
 * over every byte of every epoch.
 */
#ifndef DEMO_MANIFEST_H
#define DEMO_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES	32
#define SHA256_HEX	(2 * SHA256_BYTES)
#define SHARD_NAME	256

/* Fletcher's sum over 64-bit words depends on their order, so it detects torn or stale data. */
struct sum64 {
	uint64_t a;
	uint64_t b;
};

/* @data is aligned to 8, and @length is a multiple of 8. */
static inline void sum64_add(struct sum64 *sum, const void *data,
			     size_t length)
{
	const uint64_t *word = data;
	size_t i;

	for (i = 0; i < length / 8; i++) {
		sum->a += word[i];
		sum->b += sum->a;
	}
}

static inline uint64_t sum64_value(const struct sum64 *sum)
{
	return sum->a * 0x9e3779b97f4a7c15ULL ^ sum->b;
}

struct shard {
	char sha256[SHA256_HEX + 1];
	uint64_t sum;
	uint64_t bytes;
	uint64_t samples;
	char name[SHARD_NAME];
};

struct manifest {
	struct shard *shards;
	size_t count;
	uint64_t bytes;
	uint64_t samples;
};

/* Exits with a message when the file is missing, empty or malformed. */
void manifest_read(struct manifest *manifest, const char *path);

/* @digest has SHA256_BYTES bytes, @hex has room for SHA256_HEX + 1 characters. */
void sha256_hex(const unsigned char *digest, char *hex);

#endif /* DEMO_MANIFEST_H */
