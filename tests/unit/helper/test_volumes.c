// SPDX-License-Identifier: GPL-2.0-only
/* Fingerprints of partitions and logical volumes (ondisk/fingerprint_*.c): which bytes count. */
#include <stdio.h>

#include "image_unit.h"
#include "lvm_unit.h"

#define MIB	(1ULL << 20)

static struct fsprint_result result;

static void take(void)
{
	image_take(IMAGE_BYTES, &result);
}

/* Check that a change of the byte at @offset changes the fingerprint if and only if @counts. */
static void assert_counts(uint64_t offset, bool counts)
{
	unsigned char before[FSPRINT_SIZE], byte = image_byte(offset), other = byte ^ 1;

	take();
	memcpy(before, result.digest, sizeof(before));
	put(offset, &other, 1);
	take();
	if (!memcmp(before, result.digest, sizeof(before)) == counts)
		fail_msg("byte %llu %s", (unsigned long long)offset,
			 counts ? "does not count" : "counts");
	put(offset, &byte, 1);
}

/* Make an MBR with partitions at 1 MiB (ext4), 20 MiB and 40 MiB (both with unknown content). */
static void make_mbr(void)
{
	static const uint32_t part[][2] = { { 2048, 32768 }, { 40960, 32768 }, { 81920, 8192 } };
	unsigned int i;

	image_empty();
	put_number(510, 0xaa55, 2);
	put_number(440, 0x12345678, 4);
	for (i = 0; i < 3; i++) {
		put_number(446 + 16 * i + 4, 0x83, 1);
		put_number(446 + 16 * i + 8, part[i][0], 4);
		put_number(446 + 16 * i + 12, part[i][1], 4);
	}
	put_number(MIB + 1024 + 0x38, 0xEF53, 2);
	put_number(MIB + 1024 + 0x18, 2, 4);
}

static void partitions(void **state)
{
	(void)state;
	make_mbr();
	take();
	assert_int_equal(result.type, NEARCACHE_FP_VOLUMES);
	assert_int_equal(result.plain_type, NEARCACHE_FP_NONE);
	assert_int_equal(result.volumes, 3);
	assert_int_equal(result.unknown, 2);
	assert_int_equal(result.starts.place[1], MIB / FSPRINT_PLACE);
	assert_int_equal(result.starts.places, 4);
	assert_counts(446 + 4, true);
	assert_counts(446 + 16 + 12, true);
	assert_counts(MIB + 1024 + 0x2C, true);
	assert_counts(20 * MIB + 1024 + 0x2C, false);
	assert_counts(MIB + 8 * MIB, false);
	/* btrfs in the second partition, and XFS at its start in the third one. */
	put(20 * MIB + 65536 + 64, "_BHRfS_M", 8);
	put(40 * MIB, "XFSB\0\0\x10\0", 8);
	assert_counts(20 * MIB + 65536 + 72, true);
	/* A file system on the whole device as well: both count. */
	put_number(65536 * 2, 0, 8);
	put_number(1024 + 0x38, 0xEF53, 2);
	take();
	assert_int_equal(result.type, NEARCACHE_FP_VOLUMES);
	assert_int_equal(result.plain_type, NEARCACHE_FP_EXT4);
	assert_counts(1024 + 0x2C, true);
	assert_counts(20 * MIB + 65536 + 72, true);
}

/* A PV in the second partition: its LV is striped over two places of this PV and has an ext4. */
static void volumes(void **state)
{
	static const char text[] = "group {\nseqno = 3\nextent_size = 128\n"
		"physical_volumes {\npv0 {\n"
		"id = \"" LVM_UNIT_DASHES "\"\npe_start = 2048\n}\n}\nlogical_volumes {\none {\n"
		"segment1 {\nstart_extent = 0\nextent_count = 4\ntype = \"striped\"\n"
		"stripe_size = 8\n"
		"stripes = [\"pv0\", 8, \"pv0\", 2]\n}\n}\n"
		"thin {\nsegment1 {\ntype = \"thin\"\n}\n}\n}\n}\n";
	static unsigned char disk[LVM_UNIT_AREA + LVM_UNIT_ROOM];
	const uint64_t pv = 20 * MIB, one = pv + MIB + 8 * 65536;

	(void)state;
	make_mbr();
	lvm_unit_header(disk, text, sizeof(text), LVM_UNIT_TEXT);
	put(pv, disk, sizeof(disk));
	put_number(one + 1024 + 0x38, 0xEF53, 2);
	put_number(one + 1024 + 0x18, 2, 4);
	put_number(one + 1024 + 0x4, 4096, 4);
	put_number(one + 1024 + 0x20, 4096, 4);
	take();
	assert_int_equal(result.type, NEARCACHE_FP_VOLUMES);
	assert_int_equal(result.volumes, 5);
	assert_int_equal(result.unknown, 2);
	assert_counts(one + 1024 + 0x2C, true);
	/* The group descriptors are in byte 4096 of the volume, which is on the second stripe. */
	assert_counts(pv + MIB + 2 * 65536, true);
	assert_counts(one + 4096, false);
	assert_counts(pv + LVM_UNIT_AREA + LVM_UNIT_TEXT + 12, true);
	assert_counts(pv + LVM_UNIT_AREA + 8192, false);
}

/* Write LVM metadata with @text to the start of @pv. */
static void put_pv(uint64_t pv, const char *text)
{
	static unsigned char disk[LVM_UNIT_AREA + LVM_UNIT_ROOM];

	lvm_unit_header(disk, text, strlen(text) + 1, LVM_UNIT_TEXT);
	put(pv, disk, sizeof(disk));
}

/* Text of a group on one PV with @volumes logical volumes, each described by @segment. */
static const char *group_of(unsigned int volumes, const char *segment)
{
	static char text[LVM_UNIT_ROOM];
	char *at = stpcpy(text, "group {\nseqno = 3\nextent_size = 128\nphysical_volumes {\npv0 {\n"
			  "id = \"" LVM_UNIT_DASHES "\"\npe_start = 2048\n}\n}\nlogical_volumes {\n");

	while (volumes--)
		at += sprintf(at, "v {\ns {\n%s}\n}\n", segment);
	stpcpy(at, "}\n}\n");
	return text;
}

/* A text that the parser rejects counts, and what it describes is unknown. */
static void rejected(void **state)
{
	unsigned char before[FSPRINT_SIZE];

	(void)state;
	make_mbr();
	put_pv(20 * MIB, "group {\nseqno = 3\nfuture ? 1\n}\n");
	take();
	assert_int_equal(result.volumes, 4);
	assert_int_equal(result.unknown, 2);
	memcpy(before, result.digest, sizeof(before));
	put_pv(20 * MIB, "group {\nseqno = 4\nfuture ? 1\n}\n");
	take();
	assert_memory_not_equal(before, result.digest, sizeof(before));
}

/* Volumes that are not looked into use up no limit; those beyond the limits are unknown. */
static void limits(void **state)
{
	(void)state;
	make_mbr();
	put_pv(20 * MIB, group_of(600, "type = \"thin\"\n"));
	put(40 * MIB, "XFSB\0\0\x10\0", 8);
	put_number(40 * MIB + 65536 + 64, 0, 8);
	put(40 * MIB + 65536 + 64, "_BHRfS_M", 8);
	take();
	assert_int_equal(result.volumes, 603);
	assert_int_equal(result.unknown, 600);
	put_pv(20 * MIB, group_of(600, "start_extent = 0\nextent_count = 1\ntype = \"striped\"\n"
				  "stripes = [\"pv0\", 0]\n"));
	put_number(21 * MIB + 1024 + 0x38, 0xEF53, 2);
	take();
	assert_int_equal(result.volumes, 603);
	assert_int_equal(result.unknown, 603 - FSPRINT_VOLUMES);
	/* Stripes of 4 KiB: the group descriptors of each ext4 need 4096 reads. */
	image_empty();
	put_pv(0, group_of(5, "start_extent = 0\nextent_count = 320\ntype = \"striped\"\n"
			   "stripe_size = 8\nstripes = [\"pv0\", 0, \"pv0\", 160]\n"));
	put_number(MIB + 1024 + 0x38, 0xEF53, 2);
	put_number(MIB + 1024 + 0x18, 2, 4);
	put_number(MIB + 1024 + 0x4, 1 << 20, 4);
	put_number(MIB + 1024 + 0x20, 1, 4);
	take();
	assert_int_equal(result.volumes, 5);
	assert_int_equal(result.unknown, 2);
}

/* Volumes inside each other end: each of 4 partitions begins with the same table again. */
static void hostile(void **state)
{
	unsigned char sector[512];
	unsigned int i;

	(void)state;
	make_mbr();
	for (i = 0; i < 4; i++) {
		put_number(446 + 16 * i + 4, 0x83, 1);
		put_number(446 + 16 * i + 8, 1, 4);
		put_number(446 + 16 * i + 12, 4096, 4);
	}
	assert_int_equal(pread(image_file, sector, 512, 0), 512);
	for (i = 1; i <= 8; i++)
		put(i * 512, sector, 512);
	take();
	assert_int_equal(result.volumes, 4 + 16 + 64 + 256 + 1024);
	assert_int_equal(result.unknown, 1024);
	srand(2);
	for (i = 0; i < 100; i++) {
		make_mbr();
		put_number(446 + rand() % 64, (unsigned int)rand() << rand() % 8, 4);
		take();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(partitions),
		cmocka_unit_test(volumes),
		cmocka_unit_test(rejected),
		cmocka_unit_test(limits),
		cmocka_unit_test(hostile),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, image_begin, image_end);
}
