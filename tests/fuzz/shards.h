/* SPDX-License-Identifier: GPL-2.0-only */
/* Generates inputs for fuzz_index: shards with changed fields, whose checksums can be corrected. */
#ifndef NEARCACHE_FUZZ_SHARDS_H
#define NEARCACHE_FUZZ_SHARDS_H

#include "shard/detect_format.h"
#include "shard.h"

/* Bytes of the argument of --samples in an input. */
#define SHARDS_LIST	16

/**
 * struct shards_head - head of an input; the content of the file follows
 * @format: requested format, modulo INDEX_FORMATS
 * @flags: SHARDS_*
 * @list: argument of --samples, up to a NUL
 */
struct shards_head {
	uint8_t format;
	uint8_t flags;
	char list[SHARDS_LIST];
};

/* Correct the checksums of tar headers; of TFRecord records. */
#define SHARDS_SEAL_TAR		1
#define SHARDS_SEAL_TFRECORD	2
/* Let the helper verify the checksums of the data. */
#define SHARDS_CHECK		4
/* Let the helper read the archives behind the first one. */
#define SHARDS_CONCATENATED	8

uint32_t shards_random(uint64_t *random, uint32_t below);
size_t shards_make(unsigned char *input, size_t room, uint64_t *random);
void shards_seal(unsigned char *file, size_t bytes, unsigned int flags);

#endif /* NEARCACHE_FUZZ_SHARDS_H */
