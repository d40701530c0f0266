/* SPDX-License-Identifier: GPL-2.0-only */
/* The write path: bios that change the origin, and the invalidation that they cause. */
#ifndef NEARCACHE_IO_WRITE_PATH_H
#define NEARCACHE_IO_WRITE_PATH_H

#include <linux/blk_types.h>

struct nc_cache;
struct nc_io;
struct nc_target;

/* Most blocks of a discard or write-zeroes: dm splits longer ones, as map visits each block. */
#define NC_WRITE_BLOCKS_MAX	4096U

int nc_write_map(struct nc_target *t, struct bio *bio);
int nc_write_end_io(struct nc_target *t, struct bio *bio, struct nc_io *io,
		    blk_status_t *status);

#endif /* NEARCACHE_IO_WRITE_PATH_H */
