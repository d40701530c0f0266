// SPDX-License-Identifier: GPL-2.0-only
#include "ondisk/layout.h"

#define KIB	1024ULL
#define MIB	(1024 * KIB)
#define TIB	(1024 * 1024 * MIB)

/*
 * Bounds for layout_block_size(). A small device gets smaller blocks, so that eviction has at least
 * BLOCKS_WANTED blocks to choose from.
 */
#define BLOCK_USUAL		(256 * KIB)
#define BLOCK_LARGE		(1 * MIB)
#define BLOCK_LARGE_ABOVE	(4 * TIB)
#define BLOCKS_WANTED		1024

/* Size of each copy of the ranges area: 1/512 of the first cache device, within bounds. */
#define RANGES_SHARE		512
#define RANGES_MIN		(64 * KIB)
#define RANGES_MAX		(16 * MIB)

/*
 * Origin bytes per bit of the write intent. If regions are larger, a crash costs more cached data;
 * if they are smaller, writers wait more often.
 */
#define INTENT_REGION_MIN	MIB
#define INTENT_BITS		NEARCACHE_INTENT_REGIONS

static u64 clamp_value(u64 value, u64 low, u64 high)
{
	if (value < low)
		return low;
	return value > high ? high : value;
}

static u64 round_up_to(u64 value, u64 unit)
{
	return (value + unit - 1) / unit * unit;
}

/*
 * Return the default block size: 256 KiB up to 4 TiB and 1 MiB above, so that the module needs at
 * most 128 MB of RAM per TB. Less, down to 64 KiB, if 256 KiB would give fewer than 1024 blocks.
 */
u32 layout_block_size(u64 cache_size)
{
	u64 block = BLOCK_USUAL;

	if (cache_size > BLOCK_LARGE_ABOVE)
		return BLOCK_LARGE;
	while (block > NEARCACHE_BLOCK_MIN && cache_size / block < BLOCKS_WANTED)
		block /= 2;
	return block;
}

static u64 ranges_length(u64 cache_size)
{
	u64 copy = clamp_value(cache_size / RANGES_SHARE, RANGES_MIN, RANGES_MAX);

	return 2 * round_up_to(copy, NEARCACHE_PAGE_SIZE);
}

static u64 table_pages(u64 slots)
{
	return (slots + NEARCACHE_SLOTS_PER_PAGE - 1) / NEARCACHE_SLOTS_PER_PAGE;
}

/* Place the metadata areas for @slots slots one after the other, then the slots. */
static void place_areas(struct layout *layout, u64 cache_size, u64 slots)
{
	u32 subblocks = layout->block_size / layout->subblock_size;
	u64 *length = layout->area_length;
	u64 end = NEARCACHE_AREA_START;
	unsigned int i;

	layout->slot_count = slots;
	layout->table_pages = table_pages(slots);
	length[NEARCACHE_AREA_TABLE] =
		2 * layout->table_pages * NEARCACHE_PAGE_SIZE;
	length[NEARCACHE_AREA_COMMIT] = NEARCACHE_COMMIT_AREA_SIZE;
	length[NEARCACHE_AREA_INTENT] = NEARCACHE_INTENT_AREA_SIZE;
	length[NEARCACHE_AREA_CHECKSUM] =
		layout->checksums ? nc_sums_length(slots, subblocks) : 0;
	length[NEARCACHE_AREA_RANGES] = ranges_length(cache_size);
	length[NEARCACHE_AREA_STRIPES] = NEARCACHE_STRIPES_AREA_SIZE;
	length[NEARCACHE_AREA_DIRTY] = 0;
	for (i = 0; i < NEARCACHE_AREA_COUNT; i++) {
		layout->area_offset[i] = length[i] ? end : 0;
		end += length[i];
	}
	layout->metadata_end = end;
	layout->data_offset = round_up_to(end, layout->block_size);
	layout->member_offset =
		round_up_to(NEARCACHE_AREA_START, layout->block_size);
	for (i = 0; i < layout->members; i++)
		layout->device_size[i] =
			(i ? layout->member_offset : layout->data_offset) +
			nc_member_slots(slots, i, layout->members) *
				layout->block_size;
}

static bool fits_in(const struct layout *layout, const u64 *sizes)
{
	u32 i;

	for (i = 0; i < layout->members; i++)
		if (layout->device_size[i] > sizes[i])
			return false;
	return true;
}

static u64 sum_sizes(const u64 *sizes, u32 members)
{
	u64 bytes = 0;

	while (members--)
		bytes += sizes[members];
	return bytes;
}

/*
 * Place the largest number of slots that fits. More slots need a longer slot table, which leaves
 * less room for slots. The layout grows with the number of slots, so bisection finds the largest.
 */
static void place_most(struct layout *layout, const u64 *sizes)
{
	u64 fits = 0;
	u64 most = clamp_value(sum_sizes(sizes, layout->members) / layout->block_size, 0,
			       NEARCACHE_MAX_SLOTS);

	while (fits < most) {
		u64 half = fits + (most - fits + 1) / 2;

		place_areas(layout, sizes[0], half);
		if (fits_in(layout, sizes))
			fits = half;
		else
			most = half - 1;
	}
	place_areas(layout, sizes[0], fits);
}

/* Return the smallest region with which the write-intent bitmap covers the origin. */
u64 layout_intent_region(u64 origin_size)
{
	u64 region = INTENT_REGION_MIN;

	while ((origin_size - 1) / region >= INTENT_BITS)
		region *= 2;
	return region;
}

/* Write to @why which device is too small, and the size that it needs. */
static void explain_size(const struct layout *layout, const u64 *sizes, u64 slots, char *why)
{
	u32 i = 0;

	while (i < layout->members - 1 && layout->device_size[i] <= sizes[i])
		i++;
	snprintf(why, NC_WHY_SIZE,
		 "it has %llu bytes; %llu blocks of %u bytes%s need at least %llu",
		 (unsigned long long)sizes[i],
		 (unsigned long long)nc_member_slots(slots, i, layout->members),
		 layout->block_size, i ? "" : " and the metadata",
		 (unsigned long long)layout->device_size[i]);
}

/*
 * Compute the layout of all cache devices of a cache. The smallest device limits the number of
 * slots on each, because the numbers of two devices differ by at most one.
 *
 * @sizes: sizes of the devices. @block_size 0 means layout_block_size(). @cache_lbs: the largest
 * logical block size of a device. Returns false and sets @why (NC_WHY_SIZE bytes) if it cannot fit.
 */
bool layout_compute_members(struct layout *layout, const u64 *sizes, u32 members,
			    u32 block_size, bool checksums, u64 origin_size,
			    u32 origin_lbs, u32 cache_lbs, char *why)
{
	u64 least = members > NEARCACHE_MIN_SLOTS ? members : NEARCACHE_MIN_SLOTS;

	memset(layout, 0, sizeof(*layout));
	layout->members = members;
	layout->checksums = checksums;
	layout->block_size = block_size ? block_size :
			     layout_block_size(sum_sizes(sizes, members));
	layout->subblock_size =
		nc_subblock_size(layout->block_size, origin_lbs, cache_lbs);
	layout->origin_lbs = origin_lbs;
	layout->cache_lbs = cache_lbs;
	layout->origin_size = origin_size;
	layout->intent_region = layout_intent_region(origin_size);
	place_most(layout, sizes);
	if (layout->slot_count >= least)
		return true;
	place_areas(layout, sizes[0], least);
	explain_size(layout, sizes, least, why);
	return false;
}

/* layout_compute_members() for one cache device. */
bool layout_compute(struct layout *layout, u64 cache_size, u32 block_size,
		    bool checksums, u64 origin_size, u32 origin_lbs,
		    u32 cache_lbs, char *why)
{
	return layout_compute_members(layout, &cache_size, 1, block_size,
				      checksums, origin_size, origin_lbs,
				      cache_lbs, why);
}

/* Set the fields of @sb that describe the layout; the others stay unchanged. */
void layout_to_super(const struct layout *layout, struct nearcache_super *sb)
{
	unsigned int i;

	if (layout->checksums)
		sb->incompat |= cpu_to_le64(NEARCACHE_INCOMPAT_CRC32C);
	if (layout->members > 1)
		sb->incompat |= cpu_to_le64(NEARCACHE_INCOMPAT_STRIPES);
	sb->stripe_count = cpu_to_le16(layout->members);
	sb->block_size = cpu_to_le32(layout->block_size);
	sb->subblock_size = cpu_to_le32(layout->subblock_size);
	sb->origin_lbs = cpu_to_le32(layout->origin_lbs);
	sb->cache_lbs = cpu_to_le32(layout->cache_lbs);
	sb->device_size = cpu_to_le64(layout->device_size[0]);
	sb->slot_count = cpu_to_le64(layout->slot_count);
	sb->data_offset = cpu_to_le64(layout->data_offset);
	sb->table_pages = cpu_to_le64(layout->table_pages);
	sb->intent_region = cpu_to_le64(layout->intent_region);
	sb->origin_size = cpu_to_le64(layout->origin_size);
	for (i = 0; i < NEARCACHE_AREA_COUNT; i++) {
		sb->area[i].offset = cpu_to_le64(layout->area_offset[i]);
		sb->area[i].length = cpu_to_le64(layout->area_length[i]);
		sb->area[i].version = cpu_to_le32(NEARCACHE_AREA_VERSION);
	}
}

/* Turn a copy of the first member's superblock into that of member @index; the caller seals it. */
void layout_to_member(const struct layout *layout, u32 index,
		      struct nearcache_super *sb)
{
	unsigned int i;

	sb->stripe_index = cpu_to_le16(index);
	sb->device_size = cpu_to_le64(layout->device_size[index]);
	sb->data_offset = cpu_to_le64(layout->member_offset);
	sb->table_pages = 0;
	for (i = 0; i < NEARCACHE_AREA_COUNT; i++) {
		sb->area[i].offset = 0;
		sb->area[i].length = 0;
	}
}
