// SPDX-License-Identifier: GPL-2.0-only
/* Checks of superblocks and slot table pages (kmod/meta/ondisk_check.c).  Each invalid field and
 * each flipped bit is refused, and the reason names the field.  The newer valid copy counts.
 */
#include "helper/unit.h"
#include "meta/ondisk_check.h"

#define MIB		(1ULL << 20)
#define DEVICE_BYTES	(64 * MIB)
#define BLOCK		65536U
#define DATA_OFFSET	(2 * MIB)
#define SLOTS		((DEVICE_BYTES - DATA_OFFSET) / BLOCK)
#define PAGES		((SLOTS + NEARCACHE_SLOTS_PER_PAGE - 1) / NEARCACHE_SLOTS_PER_PAGE)

static void set_area(struct nearcache_super *sb, int i, u64 *at, u64 length)
{
	sb->area[i].offset = cpu_to_le64(*at);
	sb->area[i].length = cpu_to_le64(length);
	sb->area[i].version = cpu_to_le32(NEARCACHE_AREA_VERSION);
	*at += length;
}

/* Make a valid superblock of a 64 MiB device. */
static struct nearcache_super sound(void)
{
	struct nearcache_super sb = { 0 };
	u64 at = NEARCACHE_AREA_START;

	memcpy(sb.magic, NEARCACHE_MAGIC, NEARCACHE_MAGIC_LEN);
	sb.version = cpu_to_le32(NEARCACHE_VERSION);
	sb.sequence = cpu_to_le64(5);
	memset(sb.uuid, 0xa5, sizeof(sb.uuid));
	strcpy((char *)sb.label, "test");
	sb.block_size = cpu_to_le32(BLOCK);
	sb.subblock_size = cpu_to_le32(4096);
	sb.origin_lbs = cpu_to_le32(512);
	sb.cache_lbs = cpu_to_le32(512);
	sb.stripe_count = cpu_to_le16(1);
	sb.device_size = cpu_to_le64(DEVICE_BYTES);
	sb.slot_count = cpu_to_le64(SLOTS);
	sb.data_offset = cpu_to_le64(DATA_OFFSET);
	sb.table_pages = cpu_to_le64(PAGES);
	sb.table_epoch = cpu_to_le64(9);
	sb.intent_region = cpu_to_le64(MIB);
	sb.origin_size = cpu_to_le64(1024 * MIB);
	set_area(&sb, NEARCACHE_AREA_TABLE, &at, 2 * PAGES * NEARCACHE_PAGE_SIZE);
	set_area(&sb, NEARCACHE_AREA_COMMIT, &at, NEARCACHE_COMMIT_AREA_SIZE);
	set_area(&sb, NEARCACHE_AREA_INTENT, &at, NEARCACHE_INTENT_AREA_SIZE);
	set_area(&sb, NEARCACHE_AREA_CHECKSUM, &at, 0);
	set_area(&sb, NEARCACHE_AREA_RANGES, &at, 8192);
	set_area(&sb, NEARCACHE_AREA_STRIPES, &at, NEARCACHE_STRIPES_AREA_SIZE);
	set_area(&sb, NEARCACHE_AREA_DIRTY, &at, 0);
	nc_super_seal(&sb);
	return sb;
}

static bool check(const struct nearcache_super *sb, char *why)
{
	struct nc_geometry geo;

	strcpy(why, "no reason");
	return nc_super_check(sb, DEVICE_BYTES, &geo, why);
}

static void sound_is_taken(void **state)
{
	struct nearcache_super sb = sound();
	struct nc_geometry geo;
	char why[NC_WHY_SIZE] = "";

	(void)state;
	if (!nc_super_check(&sb, DEVICE_BYTES, &geo, why))
		fail_msg("%s", why);
	assert_int_equal(geo.device_size, DEVICE_BYTES);
	assert_int_equal(geo.origin_size, 1024 * MIB);
	assert_int_equal(geo.slot_count, SLOTS);
	assert_int_equal(geo.data_offset, DATA_OFFSET);
	assert_int_equal(geo.table_offset, NEARCACHE_AREA_START);
	assert_int_equal(geo.table_pages, PAGES);
	assert_int_equal(geo.table_epoch, 9);
	assert_int_equal(geo.block_size, BLOCK);
	assert_int_equal(geo.subblock_size, 4096);
	assert_int_equal(geo.cache_lbs, 512);
	assert_int_equal(geo.subblocks, 16);
}

/* Compat features are those that old code may ignore: unknown bits are accepted. */
static void compat_bits_are_ignored(void **state)
{
	struct nearcache_super sb = sound();
	char why[NC_WHY_SIZE];

	(void)state;
	sb.compat = cpu_to_le64(~0ULL);
	nc_super_seal(&sb);
	assert_true(check(&sb, why));
}

/**
 * struct corruption - an invalid value for one field
 * @field: name of the field, which the reason must contain
 * @offset: in struct nearcache_super
 * @size: bytes
 * @value: value to store
 */
struct corruption {
	const char *field;
	size_t offset;
	size_t size;
	u64 value;
};

#define SUPER(member)	offsetof(struct nearcache_super, member), \
			sizeof(((struct nearcache_super *)0)->member)
#define BAD(member, value) { #member, SUPER(member), value }

static const struct corruption corruptions[] = {
	{ "magic", offsetof(struct nearcache_super, magic), 1, 'N' },
	BAD(version, 0), BAD(version, 2), BAD(version, ~0U),
	{ "stripe_count", SUPER(incompat), NEARCACHE_INCOMPAT_STRIPES },
	BAD(incompat, NEARCACHE_INCOMPAT_DIRTY), BAD(incompat, 1ULL << 63),
	BAD(state, 4), BAD(state, ~0U), BAD(session, 1ULL << 63),
	BAD(stripe_count, 0), BAD(stripe_count, 2), BAD(stripe_index, 1),
	BAD(origin_fingerprint_type, NEARCACHE_FP_EROFS + 1),
	BAD(block_size, 0), BAD(block_size, 1), BAD(block_size, 32768),
	BAD(block_size, 65537), BAD(block_size, 98304), BAD(block_size, 8 << 20),
	BAD(block_size, ~0U),
	BAD(origin_lbs, 0), BAD(origin_lbs, 256), BAD(origin_lbs, 768),
	BAD(origin_lbs, 131072), BAD(origin_lbs, 1U << 31),
	BAD(cache_lbs, 0), BAD(cache_lbs, 256), BAD(cache_lbs, 513),
	BAD(cache_lbs, 131072),
	BAD(subblock_size, 0), BAD(subblock_size, 2048), BAD(subblock_size, 4097),
	BAD(subblock_size, 8192), BAD(subblock_size, ~0U),
	BAD(origin_size, 0), BAD(origin_size, 1), BAD(origin_size, 1024 * MIB + 1),
	BAD(origin_size, NEARCACHE_MAX_ORIGIN_BLOCKS * BLOCK),
	BAD(origin_size, ~0ULL << 9),
	BAD(slot_count, 0), BAD(slot_count, 1), BAD(slot_count, SLOTS + 1),
	BAD(slot_count, NEARCACHE_MAX_SLOTS + 1), BAD(slot_count, ~0ULL),
	BAD(data_offset, 0), BAD(data_offset, BLOCK), BAD(data_offset, DATA_OFFSET + 4096),
	BAD(data_offset, DEVICE_BYTES + BLOCK), BAD(data_offset, ~0ULL << 16),
	BAD(table_pages, 0), BAD(table_pages, PAGES - 1), BAD(table_pages, PAGES + 1),
	BAD(table_pages, ~0ULL),
	BAD(device_size, DEVICE_BYTES + 512), BAD(device_size, ~0ULL),
	BAD(intent_region, 0), BAD(intent_region, 1), BAD(intent_region, 2047),
	BAD(intent_region, 98304), BAD(intent_region, ~0ULL), BAD(reserved0, 1),
	BAD(sequence, 1ULL << 63), BAD(sequence, ~0ULL), BAD(table_epoch, ~0ULL),
	BAD(commit_sequence, 1ULL << 63), BAD(commit_sequence, ~0ULL),
	BAD(area[1].length, 0), BAD(area[1].length, 4096), BAD(area[2].length, 65536),
	BAD(area[3].length, 4096), BAD(area[5].length, 0), BAD(area[6].length, 4096),
	BAD(area[0].version, 0), BAD(area[1].version, 2), BAD(area[6].version, ~0U),
	BAD(area[0].length, 0), BAD(area[0].length, 4096),
	BAD(area[0].length, ~0ULL << 12), BAD(area[1].length, 4097),
	BAD(area[1].length, DEVICE_BYTES), BAD(area[4].length, ~0ULL << 12),
	BAD(area[0].offset, 0), BAD(area[0].offset, NEARCACHE_SUPER_OFFSET_1),
	BAD(area[1].offset, NEARCACHE_AREA_START), BAD(area[2].offset, NEARCACHE_AREA_START + 1),
	BAD(area[5].offset, DATA_OFFSET), BAD(area[5].offset, ~0ULL << 12),
};

/* The checksum area has 4 bytes for each of a slot's 16 sub-blocks; other lengths are refused. */
static void checksums_have_their_area(void **state)
{
	struct nearcache_super sb = sound();
	u64 length = (SLOTS * 16 * 4 + 4095) / 4096 * 4096;
	struct nearcache_area *area = &sb.area[NEARCACHE_AREA_CHECKSUM];
	struct nc_geometry geo;
	char why[NC_WHY_SIZE];

	(void)state;
	sb.incompat = cpu_to_le64(NEARCACHE_INCOMPAT_CRC32C);
	area->offset = cpu_to_le64(DATA_OFFSET - length);
	area->length = cpu_to_le64(length);
	nc_super_seal(&sb);
	assert_true(nc_super_check(&sb, DEVICE_BYTES, &geo, why));
	assert_int_equal(geo.sums_offset, DATA_OFFSET - length);
	assert_int_equal(geo.sums_length, length);
	area->length = cpu_to_le64(length - 4096);
	nc_super_seal(&sb);
	assert_false(nc_super_check(&sb, DEVICE_BYTES, &geo, why));
	assert_non_null(strstr(why, "area[3].length"));
	area->length = 0;
	nc_super_seal(&sb);
	assert_false(nc_super_check(&sb, DEVICE_BYTES, &geo, why));
	assert_non_null(strstr(why, "area[3].length"));
}

static void store(void *at, size_t size, u64 value)
{
	u64 le = cpu_to_le64(value);

	memcpy(at, &le, size);
}

static void each_field_is_named(void **state)
{
	char why[NC_WHY_SIZE];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(corruptions) / sizeof(corruptions[0]); i++) {
		const struct corruption *c = &corruptions[i];
		struct nearcache_super sb = sound();

		store((char *)&sb + c->offset, c->size, c->value);
		nc_super_seal(&sb);
		if (check(&sb, why))
			fail_msg("%s = %llu is accepted", c->field, (unsigned long long)c->value);
		/* Compare up to the dot: for an area the reason names the area, not its field. */
		if (strncmp(why, c->field, strcspn(c->field, ".")))
			fail_msg("%s = %llu: '%s'", c->field,
				 (unsigned long long)c->value, why);
	}
}

/* Refused: a device smaller than device_size, and a device_size smaller than the slots need. */
static void truncated_is_refused(void **state)
{
	struct nearcache_super sb = sound();
	struct nc_geometry geo;
	char why[NC_WHY_SIZE];

	(void)state;
	assert_false(nc_super_check(&sb, DEVICE_BYTES - 512, &geo, why));
	assert_non_null(strstr(why, "device_size"));
	assert_non_null(strstr(why, "truncated"));
	assert_true(nc_super_check(&sb, DEVICE_BYTES + MIB, &geo, why));
	sb.device_size = cpu_to_le64(DEVICE_BYTES - 512);
	nc_super_seal(&sb);
	assert_false(nc_super_check(&sb, DEVICE_BYTES, &geo, why));
}

static void endless_text_is_refused(void **state)
{
	static const struct { const char *name; size_t offset, size; } text[] = {
		{ "label", SUPER(label) }, { "origin_id", SUPER(origin_id) },
		{ "dataset_version", SUPER(dataset_version) },
	};
	char why[NC_WHY_SIZE];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		struct nearcache_super sb = sound();

		memset((char *)&sb + text[i].offset, 'x', text[i].size);
		nc_super_seal(&sb);
		assert_false(check(&sb, why));
		assert_non_null(strstr(why, text[i].name));
	}
}

/* Flip each bit without a new checksum.  Magic and version are checked before the checksum. */
static void every_bit_flip_is_found(void **state)
{
	struct nearcache_super sb = sound();
	char why[NC_WHY_SIZE];
	const char *expected;
	u8 *byte = (u8 *)&sb;
	size_t i;

	(void)state;
	for (i = 0; i < 8 * sizeof(sb); i++) {
		byte[i / 8] ^= 1U << i % 8;
		assert_false(check(&sb, why));
		expected = i < 64 ? "magic" : i < 96 ? "version" : "checksum";
		if (strncmp(why, expected, strlen(expected)))
			fail_msg("bit %zu: '%s'", i, why);
		byte[i / 8] ^= 1U << i % 8;
	}
	assert_true(check(&sb, why));
}

static const struct nearcache_super *choose(struct nearcache_super *a,
					    struct nearcache_super *b,
					    struct nc_geometry *geo, char *why)
{
	nc_super_seal(a);
	nc_super_seal(b);
	return nc_super_choose(a, b, DEVICE_BYTES, geo, why);
}

static void newer_copy_counts(void **state)
{
	struct nearcache_super a = sound(), b = sound();
	struct nc_geometry geo;
	char why[NC_WHY_SIZE];

	(void)state;
	a.table_epoch = cpu_to_le64(1);
	b.table_epoch = cpu_to_le64(2);
	assert_ptr_equal(choose(&a, &b, &geo, why), &a);
	assert_int_equal(geo.table_epoch, 1);
	b.sequence = cpu_to_le64(6);
	assert_ptr_equal(choose(&a, &b, &geo, why), &b);
	assert_int_equal(geo.table_epoch, 2);
	a.sequence = cpu_to_le64(1ULL << 40);
	assert_ptr_equal(choose(&a, &b, &geo, why), &a);
	assert_int_equal(geo.table_epoch, 1);
}

static void sound_copy_counts(void **state)
{
	struct nearcache_super a = sound(), b = sound();
	struct nc_geometry geo;
	char why[NC_WHY_SIZE];

	(void)state;
	a.sequence = cpu_to_le64(7);
	a.table_epoch = cpu_to_le64(1);
	b.table_epoch = cpu_to_le64(2);
	choose(&a, &b, &geo, why);
	a.label[0] ^= 1;
	assert_ptr_equal(nc_super_choose(&a, &b, DEVICE_BYTES, &geo, why), &b);
	assert_int_equal(geo.table_epoch, 2);
	a.label[0] ^= 1;
	b.label[0] ^= 1;
	assert_ptr_equal(nc_super_choose(&a, &b, DEVICE_BYTES, &geo, why), &a);
	assert_int_equal(geo.table_epoch, 1);
	/* Both copies are invalid: the reason is that of copy 0. */
	a.block_size = 0;
	nc_super_seal(&a);
	assert_null(nc_super_choose(&a, &b, DEVICE_BYTES, &geo, why));
	assert_int_equal(strncmp(why, "block_size", 10), 0);
}

static const u8 uuid[16] = { 1, 2, 3 };

static struct nearcache_page page(void)
{
	struct nearcache_page p;

	nc_page_init(&p, uuid, 3, 11, 9);
	p.slot[7].origin_block = cpu_to_le64(42);
	nc_page_seal(&p);
	return p;
}

/* Copies with different uuids are refused: it is unknown which cache the data is of. */
static void copies_of_two_caches_are_refused(void **state)
{
	struct nearcache_super a = sound(), b = sound();
	struct nc_geometry geo;
	char why[NC_WHY_SIZE];

	(void)state;
	b.uuid[7] ^= 1;
	b.sequence = cpu_to_le64(6);
	assert_null(choose(&a, &b, &geo, why));
	assert_int_equal(strncmp(why, "uuid", 4), 0);
}

static void pages_are_judged(void **state)
{
	struct nearcache_page p = page();
	u8 other[16] = { 1, 2, 3, 4 };

	(void)state;
	assert_true(nc_page_check(&p, uuid, 3));
	assert_false(nc_page_check(&p, other, 3));
	assert_false(nc_page_check(&p, uuid, 2));
	p.magic = 0;
	nc_page_seal(&p);
	assert_false(nc_page_check(&p, uuid, 3));
	/* A new page holds no blocks. */
	nc_page_init(&p, uuid, 3, 11, 9);
	assert_int_equal(le64_to_cpu(p.slot[0].origin_block), NEARCACHE_NO_BLOCK);
	assert_int_equal(le64_to_cpu(p.slot[167].origin_block), NEARCACHE_NO_BLOCK);
	assert_int_equal(le64_to_cpu(p.sequence), 11);
	assert_int_equal(le64_to_cpu(p.epoch), 9);
}

static void page_bit_flips_are_found(void **state)
{
	struct nearcache_page p = page();
	u8 *byte = (u8 *)&p;
	size_t i;

	(void)state;
	for (i = 0; i < 8 * sizeof(p); i++) {
		byte[i / 8] ^= 1U << i % 8;
		assert_false(nc_page_check(&p, uuid, 3));
		byte[i / 8] ^= 1U << i % 8;
	}
	assert_true(nc_page_check(&p, uuid, 3));
}

/* Compare with the published check value of CRC-32C and with a bit-by-bit implementation. */
static void crc_is_castagnoli(void **state)
{
	struct nearcache_super sb = sound();
	const u8 *p = (const u8 *)&sb;
	u32 crc = ~0U;
	size_t i;
	int bit;

	(void)state;
	assert_int_equal(crc_extend(0, "123456789", 9), 0xe3069283);
	sb.checksum = 0;
	for (i = 0; i < sizeof(sb); i++) {
		crc ^= p[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	assert_int_equal(nc_super_checksum(&sb), ~crc);
	/* The checksum is computed with zero in its own field. */
	sb.checksum = ~0U;
	assert_int_equal(nc_super_checksum(&sb), ~crc);
}

static void subblock_sizes(void **state)
{
	(void)state;
	assert_int_equal(nc_subblock_size(64 << 10, 512, 512), 4096);
	assert_int_equal(nc_subblock_size(256 << 10, 512, 512), 4096);
	assert_int_equal(nc_subblock_size(1 << 20, 512, 512), 16384);
	assert_int_equal(nc_subblock_size(4 << 20, 512, 4096), 65536);
	assert_int_equal(nc_subblock_size(64 << 10, 8192, 512), 8192);
	assert_int_equal(nc_subblock_size(64 << 10, 512, 65536), 65536);
}

/* Make the superblock of member @index of a cache with @count members and @slots slots in all. */
static struct nearcache_super member(u16 index, u16 count, u64 slots)
{
	struct nearcache_super sb = sound();
	unsigned int i;

	sb.incompat = cpu_to_le64(NEARCACHE_INCOMPAT_STRIPES);
	sb.stripe_index = cpu_to_le16(index);
	sb.stripe_count = cpu_to_le16(count);
	sb.slot_count = cpu_to_le64(slots);
	sb.table_pages = 0;
	sb.data_offset = cpu_to_le64(MIB);
	for (i = 0; i < NEARCACHE_AREA_COUNT; i++)
		sb.area[i].length = 0;
	nc_super_seal(&sb);
	return sb;
}

static void refused(struct nearcache_super sb, const char *field)
{
	char why[NC_WHY_SIZE];

	nc_super_seal(&sb);
	assert_false(check(&sb, why));
	if (strncmp(why, field, strlen(field)))
		fail_msg("'%s' does not name %s", why, field);
}

/* Members behind the first hold an equal share of the slots and no metadata, or are refused. */
static void members_are_judged(void **state)
{
	const u64 most = (DEVICE_BYTES - MIB) / BLOCK;
	struct nearcache_super sb;
	struct nc_geometry geo;
	char why[NC_WHY_SIZE];

	(void)state;
	assert_int_equal(nc_member_slots(10, 0, 3), 4);
	assert_int_equal(nc_member_slots(10, 1, 3), 3);
	assert_int_equal(nc_member_slots(10, 2, 3), 3);
	assert_int_equal(nc_member_slots(10, 0, 1), 10);
	/* Of 16 * @most + 15 slots the last member has @most, which fit; others have one more. */
	sb = member(15, 16, 16 * most + 15);
	assert_true(nc_super_check(&sb, DEVICE_BYTES, &geo, why));
	assert_int_equal(geo.stripe_index, 15);
	assert_int_equal(geo.stripe_count, 16);
	refused(member(15, 16, 16 * most + 16), "slot_count");
	refused(member(1, 16, 16 * most + 16), "slot_count");
	refused(member(1, 16, 15), "slot_count");
	refused(member(16, 16, 64), "stripe_index");
	refused(member(1, 17, 64), "stripe_count");
	refused(member(0, 1, 64), "stripe_count");
	/* The first member must have metadata. */
	refused(member(0, 2, 64), "table_pages");
	sb = member(1, 2, 64);
	sb.table_pages = cpu_to_le64(1);
	refused(sb, "table_pages");
	sb = member(1, 2, 64);
	sb.area[NEARCACHE_AREA_STRIPES].length = cpu_to_le64(4096);
	refused(sb, "area[5]");
}

static void unlike(const struct nearcache_super *first, struct nearcache_super sb,
		   u32 place, const char *field)
{
	char why[NC_WHY_SIZE] = "";

	assert_false(nc_member_check(first, &sb, place, why));
	if (!strstr(why, field))
		fail_msg("'%s' does not name %s", why, field);
}

static void members_belong_together(void **state)
{
	struct nearcache_super first = member(0, 3, 64), sb = member(1, 3, 64);
	char why[NC_WHY_SIZE];

	(void)state;
	assert_true(nc_member_check(&first, &sb, 1, why));
	unlike(&first, sb, 2, "stripe_index");
	unlike(&first, first, 1, "stripe_index");
	unlike(&first, member(1, 2, 64), 1, "stripe_count");
	unlike(&first, member(1, 3, 65), 1, "slot_count");
	sb.uuid[15] ^= 1;
	unlike(&first, sb, 1, "uuid");
	sb = member(1, 3, 64);
	sb.incompat |= cpu_to_le64(NEARCACHE_INCOMPAT_CRC32C);
	unlike(&first, sb, 1, "incompat");
	sb = member(1, 3, 64);
	sb.block_size *= 2;
	unlike(&first, sb, 1, "block_size");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound_is_taken),
		cmocka_unit_test(compat_bits_are_ignored),
		cmocka_unit_test(each_field_is_named),
		cmocka_unit_test(checksums_have_their_area),
		cmocka_unit_test(truncated_is_refused),
		cmocka_unit_test(endless_text_is_refused),
		cmocka_unit_test(every_bit_flip_is_found),
		cmocka_unit_test(newer_copy_counts),
		cmocka_unit_test(sound_copy_counts),
		cmocka_unit_test(copies_of_two_caches_are_refused),
		cmocka_unit_test(pages_are_judged),
		cmocka_unit_test(page_bit_flips_are_found),
		cmocka_unit_test(crc_is_castagnoli),
		cmocka_unit_test(subblock_sizes),
		cmocka_unit_test(members_are_judged),
		cmocka_unit_test(members_belong_together),
	};

	return RUN(tests);
}
