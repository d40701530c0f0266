// SPDX-License-Identifier: GPL-2.0-only
/* ondisk/layout.c: on devices of any size areas are adjacent, slots fill the rest, and the kernel's
 * check of the superblock (kmod/meta/ondisk_check.c) passes.
 */
#include "ondisk/layout.h"
#include "unit.h"

#define KIB	1024ULL
#define MIB	(1024 * KIB)
#define GIB	(1024 * MIB)
#define TIB	(1024 * GIB)

/* Smallest cache device: 332 KiB of areas from 1 MiB on, and from 1408 KiB on two 64 KiB slots. */
#define SMALLEST	(1536 * KIB)

/* Make the superblock of a layout, with the fields that only 'create' fills in. */
static void finish(const struct layout *layout, struct nearcache_super *sb)
{
	memset(sb, 0, sizeof(*sb));
	layout_to_super(layout, sb);
	memcpy(sb->magic, NEARCACHE_MAGIC, NEARCACHE_MAGIC_LEN);
	sb->version = cpu_to_le32(NEARCACHE_VERSION);
	sb->table_epoch = cpu_to_le64(1);
	nc_super_seal(sb);
}

static void assert_areas(const struct layout *layout, u64 cache_size)
{
	u64 end = NEARCACHE_AREA_START;
	u64 ranges = layout->area_length[NEARCACHE_AREA_RANGES] / 2;
	unsigned int i;

	for (i = 0; i < NEARCACHE_AREA_COUNT; i++) {
		if (!layout->area_length[i])
			continue;
		assert_int_equal(layout->area_offset[i], end);
		assert_int_equal(layout->area_length[i] % 4096, 0);
		end += layout->area_length[i];
	}
	assert_int_equal(layout->metadata_end, end);
	assert_in_range(ranges, 64 * KIB, 16 * MIB);
	if (ranges > 64 * KIB && ranges < 16 * MIB)
		assert_in_range(ranges, cache_size / 512, cache_size / 512 + 4095);
}

/* Check that one more slot, with a slot-table entry and checksums, would not fit. */
static void assert_no_waste(const struct layout *layout, u64 cache_size)
{
	u64 slots = layout->slot_count + 1;
	u64 pages = (slots + NEARCACHE_SLOTS_PER_PAGE - 1) /
		    NEARCACHE_SLOTS_PER_PAGE;
	u64 sums = (slots * (layout->block_size / layout->subblock_size) * 4 + 4095) /
		   4096 * 4096;
	u64 end = layout->metadata_end +
		  2 * (pages - layout->table_pages) * NEARCACHE_PAGE_SIZE +
		  (layout->checksums ?
			   sums - layout->area_length[NEARCACHE_AREA_CHECKSUM] : 0);
	u64 data = (end + layout->block_size - 1) / layout->block_size *
		   layout->block_size;

	assert_true(data + slots * layout->block_size > cache_size);
	assert_true(layout->data_offset - layout->metadata_end <
		    layout->block_size);
}

static void check_sums(u64 cache_size, u32 block, bool sums, u64 origin_size, u32 lbs)
{
	struct nearcache_super sb;
	struct nc_geometry geo;
	struct layout layout;
	char why[NC_WHY_SIZE] = "";

	if (!layout_compute(&layout, cache_size, block, sums, origin_size, 512, lbs,
			    why))
		fail_msg("%llu bytes, block %u: %s",
			 (unsigned long long)cache_size, block, why);
	finish(&layout, &sb);
	if (!nc_super_check(&sb, cache_size, &geo, why))
		fail_msg("%llu bytes, block %u: %s",
			 (unsigned long long)cache_size, block, why);
	assert_int_equal(layout.data_offset % layout.block_size, 0);
	assert_true(layout.device_size[0] <= cache_size);
	assert_areas(&layout, cache_size);
	assert_no_waste(&layout, cache_size);
}

static void check(u64 cache_size, u32 block, u64 origin_size, u32 lbs)
{
	check_sums(cache_size, block, false, origin_size, lbs);
	check_sums(cache_size, block, true, origin_size, lbs);
}

static void every_size(void **state)
{
	u64 size;

	(void)state;
	/* Odd steps make sizes of all kinds.  Up to 30 MiB a step is smaller than any block. */
	for (size = SMALLEST; size <= 64 * TIB; size += size / 613 + 12809) {
		u64 sectors = size / 512 * 512;

		check(sectors, 0, GIB, 512);
		check(sectors, 0, 1024 * TIB, 4096);
	}
	check(64 * TIB, 0, GIB, 512);
}

static void every_block_size(void **state)
{
	u32 block;
	u64 size;

	(void)state;
	for (block = NEARCACHE_BLOCK_MIN; block <= NEARCACHE_BLOCK_MAX;
	     block *= 2)
		for (size = 16 * MIB; size <= 64 * TIB;
		     size += size / 97 + 65536 + 512)
			check(size / 512 * 512, block, 3 * TIB, 512);
}

static void too_small(void **state)
{
	char why[NC_WHY_SIZE];
	struct layout layout;
	u64 size;

	(void)state;
	for (size = 512; size < SMALLEST; size += 512)
		assert_false(layout_compute(&layout, size, 0, false, GIB, 512, 512,
					    why));
	assert_true(layout_compute(&layout, SMALLEST, 0, false, GIB, 512, 512, why));
	assert_int_equal(layout.slot_count, 2);
	assert_false(layout_compute(&layout, 8 * MIB, 4 << 20, false, GIB, 512, 512,
				    why));
	assert_non_null(strstr(why, "at least 12582912"));
}

static void block_sizes(void **state)
{
	(void)state;
	assert_int_equal(layout_block_size(SMALLEST), 64 * KIB);
	assert_int_equal(layout_block_size(128 * MIB - 512), 64 * KIB);
	assert_int_equal(layout_block_size(128 * MIB), 128 * KIB);
	assert_int_equal(layout_block_size(256 * MIB), 256 * KIB);
	assert_int_equal(layout_block_size(4 * TIB), 256 * KIB);
	assert_int_equal(layout_block_size(4 * TIB + 512), 1 * MIB);
	assert_int_equal(layout_block_size(64 * TIB), 1 * MIB);
}

/* The region is the smallest power of two with which 524288 regions cover the origin. */
static void intent_regions(void **state)
{
	struct layout layout;
	char why[NC_WHY_SIZE];
	u64 origin;

	(void)state;
	for (origin = 512; origin <= 1024 * TIB; origin += origin / 7 + 512) {
		u64 bytes = origin / 512 * 512;

		assert_true(layout_compute(&layout, GIB, 0, false, bytes, 512, 512,
					   why));
		assert_true(is_power_of_2(layout.intent_region));
		assert_true((bytes - 1) / layout.intent_region < 524288);
		if (layout.intent_region > MIB)
			assert_true((bytes - 1) / (layout.intent_region / 2) >=
				    524288);
	}
	layout_compute(&layout, GIB, 0, false, 512 * GIB, 512, 512, why);
	assert_int_equal(layout.intent_region, MIB);
	layout_compute(&layout, GIB, 0, false, 512 * GIB + 512, 512, 512, why);
	assert_int_equal(layout.intent_region, 2 * MIB);
}

/* All members get an equal share of the slots, as many as the smallest one can hold. */
static void several_devices(void **state)
{
	const u64 sizes[][3] = {
		{ GIB, GIB, GIB }, { GIB, 512 * MIB, 2 * GIB }, { 64 * MIB, TIB, TIB },
		{ TIB, 3 * MIB, TIB }, { 100 * MIB + 512, 99 * MIB, 98 * MIB },
	};
	struct nearcache_super first, sb;
	struct nc_geometry geo;
	char why[NC_WHY_SIZE];
	struct layout layout;
	unsigned int i, j, tight;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_true(layout_compute_members(&layout, sizes[i], 3, 64 * KIB, true,
						   GIB, 512, 512, why));
		finish(&layout, &first);
		assert_true(nc_super_check(&first, sizes[i][0], &geo, why));
		assert_int_equal(geo.stripe_count, 3);
		for (tight = 0, j = 0; j < 3; j++) {
			u64 room = sizes[i][j] - layout.device_size[j];

			assert_true(layout.device_size[j] <= sizes[i][j]);
			/* Less than three blocks are unused: a larger share would not fit. */
			tight += room < 3 * 64 * KIB;
			if (!j)
				continue;
			sb = first;
			layout_to_member(&layout, j, &sb);
			nc_super_seal(&sb);
			if (!nc_super_check(&sb, sizes[i][j], &geo, why))
				fail_msg("%u: %s", j, why);
			assert_true(nc_member_check(&first, &sb, j, why));
		}
		assert_true(tight);
	}
	assert_false(layout_compute_members(&layout, (const u64[]){ GIB, MIB, GIB }, 3, 0,
					    false, GIB, 512, 512, why));
	assert_non_null(strstr(why, "1048576 bytes"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size),
		cmocka_unit_test(every_block_size),
		cmocka_unit_test(too_small),
		cmocka_unit_test(block_sizes),
		cmocka_unit_test(intent_regions),
		cmocka_unit_test(several_devices),
	};

	return RUN(tests);
}
