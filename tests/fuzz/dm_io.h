/* SPDX-License-Identifier: GPL-2.0-only */
/* Replaces <linux/dm-io.h>: the parts that the module uses. */
#ifndef NEARCACHE_FUZZ_DM_IO_H
#define NEARCACHE_FUZZ_DM_IO_H

struct dm_io_client {
	int unused;
};

struct dm_io_region {
	struct block_device *bdev;
	sector_t sector, count;
};

struct dm_io_request {
	blk_opf_t bi_opf;
	struct {
		int type;
		struct {
			void *vma;
		} ptr;
	} mem;
	struct {
		void (*fn)(unsigned long error, void *context);
		void *context;
	} notify;
	struct dm_io_client *client;
};

enum { DM_IO_VMA };

#endif /* NEARCACHE_FUZZ_DM_IO_H */
