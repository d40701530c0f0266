// SPDX-License-Identifier: GPL-2.0-only
/* Fingerprints of file systems (ondisk/fingerprint_*.c): which bytes of synthetic ones count. */
#include "image_unit.h"

/* The fingerprint of former versions, from the last look. */
static unsigned char former[FSPRINT_SIZE];
/* The last look also found content that is not recognised. */
static bool mixed;

static void put_le32(uint64_t offset, uint32_t value)
{
	put_number(offset, value, sizeof(value));
}

static void put_be32(uint64_t offset, uint32_t value)
{
	value = htobe32(value);
	put(offset, &value, sizeof(value));
}

static void put_byte(uint64_t offset, unsigned char value)
{
	put(offset, &value, 1);
}

static enum nearcache_fingerprint take_at(uint64_t size, unsigned char *digest)
{
	struct fsprint_result result;

	image_take(size, &result);
	memcpy(digest, result.digest, sizeof(result.digest));
	memcpy(former, result.former, sizeof(former));
	mixed = result.mixed;
	/* A file system on the whole device has the fingerprint that it had in former versions. */
	assert_int_equal(result.type, result.plain_type);
	assert_memory_equal(result.plain, result.former, sizeof(result.former));
	return result.type;
}

static enum nearcache_fingerprint take(unsigned char *digest)
{
	return take_at(IMAGE_BYTES, digest);
}

/* Check that a change of the byte at @offset changes the fingerprint if and only if @counts. */
static void assert_counts(enum nearcache_fingerprint type, uint64_t offset,
			  bool counts)
{
	unsigned char before[FSPRINT_SIZE], after[FSPRINT_SIZE];
	unsigned char byte = image_byte(offset), other = byte + 1;

	assert_int_equal(take(before), type);
	put(offset, &other, 1);
	assert_int_equal(take(after), type);
	if (!memcmp(before, after, sizeof(before)) == counts)
		fail_msg("byte %llu %s", (unsigned long long)offset,
			 counts ? "does not count" : "counts");
	put(offset, &byte, 1);
	assert_int_equal(take(after), type);
	assert_memory_equal(before, after, sizeof(before));
}

static void none(void **state)
{
	unsigned char digest[FSPRINT_SIZE], first[FSPRINT_SIZE], zero[FSPRINT_SIZE] = { 0 };

	(void)state;
	image_empty();
	assert_int_equal(take(first), NEARCACHE_FP_NONE);
	assert_memory_equal(former, zero, sizeof(zero));
	assert_memory_not_equal(first, zero, sizeof(zero));
	assert_int_equal(take_at(512, digest), NEARCACHE_FP_NONE);
	assert_int_equal(take_at(1024, digest), NEARCACHE_FP_NONE);
	assert_memory_equal(first, digest, sizeof(first));
}

/* Make an ext4: 4 KiB blocks, 2048 groups (128 KiB of descriptors), journal at block 0x2000. */
static void make_ext4(void)
{
	unsigned char map[] = { 0x0a, 0xf3, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0,
				0, 0, 0, 0, 0, 1, 0, 0, 0, 0x20, 0, 0 };

	image_empty();
	put_le32(1024 + 0x38, 0xEF53);
	put_le32(1024 + 0x4, 2048 * 8);
	put_le32(1024 + 0x18, 2);
	put_le32(1024 + 0x20, 8);
	put_le32(1024 + 0x60, 0x80);
	put_le32(1024 + 0xFC, 0x00400100);
	put(1024 + 0x10C, map, sizeof(map));
	put_be32(0x2000 * 4096, 0xC03B3998);
}

static void ext4(void **state)
{
	(void)state;
	make_ext4();
	assert_counts(NEARCACHE_FP_EXT4, 1024 + 0x2C, true);
	assert_counts(NEARCACHE_FP_EXT4, 4096, true);
	assert_counts(NEARCACHE_FP_EXT4, 4096 + 131071, true);
	assert_counts(NEARCACHE_FP_EXT4, 4096 + 131072, false);
	assert_counts(NEARCACHE_FP_EXT4, 0x2000 * 4096 + 0x18, true);
	assert_counts(NEARCACHE_FP_EXT4, 0x2000 * 4096 + 1024, false);
	assert_counts(NEARCACHE_FP_EXT4, 40 << 20, false);
	assert_false(mixed);
	/* Encryption whose header left the superblock of a former file system in place. */
	put(0, "LUKS\xba\xbe\0\1", 8);
	assert_counts(NEARCACHE_FP_EXT4, 1024 + 0x2C, true);
	assert_true(mixed);
	put(0, "\0\0\0\0", 4);
	/* With meta_bg each descriptor block describes 64 groups and lies in one of them. */
	put_le32(1024 + 0x60, 0x90);
	put_le32(1024 + 0x104, 1);
	assert_counts(NEARCACHE_FP_EXT4, 8191, true);
	assert_counts(NEARCACHE_FP_EXT4, 8192, false);
	assert_counts(NEARCACHE_FP_EXT4, (64 * 8 + 1) * 4096, true);
	assert_counts(NEARCACHE_FP_EXT4, (64 * 31 * 8 + 1) * 4096, true);
	put_le32(1024 + 0x64, 1);
	assert_counts(NEARCACHE_FP_EXT4, (64 * 8 + 1) * 4096, false);
	assert_counts(NEARCACHE_FP_EXT4, 64 * 8 * 4096 + 4095, true);
	make_ext4();
	/* A journal with a block map instead of extents is found as well. */
	put_le32(1024 + 0x10C, 0x2000);
	assert_counts(NEARCACHE_FP_EXT4, 0x2000 * 4096 + 0x18, true);
	/* If the journal is not at block 0x2000, or there is none, that block does not count. */
	put_le32(1024 + 0x10C, 0x2001);
	assert_counts(NEARCACHE_FP_EXT4, 0x2000 * 4096 + 0x18, false);
	put_byte(1024 + 0xFD, 0);
	put_le32(1024 + 0x10C, 0x2000);
	assert_counts(NEARCACHE_FP_EXT4, 0x2000 * 4096 + 0x18, false);
}

#define LOG_BLOCKS	1024
#define LOG		(20ULL << 20)

/* Make an XFS: four groups of 16 MiB, 4 KiB blocks, the log head behind log block 700. */
static void make_xfs(void)
{
	uint64_t i;

	image_empty();
	put_be32(0, 0x58465342);
	put_be32(4, 4096);
	/* The log begins at group 1, block 1024: 16 MiB + 4 MiB. */
	put_be32(52, 1 << 12 | 1024);
	put_be32(84, 4096);
	put_be32(88, 4);
	put_be32(96, LOG_BLOCKS * 512 / 4096);
	put_be32(100, 0xb4a50200);
	put_byte(124, 12);
	for (i = 0; i < LOG_BLOCKS; i++)
		put_be32(LOG + i * 512, i <= 700 ? 6 : 5);
	/* Block 512 is a record header: its cycle number is in the second word. */
	put_be32(LOG + 512 * 512, 0xFEEDBABE);
	put_be32(LOG + 512 * 512 + 4, 6);
}

static void xfs(void **state)
{
	unsigned char before[FSPRINT_SIZE], after[FSPRINT_SIZE];

	(void)state;
	make_xfs();
	assert_counts(NEARCACHE_FP_XFS, 144, true);
	assert_counts(NEARCACHE_FP_XFS, (48 << 20) + 512 + 60, true);
	assert_counts(NEARCACHE_FP_XFS, (48 << 20) + 2047, true);
	assert_counts(NEARCACHE_FP_XFS, (48 << 20) + 2048, false);
	/* Of the log the last blocks before the head count; a log write changes the head. */
	assert_counts(NEARCACHE_FP_XFS, LOG + 700 * 512 + 100, true);
	assert_counts(NEARCACHE_FP_XFS, LOG + 188 * 512 + 100, true);
	assert_counts(NEARCACHE_FP_XFS, LOG + 187 * 512 + 100, false);
	assert_counts(NEARCACHE_FP_XFS, LOG + 701 * 512 + 100, false);
	assert_counts(NEARCACHE_FP_XFS, LOG + 100 * 512 + 100, false);
	/* Former versions: only the last block. */
	assert_int_equal(take(after), NEARCACHE_FP_XFS);
	memcpy(before, former, sizeof(before));
	put_byte(LOG + 699 * 512 + 100, 1);
	assert_int_equal(take(after), NEARCACHE_FP_XFS);
	assert_memory_equal(before, former, sizeof(before));
	assert_int_equal(take(before), NEARCACHE_FP_XFS);
	put_be32(LOG + 701 * 512, 6);
	assert_int_equal(take(after), NEARCACHE_FP_XFS);
	assert_memory_not_equal(before, after, sizeof(before));
	/* If the superblock names no valid log, no log block counts. */
	put_be32(52, 0);
	assert_counts(NEARCACHE_FP_XFS, LOG + 701 * 512 + 100, false);
}

static void erofs(void **state)
{
	(void)state;
	image_empty();
	put_le32(1024, 0xE0F5E1E2);
	put_byte(1024 + 12, 12);
	put_le32(1024 + 36, IMAGE_BYTES / 4096);
	put_le32(1024 + 40, 4096);
	assert_counts(NEARCACHE_FP_EROFS, 1024 + 24, true);
	assert_counts(NEARCACHE_FP_EROFS, (16 << 20) + 65535, true);
	assert_counts(NEARCACHE_FP_EROFS, (16 << 20) + 65536, false);
	assert_counts(NEARCACHE_FP_EROFS, 64, true);
}

static void btrfs(void **state)
{
	(void)state;
	image_empty();
	put(65536 + 64, "_BHRfS_M", 8);
	assert_counts(NEARCACHE_FP_BTRFS, 65536 + 72, true);
	assert_counts(NEARCACHE_FP_BTRFS, 65536 + 4095, true);
	assert_counts(NEARCACHE_FP_BTRFS, 65536 + 4096, false);
}

/* With random numbers in superblocks fsprint_take() ends, and reads only inside the device. */
static void hostile(void **state)
{
	static void (*const make[])(void) = { make_ext4, make_xfs };
	unsigned char digest[FSPRINT_SIZE];
	unsigned int i, kind, at;

	(void)state;
	srand(1);
	for (kind = 0; kind < 2; kind++)
		for (i = 0; i < 300; i++) {
			make[kind]();
			at = rand() % 68 * 4;
			put_le32((kind ? 0 : 1024) + at, rand() % 3 ?
				 (uint32_t)rand() << rand() % 8 : ~0U);
			take(digest);
			take_at(65536 + 512, digest);
		}
	image_empty();
	put_le32(1024, 0xE0F5E1E2);
	put_byte(1024 + 12, 16);
	put_le32(1024 + 36, ~0U);
	put_le32(1024 + 40, ~0U);
	assert_int_equal(take(digest), NEARCACHE_FP_EROFS);
	put_byte(1024 + 12, 64);
	assert_int_equal(take(digest), NEARCACHE_FP_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none),
		cmocka_unit_test(ext4),
		cmocka_unit_test(xfs),
		cmocka_unit_test(erofs),
		cmocka_unit_test(btrfs),
		cmocka_unit_test(hostile),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, image_begin, image_end);
}
