// SPDX-License-Identifier: GPL-2.0-only
/* Metadata after a stop or a crash (kmod/meta/recover.c): which commit record is the last, which
 * copy of a page counts, which slot entries are valid, and the proof of write intent and witness.
 */
#include "helper/unit.h"
#include "meta/recover.h"

static const u8 uuid[16] = { 7, 7, 7 };
static const u8 foreign[16] = { 8 };

static struct nearcache_commit ring[NC_RECOVER_RING];

/* Write commit record @sequence to its place in the ring.  The record names the @count pages from
 * @first on.  With NEARCACHE_COMMIT_COPY_1 in @first, copy 1 of these pages is being rewritten.
 */
static void record(u64 sequence, u32 count, u64 first)
{
	struct nearcache_commit *r = &ring[sequence % NC_RECOVER_RING];
	u32 i;

	nc_record_init(r, uuid, sequence);
	for (i = 0; i < count; i++)
		r->page[i] = cpu_to_le64(first + i);
	r->count = cpu_to_le32(count);
	nc_record_seal(r);
}

static void empty_ring(void)
{
	memset(ring, 0, sizeof(ring));
}

static void no_record(void **state)
{
	(void)state;
	empty_ring();
	assert_null(nc_recover_last(ring, uuid));
	assert_int_equal(nc_recover_listed(NULL, 0), NC_RECOVER_NONE);
}

static void last_record_counts(void **state)
{
	const struct nearcache_commit *last;
	u64 n;

	(void)state;
	empty_ring();
	for (n = 100; n < 140; n++) {
		record(n, n % 2, n);
		last = nc_recover_last(ring, uuid);
		assert_non_null(last);
		assert_int_equal(le64_to_cpu(last->sequence), n);
		assert_int_equal(nc_recover_listed(last, n), n % 2 ? 0 : NC_RECOVER_NONE);
		assert_int_equal(nc_recover_listed(last, n + 1), NC_RECOVER_NONE);
		record(n, n % 2, n | NEARCACHE_COMMIT_COPY_1);
		assert_int_equal(nc_recover_listed(last, n), n % 2 ? 1 : NC_RECOVER_NONE);
	}
	assert_null(nc_recover_last(ring, foreign));
	/* The newest record is torn: its predecessor is the last. */
	ring[139 % NC_RECOVER_RING].page[400] ^= 1;
	last = nc_recover_last(ring, uuid);
	assert_int_equal(le64_to_cpu(last->sequence), 138);
}

static void records_are_judged(void **state)
{
	struct nearcache_commit r;
	u8 *byte = (u8 *)&r;
	size_t i;

	(void)state;
	empty_ring();
	record(5, NEARCACHE_COMMIT_PAGES, 1);
	r = ring[5];
	assert_true(nc_record_check(&r, uuid));
	assert_false(nc_record_check(&r, foreign));
	for (i = 0; i < 8 * sizeof(r); i += 3) {
		byte[i / 8] ^= 1U << i % 8;
		assert_false(nc_record_check(&r, uuid));
		byte[i / 8] ^= 1U << i % 8;
	}
	/* A record that claims more pages than fit is invalid, although its checksum is right. */
	r.count = cpu_to_le32(NEARCACHE_COMMIT_PAGES + 1);
	nc_record_seal(&r);
	assert_false(nc_record_check(&r, uuid));
	/* A sequence number of 1 << 63 is invalid: sequence numbers must never wrap. */
	empty_ring();
	record(1ULL << 63, 0, 0);
	assert_null(nc_recover_last(ring, uuid));
	/* Record 5 is invalid at any place of the ring but 5. */
	empty_ring();
	record(5, 1, 1);
	ring[6] = ring[5];
	memset(&ring[5], 0, sizeof(ring[5]));
	assert_null(nc_recover_last(ring, uuid));
}

static struct nearcache_page page(u64 sequence, u64 epoch)
{
	struct nearcache_page p;

	nc_page_init(&p, uuid, 3, sequence, epoch);
	nc_page_seal(&p);
	return p;
}

static struct nearcache_page torn(u64 sequence, u64 epoch)
{
	struct nearcache_page p = page(sequence, epoch);

	p.slot[100].valid ^= 1;
	return p;
}

static u64 newest;

static int choose(const struct nearcache_page *p0, const struct nearcache_page *p1,
		  const u8 *whose, u64 index, u64 epoch, const struct nearcache_commit *last)
{
	newest = 0;
	return nc_recover_page(p0, p1, whose, index, epoch, last, &newest);
}

static void newer_page_counts(void **state)
{
	struct nearcache_page a = page(10, 1), b = page(12, 1), c = page(9, 2);

	(void)state;
	empty_ring();
	record(12, 1, 3);
	assert_int_equal(choose(&a, &b, uuid, 3, 1, &ring[12]), 1);
	assert_int_equal(choose(&b, &a, uuid, 3, 1, NULL), 0);
	/* The copy with the epoch of the slot table (2) counts, even if the other copy is newer. */
	assert_int_equal(choose(&c, &b, uuid, 3, 2, NULL), 0);
	assert_int_equal(choose(&b, &c, uuid, 3, 2, NULL), 1);
	assert_int_equal(newest, 12);
	/* Sequence number ~0ULL makes a copy invalid: no later copy could ever be newer. */
	c = page(~0ULL, 1);
	assert_int_equal(choose(&c, &b, uuid, 3, 1, NULL), NC_RECOVER_NONE);
	assert_int_equal(choose(&c, &b, uuid, 3, 1, &ring[12]), 1);
	assert_int_equal(newest, 12);
	/* Copies of another page, or of another cache, are invalid. */
	assert_int_equal(choose(&a, &b, uuid, 4, 1, NULL), NC_RECOVER_NONE);
	assert_int_equal(choose(&a, &b, foreign, 3, 1, NULL), NC_RECOVER_NONE);
}

static void torn_page_needs_a_record(void **state)
{
	struct nearcache_page old = page(10, 1), new = torn(12, 1);

	(void)state;
	empty_ring();
	record(11, 0, 0);
	assert_int_equal(choose(&old, &new, uuid, 3, 1, NULL), NC_RECOVER_NONE);
	assert_int_equal(choose(&old, &new, uuid, 3, 1, &ring[11]), NC_RECOVER_NONE);
	/* @newest is set although no copy counts, so that no sequence number is used twice. */
	assert_int_equal(newest, 10);
	/* If the torn copy is the one that the record names as being rewritten, the intact copy
	 * counts.  If it is the other one, it was damaged after the commit: neither copy counts, as
	 * the intact one may be outdated.
	 */
	record(12, 2, 3 | NEARCACHE_COMMIT_COPY_1);
	assert_int_equal(choose(&old, &new, uuid, 3, 1, &ring[12]), 0);
	assert_int_equal(choose(&new, &old, uuid, 3, 1, &ring[12]), NC_RECOVER_NONE);
	record(12, 2, 3);
	assert_int_equal(choose(&new, &old, uuid, 3, 1, &ring[12]), 1);
	assert_int_equal(choose(&old, &new, uuid, 3, 1, &ring[12]), NC_RECOVER_NONE);
	/* Neither copy counts if the record names another page (4) or none: no commit tore it. */
	record(12, 2, 4);
	assert_int_equal(choose(&old, &new, uuid, 3, 1, &ring[12]), NC_RECOVER_NONE);
	record(13, 0, 0);
	assert_int_equal(choose(&old, &new, uuid, 3, 1, &ring[13]), NC_RECOVER_NONE);
	record(12, 2, 3);
	assert_int_equal(choose(&new, &new, uuid, 3, 1, &ring[12]), NC_RECOVER_NONE);
}

static void entries_are_judged(void **state)
{
	/* The origin ends in sub-block 1 of block 9: higher valid bits are invalid there. */
	const struct nc_geometry geo = {
		.origin_size = 9 * 65536 + 4096 + 512,
		.block_size = 65536,
		.subblock_size = 4096,
		.subblocks = 16,
	};
	static const struct {
		u64 block, valid;
		u32 flags;
		bool good;
	} cases[] = {
		{ 0, 1, 0, true },
		{ 8, 0xffff, 0, true },
		{ 8, 0xffff, NEARCACHE_SLOT_PINNED, true },
		{ 8, 0x10000, 0, false },
		{ 8, 0, 0, false },
		{ 8, 1, NEARCACHE_SLOT_DIRTY, false },
		{ 8, 1, 0x80000000U, false },
		{ 9, 3, 0, true },
		{ 9, 4, 0, false },
		{ 10, 1, 0, false },
		{ NEARCACHE_NO_BLOCK, 1, 0, false },
		{ NEARCACHE_NO_BLOCK - 1, 1, 0, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nearcache_slot slot = {
			.origin_block = cpu_to_le64(cases[i].block),
			.valid = cpu_to_le64(cases[i].valid),
			.flags = cpu_to_le32(cases[i].flags),
		};

		assert_int_equal(nc_recover_slot(&geo, &slot), cases[i].good);
	}
}

static struct nearcache_intent area[NC_RECOVER_INTENT];

static void empty_area(u64 session)
{
	u32 i;

	for (i = 0; i < NC_RECOVER_INTENT; i++) {
		nc_intent_sector_init(&area[i], uuid, session, i);
		nc_intent_sector_seal(&area[i]);
	}
}

/* Evaluate @area: the superblock has uuid @of and @session, the witness has @said and @previous. */
static void judge(const u8 *of, u64 session, u64 said, u64 previous)
{
	struct nearcache_witness record = {
		.session = cpu_to_le64(said), .previous = cpu_to_le64(previous),
	};
	struct nearcache_super sb = { .session = cpu_to_le64(session) };

	memcpy(sb.uuid, of, sizeof(sb.uuid));
	nc_recover_intent(area, &sb, &record);
}

static void set_region(u64 region)
{
	struct nearcache_intent *sector = &area[region / NEARCACHE_INTENT_BITS];
	u32 bit = region % NEARCACHE_INTENT_BITS;

	sector->bits[bit / 8] |= 1U << bit % 8;
	nc_intent_sector_seal(sector);
}

/* Blocks of 256 KiB, regions of 1 MiB: a region marks all of its four blocks. */
static void regions_longer_than_blocks(void **state)
{
	struct nc_geometry geo = {
		.origin_size = 1ULL << 40, .block_size = 256 << 10,
		.subblock_size = 4096, .subblocks = 64, .intent_region = 1 << 20,
	};
	u64 block;

	(void)state;
	empty_area(5);
	set_region(0);
	set_region(2049);
	set_region(NEARCACHE_INTENT_REGIONS - 1);
	judge(uuid, 5, 5, 0);
	for (block = 0; block < 12 * 1024; block++)
		assert_int_equal(!!nc_recover_written(&geo, area, block),
				 block / 4 == 0 || block / 4 == 2049);
	assert_true(nc_recover_written(&geo, area, 4 * (NEARCACHE_INTENT_REGIONS - 1)));
	assert_false(nc_recover_ends(area));
}

/* Blocks of 4 MiB: a region (1 MiB) marks a quarter of a block, but nothing beyond the origin. */
static void regions_shorter_than_blocks(void **state)
{
	struct nc_geometry geo = {
		.origin_size = (NEARCACHE_INTENT_REGIONS - 1ULL) << 20,
		.block_size = 4 << 20, .subblock_size = 65536, .subblocks = 64,
		.intent_region = 1 << 20,
	};
	u64 last = NEARCACHE_INTENT_REGIONS / 4 - 1;

	(void)state;
	empty_area(5);
	set_region(6);
	set_region(NEARCACHE_INTENT_REGIONS - 2);
	set_region(NEARCACHE_INTENT_REGIONS - 1);
	judge(uuid, 5, 5, 0);
	assert_int_equal(nc_recover_written(&geo, area, 0), 0);
	assert_int_equal(nc_recover_written(&geo, area, 1), 0xffff00000000);
	assert_int_equal(nc_recover_written(&geo, area, last), 0xffff00000000);
}

/* If a sector of @area is invalid, or not of the superblock's session, all its regions count as
 * marked.  If the witness says that the sector's session was only about to begin, none is marked.
 */
static void intent_is_judged(void **state)
{
	struct nc_geometry geo = {
		.origin_size = 1ULL << 40, .block_size = 1 << 20,
		.subblock_size = 16384, .subblocks = 64, .intent_region = 1 << 20,
	};

	(void)state;
	empty_area(5);
	set_region(2048);
	judge(uuid, 6, 6, 5);
	assert_true(nc_recover_written(&geo, area, 0));
	assert_true(nc_recover_ends(area));

	/* The next two witnesses say: the area's session (5, then 7) was to begin after 4. */
	empty_area(5);
	set_region(0);
	judge(uuid, 4, 5, 4);
	assert_false(nc_recover_written(&geo, area, 0));
	empty_area(7);
	judge(uuid, 4, 7, 4);
	assert_false(nc_recover_ends(area));
	empty_area(5);
	judge(uuid, 4, 4, 3);
	assert_true(nc_recover_written(&geo, area, 0));
	assert_true(nc_recover_ends(area));
	empty_area(6);
	judge(uuid, 4, 5, 4);
	assert_true(nc_recover_written(&geo, area, 0));

	empty_area(5);
	judge(foreign, 5, 5, 0);
	assert_true(nc_recover_written(&geo, area, 0));

	empty_area(5);
	area[0].bits[100] ^= 1;
	area[2].index = cpu_to_le32(1);
	nc_intent_sector_seal(&area[2]);
	judge(uuid, 5, 5, 0);
	assert_true(nc_recover_written(&geo, area, 2047));
	assert_false(nc_recover_written(&geo, area, 2048));
	assert_true(nc_recover_written(&geo, area, 4096));
	assert_true(nc_recover_ends(area));

	empty_area(5);
	area[0].flags = cpu_to_le32(NEARCACHE_INTENT_ENDS);
	nc_intent_sector_seal(&area[0]);
	judge(uuid, 5, 5, 0);
	assert_true(nc_recover_ends(area));
	assert_false(nc_recover_written(&geo, area, 0));
}

static bool stayed(u64 session, u64 of, u64 previous, u32 says)
{
	static struct nearcache_super sb;
	static struct nearcache_witness record;

	memcpy(sb.uuid, uuid, sizeof(uuid));
	sb.session = cpu_to_le64(session);
	nc_witness_init(&record, uuid);
	record.session = cpu_to_le64(of);
	record.previous = cpu_to_le64(previous);
	record.state = cpu_to_le32(says);
	nc_witness_seal(&record);
	assert_false(nc_recover_stayed(&sb, NULL));
	if (!nc_recover_stayed(&sb, &record))
		return false;
	memcpy(sb.uuid, foreign, sizeof(uuid));
	assert_false(nc_recover_stayed(&sb, &record));
	memcpy(sb.uuid, uuid, sizeof(uuid));
	record.reserved[4000] ^= 1;
	assert_false(nc_recover_stayed(&sb, &record));
	return true;
}

static bool older(u64 session, u64 of, u64 previous)
{
	struct nearcache_super sb = { .session = cpu_to_le64(session) };
	static struct nearcache_witness record;

	memcpy(sb.uuid, uuid, sizeof(uuid));
	nc_witness_init(&record, uuid);
	record.session = cpu_to_le64(of);
	record.previous = cpu_to_le64(previous);
	assert_false(nc_recover_older(&sb, &record));
	nc_witness_seal(&record);
	return nc_recover_older(&sb, &record);
}

static void copies_are_older(void **state)
{
	(void)state;
	assert_false(older(5, 5, 0));
	assert_false(older(5, 4, 0));
	assert_false(older(5, 6, 5));
	assert_false(older(5, 9, 5));
	assert_true(older(5, 6, 0));
	assert_true(older(5, 7, 6));
	assert_true(older(0, 1, 9));
	/* Previous session 0 in the witness means "none": it does not match session 0. */
	assert_true(older(0, 3, 0));
}

static void witness_is_judged(void **state)
{
	(void)state;
	assert_true(stayed(7, 7, 0, NEARCACHE_WITNESS_STAYED));
	assert_true(stayed(7, 7, 6, NEARCACHE_WITNESS_STAYED));
	assert_true(stayed(7, 8, 7, NEARCACHE_WITNESS_STAYED));
	assert_false(stayed(7, 8, 0, NEARCACHE_WITNESS_STAYED));
	assert_false(stayed(7, 8, 6, NEARCACHE_WITNESS_STAYED));
	assert_false(stayed(7, 6, 0, NEARCACHE_WITNESS_STAYED));
	assert_false(stayed(7, 7, 0, NEARCACHE_WITNESS_LEFT));
	assert_false(stayed(7, 8, 7, NEARCACHE_WITNESS_LEFT));
	assert_false(stayed(7, 7, 7, NEARCACHE_WITNESS_NEW));
	assert_false(stayed(7, 7, 0, NEARCACHE_WITNESS_ENDED));
	assert_false(stayed(0, 0, 0, NEARCACHE_WITNESS_STAYED));
}

static bool told(u32 state, u64 epoch, u64 sequence, u64 last)
{
	struct nearcache_super sb = {
		.state = cpu_to_le32(state),
		.table_epoch = cpu_to_le64(epoch),
		.commit_sequence = cpu_to_le64(sequence),
	};

	return nc_recover_member(&sb, 7, last);
}

/* A commit from sequence 20 to 22 has four steps: 21 to the member's superblock, record 21, then
 * record 22 to the first device, 22 to the member.  A crash after any step is accepted.  The slots
 * that the commit freed are overwritten later, so an older copy of either device is refused.
 */
static void members_follow_commits(void **state)
{
	(void)state;
	assert_true(told(NEARCACHE_STATE_CLEAN, 7, 20, 20));
	assert_true(told(NEARCACHE_STATE_LIVE, 7, 21, 20));
	assert_true(told(NEARCACHE_STATE_LIVE, 7, 21, 21));
	assert_true(told(NEARCACHE_STATE_LIVE, 7, 21, 22));
	assert_true(told(NEARCACHE_STATE_CLEAN, 7, 22, 22));
	/* Refused: the first device is an older copy. */
	assert_false(told(NEARCACHE_STATE_CLEAN, 7, 22, 21));
	assert_false(told(NEARCACHE_STATE_CLEAN, 7, 22, 20));
	assert_false(told(NEARCACHE_STATE_LIVE, 7, 21, 19));
	/* Refused: the member is an older copy. */
	assert_false(told(NEARCACHE_STATE_CLEAN, 7, 20, 21));
	assert_false(told(NEARCACHE_STATE_CLEAN, 7, 20, 22));
	assert_false(told(NEARCACHE_STATE_LIVE, 7, 21, 23));
	/* Refused: the epochs differ, so one device is a copy from before the cache was emptied. */
	assert_false(told(NEARCACHE_STATE_CLEAN, 6, 22, 22));
	assert_false(told(NEARCACHE_STATE_CLEAN, 8, 22, 22));
	/* Refused: in these states slots were overwritten without commits. */
	assert_false(told(NEARCACHE_STATE_ACTIVE, 7, 22, 22));
	assert_false(told(NEARCACHE_STATE_WRITING, 7, 22, 22));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_record),
		cmocka_unit_test(last_record_counts),
		cmocka_unit_test(records_are_judged),
		cmocka_unit_test(newer_page_counts),
		cmocka_unit_test(torn_page_needs_a_record),
		cmocka_unit_test(entries_are_judged),
		cmocka_unit_test(regions_longer_than_blocks),
		cmocka_unit_test(regions_shorter_than_blocks),
		cmocka_unit_test(intent_is_judged),
		cmocka_unit_test(witness_is_judged),
		cmocka_unit_test(copies_are_older),
		cmocka_unit_test(members_follow_commits),
	};

	return RUN(tests);
}
