/* SPDX-License-Identifier: GPL-2.0-only */
/* The slot table of a cache device. */
#ifndef HELPER_ONDISK_SLOT_TABLE_H
#define HELPER_ONDISK_SLOT_TABLE_H

#include "block/device.h"
#include "ondisk/superblock.h"

/**
 * struct table_count - what a scan of the slot table found
 * @pages: pages in one copy
 * @sound_both: pages whose two copies verify
 * @sound_one: pages of which one copy is damaged
 * @damaged: pages of which both copies are damaged
 * @slots_used: slots that hold an origin block, of the newer copies of pages
 *	whose two copies verify: the kernel takes no other
 * @bytes_valid: bytes of the valid sub-blocks of those
 */
struct table_count {
	u64 pages;
	u64 sound_both;
	u64 sound_one;
	u64 damaged;
	u64 slots_used;
	u64 bytes_valid;
};

int table_write(const struct device *dev, const struct nearcache_super *sb);
int table_scan(const struct device *dev, const struct super *super,
	       struct table_count *count);

#endif /* HELPER_ONDISK_SLOT_TABLE_H */
