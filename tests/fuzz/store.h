/* SPDX-License-Identifier: GPL-2.0-only */
/* Content of the simulated cache device and witness, with a volatile write cache. */
#ifndef NEARCACHE_FUZZ_STORE_H
#define NEARCACHE_FUZZ_STORE_H

#include "kernel.h"

void store_read(const struct block_device *bdev, u64 offset, bool durable, void *to);
void store_write(const struct block_device *bdev, u64 offset, bool durable, const void *from);
void store_flush(const struct block_device *bdev);
void store_cut(u64 *random);

#endif /* NEARCACHE_FUZZ_STORE_H */
