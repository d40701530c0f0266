// SPDX-License-Identifier: GPL-2.0-only
/* open/content_sample.c: which differences between a cache and its origin are found. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "lib/error.h"
#include "meta/recover.h"
#include "ondisk/layout.h"
#include "open/content_sample.h"
#include "unit.h"

#define ORIGIN	(8U << 20)
#define CACHE	(16U << 20)
#define BLOCK	65536U
#define BLOCKS	100U
#define SUB	4096U

static char origin_path[] = "/tmp/test_sample.o.XXXXXX", cache_path[] = "/tmp/test_sample.c.XXXXXX";
static int origin_file, cache_file;
static struct device origin, cache;
static struct super super;
static struct nearcache_page page;
static struct fsprint_result content;
static struct content_sample sample;

static void put(int file, const void *data, size_t bytes, u64 offset)
{
	assert_int_equal(pwrite(file, data, bytes, (off_t)offset), bytes);
}

static void flip(int file, u64 offset)
{
	unsigned char byte;

	assert_int_equal(pread(file, &byte, 1, (off_t)offset), 1);
	byte ^= 1;
	put(file, &byte, 1, offset);
}

static u64 place_of(u64 slot)
{
	return super.geo.data_offset + slot * BLOCK;
}

static void write_page(void)
{
	nc_page_seal(&page);
	put(cache_file, &page, sizeof(page), super.geo.table_offset);
	put(cache_file, &page, sizeof(page),
	    super.geo.table_offset + super.geo.table_pages * sizeof(page));
}

static void set_slot(u32 slot, u64 block, u32 generation)
{
	page.slot[slot].origin_block = block;
	page.slot[slot].valid = 0xffff;
	page.slot[slot].generation = generation;
}

/* Fill @slot with the data of @block, and write its checksums. */
static void fill_slot(u32 slot, u64 block)
{
	static unsigned char data[BLOCK];
	u32 sub, sum;

	assert_int_equal(pread(origin_file, data, BLOCK, (off_t)(block * BLOCK)), BLOCK);
	put(cache_file, data, BLOCK, place_of(slot));
	for (sub = 0; sub < 16 && super.geo.sums_length; sub++) {
		sum = crc_extend(0, data + sub * SUB, SUB);
		put(cache_file, &sum, sizeof(sum), super.geo.sums_offset + (slot * 16 + sub) * 4);
	}
	set_slot(slot, block, slot + 1);
}

/* Make a cache of the first BLOCKS blocks: block b is in slot b + 3. */
static void make_cache(enum nearcache_super_state state, bool sums)
{
	static struct nearcache_super sb;
	struct layout layout;
	char why[NC_WHY_SIZE];
	u32 i;

	fail_reset();
	super_free(&super);
	assert_true(layout_compute(&layout, CACHE, BLOCK, sums, ORIGIN, 512, 512, why));
	memset(&sb, 0, sizeof(sb));
	layout_to_super(&layout, &sb);
	memcpy(sb.magic, NEARCACHE_MAGIC, NEARCACHE_MAGIC_LEN);
	sb.version = NEARCACHE_VERSION;
	sb.sequence = sb.table_epoch = 1;
	sb.state = state;
	nc_super_seal(&sb);
	put(cache_file, &sb, sizeof(sb), NEARCACHE_SUPER_OFFSET_0);
	put(cache_file, &sb, sizeof(sb), NEARCACHE_SUPER_OFFSET_1);
	assert_int_equal(super_read(&super, &cache), 0);
	assert_int_equal(super_require(&super, &cache), 0);
	nc_page_init(&page, sb.uuid, 0, 1, 1);
	for (i = 0; i < BLOCKS; i++)
		fill_slot(i + 3, i);
	write_page();
	memset(&content, 0, sizeof(content));
	sample = (struct content_sample){
		.super = &super, .cache = &cache, .origin = &origin, .size = ORIGIN,
		.content = &content, .limit = SAMPLE_BYTES,
	};
}

/* Compare; returns the byte where the cache differs, or UINT64_MAX. */
static u64 found(void)
{
	if (sample_compare(&sample))
		fail_msg("%s", fail_message());
	return sample.differs ? sample.at : UINT64_MAX;
}

/* Each look at the clock takes a millisecond. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	static long ms;

	(void)clock;
	now->tv_sec = ++ms / 1000;
	now->tv_nsec = ms % 1000 * 1000000;
	return 0;
}

static void finds(void **state)
{
	(void)state;
	make_cache(NEARCACHE_STATE_CLEAN, false);
	assert_true(found() == UINT64_MAX);
	assert_int_equal(sample.compared, BLOCKS * BLOCK);
	/* What is not cached, and what is not valid, makes no difference. */
	flip(origin_file, BLOCKS * BLOCK);
	page.slot[3 + 5].valid = 0xfffd;
	write_page();
	flip(origin_file, 5 * BLOCK + SUB);
	assert_true(found() == UINT64_MAX);
	assert_int_equal(sample.compared, BLOCKS * BLOCK - SUB);
	flip(origin_file, 5 * BLOCK + 2 * SUB - 1);
	assert_true(found() == UINT64_MAX);
	flip(origin_file, 77 * BLOCK + 3 * SUB + 9);
	assert_int_equal(found(), 77 * BLOCK + 3 * SUB);
	/* The same behind the end of a shorter origin. */
	sample.size = 77 * BLOCK + SUB + 512;
	assert_true(found() == UINT64_MAX);
	assert_int_equal(sample.compared, 77 * BLOCK + SUB + 512 - SUB);
}

/* A small sample has the places of metadata and the blocks that were filled last. */
static void prefers(void **state)
{
	unsigned int i;

	(void)state;
	make_cache(NEARCACHE_STATE_CLEAN, false);
	content.starts.places = content.metadata.places = 1;
	content.starts.place[0] = 40;
	content.metadata.place[0] = 60;
	sample.limit = 8 * BLOCK;
	for (i = 0; i < 2; i++) {
		flip(origin_file, (i ? 60 : 40) * BLOCK);
		assert_int_equal(found(), (i ? 60 : 40) * BLOCK);
		flip(origin_file, (i ? 60 : 40) * BLOCK);
	}
	flip(origin_file, (BLOCKS - 1) * BLOCK);
	assert_int_equal(found(), (BLOCKS - 1) * BLOCK);
	flip(origin_file, (BLOCKS - 1) * BLOCK);
	assert_true(found() == UINT64_MAX);
	assert_int_equal(sample.compared, 8 * BLOCK);
}

/* After a crash: regions that were being written, and an older slot of a block, are passed over. */
static void crash(void **state)
{
	struct nearcache_intent *area = calloc(1, NEARCACHE_INTENT_AREA_SIZE);

	(void)state;
	make_cache(NEARCACHE_STATE_WRITING, false);
	set_slot(0, 50, 200);
	write_page();
	assert_int_equal(found(), 50 * BLOCK);
	fill_slot(0, 50);
	set_slot(0, 50, 200);
	set_slot(1, 51, 2);
	write_page();
	assert_true(found() == UINT64_MAX);
	assert_int_equal(sample.compared, BLOCKS * BLOCK);
	flip(origin_file, 20 * BLOCK);
	sample.written = area;
	area->bits[0] = 1 << (20 * BLOCK / super.geo.intent_region);
	assert_true(found() == UINT64_MAX);
	area->bits[0] = 1;
	assert_int_equal(found(), 20 * BLOCK);
	free(area);
}

/* Damage of the cache device, which the checksum shows, is no change of the origin. */
static void damage(void **state)
{
	(void)state;
	make_cache(NEARCACHE_STATE_CLEAN, true);
	flip(cache_file, place_of(3 + 30) + 100);
	assert_true(found() == UINT64_MAX);
	flip(origin_file, 31 * BLOCK + 100);
	assert_int_equal(found(), 31 * BLOCK);
	/* Without checksums both look the same. */
	make_cache(NEARCACHE_STATE_CLEAN, false);
	flip(cache_file, place_of(3 + 30) + 100);
	assert_int_equal(found(), 30 * BLOCK);
}

/* If a member does not belong to the slot table, the kernel uses no cached data: nothing to do. */
static void member(void **state)
{
	struct members members = { .count = 1 };

	(void)state;
	make_cache(NEARCACHE_STATE_CLEAN, false);
	flip(origin_file, 31 * BLOCK + 100);
	super.geo.stripe_count = 2;
	members.dev[0] = cache;
	sample.members = &members;
	super.geo.table_epoch = 2;
	assert_true(found() == UINT64_MAX);
	assert_int_equal(sample.compared, 0);
}

/* The time limit ends the comparison, after 75 % of it that of the blocks that were filled last. */
static void time_limit(void **state)
{
	(void)state;
	make_cache(NEARCACHE_STATE_CLEAN, false);
	sample.ms = 20;
	assert_true(found() == UINT64_MAX);
	assert_in_range(sample.compared, 15 * BLOCK, 20 * BLOCK);
}

/* Put a copy of @block in the first slot of the second page of the slot table, as the latest one. */
static void fill_second(u64 block)
{
	static struct nearcache_page second;
	static unsigned char data[BLOCK];

	assert_int_equal(pread(origin_file, data, BLOCK, (off_t)(block * BLOCK)), BLOCK);
	put(cache_file, data, BLOCK, place_of(NEARCACHE_SLOTS_PER_PAGE));
	nc_page_init(&second, super.best->uuid, 1, 1, 1);
	second.slot[0].origin_block = block;
	second.slot[0].valid = 0xffff;
	second.slot[0].generation = 999;
	nc_page_seal(&second);
	put(cache_file, &second, sizeof(second), super.geo.table_offset + sizeof(second));
	put(cache_file, &second, sizeof(second), super.geo.table_offset + 3 * sizeof(second));
}

/* A part of the slot table: all used slots are in the first of its two pages. */
static void page_limit(void **state)
{
	bool with = false, without = false;
	unsigned int i;

	(void)state;
	make_cache(NEARCACHE_STATE_WRITING, false);
	assert_int_equal(super.geo.table_pages, 2);
	sample.pages = 1;
	for (i = 0; i < 200 && !(with && without); i++) {
		assert_true(found() == UINT64_MAX);
		*(sample.compared ? &with : &without) = true;
	}
	assert_true(with && without);
	flip(origin_file, 50 * BLOCK);
	for (i = 0; i < 200 && found() == UINT64_MAX; i++)
		;
	assert_int_equal(sample.at, 50 * BLOCK);
	flip(origin_file, 50 * BLOCK);
	/* A difference does not count if a page that was not chosen has a later slot of the block. */
	fill_second(60);
	flip(cache_file, place_of(3 + 60));
	for (i = 0; i < 20; i++)
		assert_true(found() == UINT64_MAX);
	memset(&page, 0, sizeof(page));
	put(cache_file, &page, sizeof(page), super.geo.table_offset + sizeof(page));
	put(cache_file, &page, sizeof(page), super.geo.table_offset + 3 * sizeof(page));
}

/* After some read errors the comparison ends, which is no failure. */
static void read_errors(void **state)
{
	(void)state;
	make_cache(NEARCACHE_STATE_CLEAN, false);
	assert_int_equal(ftruncate(origin_file, BLOCK), 0);
	assert_true(found() == UINT64_MAX);
	assert_in_range(sample.compared, 0, BLOCK);
}

static int setup(void **state)
{
	unsigned char data[4096];
	u32 i, j;

	(void)state;
	origin_file = mkstemp(origin_path);
	cache_file = mkstemp(cache_path);
	if (origin_file < 0 || cache_file < 0 || ftruncate(cache_file, CACHE))
		return -1;
	for (i = 0; i < ORIGIN / sizeof(data); i++) {
		for (j = 0; j < sizeof(data); j++)
			data[j] = (unsigned char)(i * 31 + j + (i >> 8));
		put(origin_file, data, sizeof(data), i * sizeof(data));
	}
	return device_open_any(&origin, origin_path, "origin") ||
	       device_open_any(&cache, cache_path, "cache device");
}

static int teardown(void **state)
{
	(void)state;
	super_free(&super);
	device_close(&origin);
	device_close(&cache);
	close(origin_file);
	close(cache_file);
	return unlink(origin_path) || unlink(cache_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds),
		cmocka_unit_test(prefers),
		cmocka_unit_test(crash),
		cmocka_unit_test(damage),
		cmocka_unit_test(member),
		cmocka_unit_test(time_limit),
		cmocka_unit_test(page_limit),
		cmocka_unit_test(read_errors),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
