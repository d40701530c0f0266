/* SPDX-License-Identifier: GPL-2.0-only */
/* The origin's fingerprint, which detects that others changed the origin, and its flushes. */
#ifndef NEARCACHE_META_ORIGIN_FINGERPRINT_H
#define NEARCACHE_META_ORIGIN_FINGERPRINT_H

#include <linux/types.h>

struct block_device;
struct dm_io_client;
struct nc_cache;

#define NC_FINGERPRINT_SIZE	32

/* Bytes at each end that NEARCACHE_FP_ENDS covers. */
#define NC_FINGERPRINT_END		65536ULL

int nc_origin_fingerprint(struct block_device *bdev, struct dm_io_client *io,
			  u64 size, void *buffer, u8 *digest);
int nc_origin_flush(struct nc_cache *c);

#endif /* NEARCACHE_META_ORIGIN_FINGERPRINT_H */
