/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write an empty slot table to a cache device, check a slot table, or read its slots.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_ONDISK_SLOT_TABLE_H
#define HELPER_ONDISK_SLOT_TABLE_H

#include "block/device.h"
#include "ondisk/superblock.h"

/**
 * struct table_count - result of a scan of the slot table
 * @pages: pages in one copy
 * @sound_both: pages of which both copies are valid
 * @sound_one: pages of which only one copy is valid
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

/* Called for each used slot. @entry: valid until the call returns; its fields are unchecked. */
typedef void table_visit_t(void *data, u64 slot, const struct nearcache_slot *entry);

int table_write(const struct device *dev, const struct nearcache_super *sb);
int table_scan(const struct device *dev, const struct super *super,
	       struct table_count *count);
int table_walk(const struct device *dev, const struct super *super, u64 most,
	       table_visit_t *visit, void *data, u64 *last);

#endif /* HELPER_ONDISK_SLOT_TABLE_H */
