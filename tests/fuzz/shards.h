/* SPDX-License-Identifier: GPL-2.0-only */
/* Inputs of the fuzzer of the index: made up, changed where it matters, and sealed. */
#ifndef NEARCACHE_FUZZ_SHARDS_H
#define NEARCACHE_FUZZ_SHARDS_H

#include "shard/index.h"
#include "shard.h"

/* A list of samples to choose. */
#define SHARDS_LIST	16

/**
 * struct shards_head - what an input begins with; the file follows
 * @format: that is asked for, modulo INDEX_FORMATS
 * @flags: SHARDS_*
 * @list: of samples to choose, up to a NUL
 */
struct shards_head {
	uint8_t format;
	uint8_t flags;
	char list[SHARDS_LIST];
};

/* Checksums are made right: of tar headers, of records. */
#define SHARDS_SEAL_TAR		1
#define SHARDS_SEAL_TFRECORD	2
/* Checksums of the data are compared. */
#define SHARDS_CHECK		4

uint32_t shards_random(uint64_t *random, uint32_t below);
size_t shards_make(unsigned char *input, size_t room, uint64_t *random);
void shards_seal(unsigned char *file, size_t bytes, unsigned int flags);

#endif /* NEARCACHE_FUZZ_SHARDS_H */
