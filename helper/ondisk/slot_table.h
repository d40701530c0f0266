/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slot table of a cache device. Functions return 0, or an exit code after recording an
 * error with fail().
 */
#ifndef HELPER_ONDISK_SLOT_TABLE_H
#define HELPER_ONDISK_SLOT_TABLE_H

#include "block/device.h"
#include "ondisk/superblock.h"

/**
 * struct table_count - result of a scan of the slot table
 * @pages: pages in one copy
 * @sound_both: pages of which both copies verify
 * @sound_one: pages of which one copy is damaged
 * @damaged: pages of which both copies are damaged
 * @slots_used: slots with an origin block, in the pages that the kernel would recover
 * @bytes_valid: bytes of the valid sub-blocks in these slots
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
