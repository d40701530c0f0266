/* SPDX-License-Identifier: GPL-2.0-only */
/* Compute where metadata and slots lie on cache devices. No I/O. Sizes and offsets are in bytes. */
#ifndef HELPER_ONDISK_LAYOUT_H
#define HELPER_ONDISK_LAYOUT_H

#include "meta/ondisk_check.h"

/**
 * struct layout - fields of a superblock before it is written
 * @members: number of cache devices
 * @device_size: used bytes of each device, to the end of its last slot
 * @checksums: there is a checksum area
 * @block_size: size of a block, and so of a slot
 * @subblock_size: size of a sub-block, to which a valid bit belongs
 * @origin_lbs: logical block size of the origin
 * @cache_lbs: logical block size of the cache devices
 * @slot_count: number of slots on all devices
 * @table_pages: pages in one copy of the slot table
 * @data_offset: start of the slots on the first device
 * @member_offset: start of the slots on the other devices
 * @metadata_end: end of the last area
 * @origin_size: size of the origin
 * @intent_region: origin bytes per bit of the write-intent bitmap
 * @area_offset: start of each area on the first device, 0: not present
 * @area_length: length of each area, 0: not present
 */
struct layout {
	u32 members;
	u64 device_size[NEARCACHE_MEMBERS_MAX];
	bool checksums;
	u32 block_size;
	u32 subblock_size;
	u32 origin_lbs;
	u32 cache_lbs;
	u64 slot_count;
	u64 table_pages;
	u64 data_offset;
	u64 member_offset;
	u64 metadata_end;
	u64 origin_size;
	u64 intent_region;
	u64 area_offset[NEARCACHE_AREA_COUNT];
	u64 area_length[NEARCACHE_AREA_COUNT];
};

u32 layout_block_size(u64 cache_size);
u64 layout_intent_region(u64 origin_size);
bool layout_compute(struct layout *layout, u64 cache_size, u32 block_size,
		    bool checksums, u64 origin_size, u32 origin_lbs,
		    u32 cache_lbs, char *why);
bool layout_compute_members(struct layout *layout, const u64 *sizes, u32 members,
			    u32 block_size, bool checksums, u64 origin_size,
			    u32 origin_lbs, u32 cache_lbs, char *why);
void layout_to_member(const struct layout *layout, u32 index,
		      struct nearcache_super *sb);
void layout_to_super(const struct layout *layout, struct nearcache_super *sb);

#endif /* HELPER_ONDISK_LAYOUT_H */
