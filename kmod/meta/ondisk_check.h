/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks and initialisation of the on-disk structures.  Pure functions without I/O, allocation or
 * locks: the kernel, the helper, the unit tests and the fuzzers compile this source.
 */
#ifndef NEARCACHE_META_ONDISK_CHECK_H
#define NEARCACHE_META_ONDISK_CHECK_H

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/types.h>
#else
#include "meta/format_user.h"
#endif
#include "nearcache_format.h"

/* Bytes of the buffer that nc_super_check() fills with the reason. */
#define NC_WHY_SIZE	160

/**
 * struct nc_geometry - the numbers of a valid superblock in CPU order
 * @device_size: bytes of the cache device in use
 * @origin_size: bytes
 * @slot_count: slots of all members
 * @data_offset: bytes, start of the slots
 * @table_offset: bytes, start of the slot table area
 * @table_pages: pages in one copy of the table
 * @commit_offset: bytes, start of the ring of commit records
 * @intent_offset: bytes, start of the write-intent bitmap
 * @intent_region: bytes of the origin per bit of the bitmap
 * @sums_offset: bytes, start of the checksum area
 * @sums_length: bytes; 0 without checksums
 * @table_epoch: see struct nearcache_super
 * @block_size: bytes
 * @subblock_size: bytes
 * @cache_lbs: bytes, logical block size of the cache device at create
 * @subblocks: sub-blocks in a block, 1..64
 * @stripe_index: place of the device among the members
 * @stripe_count: members, 1 or more
 */
struct nc_geometry {
	u64 device_size;
	u64 origin_size;
	u64 slot_count;
	u64 data_offset;
	u64 table_offset;
	u64 table_pages;
	u64 commit_offset;
	u64 intent_offset;
	u64 intent_region;
	u64 sums_offset;
	u64 sums_length;
	u64 table_epoch;
	u32 block_size;
	u32 subblock_size;
	u32 cache_lbs;
	u32 subblocks;
	u32 stripe_index;
	u32 stripe_count;
};

u32 nc_super_checksum(const struct nearcache_super *sb);
u32 nc_page_checksum(const struct nearcache_page *page);
u32 nc_record_checksum(const struct nearcache_commit *record);
bool nc_super_check(const struct nearcache_super *sb, u64 device_bytes,
		    struct nc_geometry *geo, char *why);
const struct nearcache_super *nc_super_choose(const struct nearcache_super *a,
					      const struct nearcache_super *b,
					      u64 device_bytes,
					      struct nc_geometry *geo,
					      char *why);
u64 nc_member_slots(u64 slots, u32 index, u32 count);
bool nc_member_check(const struct nearcache_super *first,
		     const struct nearcache_super *member, u32 index, char *why);
bool nc_page_check(const struct nearcache_page *page, const u8 *uuid,
		   u64 index);
void nc_page_init(struct nearcache_page *page, const u8 *uuid, u64 index,
		  u64 sequence, u64 epoch);
void nc_page_seal(struct nearcache_page *page);
bool nc_record_check(const struct nearcache_commit *record, const u8 *uuid);
void nc_record_init(struct nearcache_commit *record, const u8 *uuid,
		    u64 sequence);
void nc_record_seal(struct nearcache_commit *record);
void nc_intent_sector_init(struct nearcache_intent *sector, const u8 *uuid,
			   u64 session, u32 index);
void nc_intent_sector_seal(struct nearcache_intent *sector);
bool nc_intent_sector_check(const struct nearcache_intent *sector,
			    const u8 *uuid, u32 index);
void nc_witness_init(struct nearcache_witness *record, const u8 *uuid);
void nc_witness_seal(struct nearcache_witness *record);
bool nc_witness_check(const struct nearcache_witness *record, const u8 *uuid);
void nc_super_seal(struct nearcache_super *sb);
u64 nc_sums_length(u64 slots, u32 subblocks);
u32 nc_subblock_size(u32 block_size, u32 origin_lbs, u32 cache_lbs);

#endif /* NEARCACHE_META_ONDISK_CHECK_H */
