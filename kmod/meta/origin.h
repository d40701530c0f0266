/* SPDX-License-Identifier: GPL-2.0-only */
/* The origin's fingerprint: detects that the origin was changed. */
#ifndef NEARCACHE_META_ORIGIN_H
#define NEARCACHE_META_ORIGIN_H

#include <linux/types.h>

struct block_device;
struct dm_io_client;

#define NC_FINGERPRINT_SIZE	32

/* Bytes at each end that NEARCACHE_FP_ENDS covers. */
#define NC_IDENTITY_END		65536ULL

int nc_identity_ends(struct block_device *bdev, struct dm_io_client *io,
		     u64 size, void *buffer, u8 *digest);

#endif /* NEARCACHE_META_ORIGIN_H */
