/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The manifest describes each shard, as the host created it, in one line:
 *
 *	SHA-256 SUM64 BYTES SAMPLES NAME
 *
 * The loader computes SUM64 over every byte of every epoch, because this sum is cheap even under
 * emulation, and SHA-256, the proof, only in two passes.
 */
#ifndef DEMO_MANIFEST_H
#define DEMO_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES	32
#define SHA256_HEX	(2 * SHA256_BYTES)
#define SHARD_NAME	256

/* Fletcher's sum over 64-bit words: it depends on their order, so it detects moved data. */
struct sum64 {
	uint64_t a;
	uint64_t b;
};

/* @data must be aligned to 8 bytes, and @length (bytes) be a multiple of 8. */
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

/* Read the manifest; exit with a message if it is missing, empty or malformed. */
void manifest_read(struct manifest *manifest, const char *path);

/* Format @digest (SHA256_BYTES bytes); @hex has room for SHA256_HEX + 1 characters. */
void sha256_hex(const unsigned char *digest, char *hex);

#endif /* DEMO_MANIFEST_H */
