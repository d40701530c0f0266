// SPDX-License-Identifier: GPL-2.0-only
/* LVM2 metadata (ondisk/lvm_*.c) and the places of volumes (ondisk/volume_map.c). */
#include <stdio.h>
#include <stdlib.h>

#include "lib/error.h"
#include "lvm_unit.h"
#include "unit.h"

#define MIB	(1ULL << 20)

/* Extents of 1 MiB; PV "pv1" is ours and begins with its data at 2 MiB. */
#define HEAD	"# comment { \"\ngroup {\nid = \"x\"\nseqno = 7\nextent_size = 2048\nflags = []\n" \
	"physical_volumes {\npv0 {\nid = \"other\"\npe_start = 2048\n}\npv1 {\nid = \"" \
	LVM_UNIT_DASHES "\"\npe_start = 4096\ntags = [\"a}b\", \"c\"]\n}\n}\nlogical_volumes {\n"
#define TAIL	"}\n}\n"
#define SEGMENT(first, count, stripes) "segment1 {\nstart_extent = " first "\n" \
	"extent_count = " count "\ntype = \"striped\"\nstripe_size = 128\nstripes = [" stripes "]\n}\n"

static bool parsed(const char *text, struct lvm_group *group)
{
	/* A copy without a 0 at its end: ASan finds reads behind it. */
	char *copy = malloc(strlen(text));
	bool good;

	memcpy(copy, text, strlen(text));
	good = lvm_parse(copy, strlen(text), LVM_UNIT_ID, group);
	free(copy);
	return good;
}

static void assert_place(const struct volume *inner, uint64_t offset, uint64_t place, uint64_t run)
{
	struct volume device = { .size = 64 * MIB }, volume = *inner;
	uint64_t is_at = 0, is_run = 0;

	volume.below = &device;
	assert_int_equal(volume_place(&volume, offset, &is_at, &is_run), !!run);
	assert_int_equal(is_at, place);
	assert_int_equal(run ? is_run : 0, run);
}

/* Linear segments, out of order, one on another PV; and a stripe over two PVs. */
static void places(void **state)
{
	struct lvm_group group;

	(void)state;
	assert_true(parsed(HEAD "one {\nsegment_count = 3\n"
			   SEGMENT("2", "1", "\"pv1\", 0") SEGMENT("0", "2", "\"pv1\", 5")
			   SEGMENT("3", "1", "\"pv0\", 0") "}\n"
			   "two {\n" SEGMENT("0", "2", "\"pv1\", 10, \"pv0\", 3") "}\n" TAIL,
			   &group));
	assert_int_equal(group.sequence, 7);
	assert_int_equal(group.volumes, 2);
	assert_int_equal(group.others, 0);
	assert_int_equal(group.volume[0].size, 4 * MIB);
	assert_place(&group.volume[0], 4096, 7 * MIB + 4096, 2 * MIB - 4096);
	assert_place(&group.volume[0], 2 * MIB, 2 * MIB, MIB);
	assert_place(&group.volume[0], 3 * MIB, 0, 0);
	assert_place(&group.volume[0], 4 * MIB, 0, 0);
	assert_place(&group.volume[1], 4096, 12 * MIB + 4096, 61440);
	assert_place(&group.volume[1], 65536, 0, 0);
	assert_place(&group.volume[1], 3 * 65536 - 4096, 12 * MIB + 2 * 65536 - 4096, 4096);
	lvm_free(&group);
}

/* Volumes that cannot be followed are counted; a text that LVM does not write is refused. */
static void odd(void **state)
{
	static const char *const bad[] = {
		"}", "group {", "group { x = }", "group { x = [ 1, ", "group { x = \"", "= 1",
		"group { x { } } }", "group [", HEAD TAIL "\x01",
		"a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{}}}}}}}}}}}}}}}}}}}}",
	};
	static const char *const other[] = {
		"", SEGMENT("0", "0", "\"pv1\", 0"), SEGMENT("0", "1", ""),
		SEGMENT("-1", "1", "\"pv1\", 0"),
		SEGMENT("0", "18446744073709551615", "\"pv1\", 0"),
		SEGMENT("17592186044415", "2", "\"pv1\", 0"),
		"segment1 {\ntype = \"raid1\"\nstart_extent = 0\nextent_count = 1\n}\n",
		"segment1 {\ntype = \"striped\"\nstart_extent = 0\nextent_count = 1\n"
		"stripe_size = 1\n"
		"stripes = [\"pv1\", 0, \"pv1\", 1]\n}\n",
	};
	struct lvm_group group;
	char text[2048];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (parsed(bad[i], &group))
			fail_msg("accepted: %s", bad[i]);
		lvm_free(&group);
	}
	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		snprintf(text, sizeof(text), HEAD "one {\n%s}\n" TAIL, other[i]);
		if (!parsed(text, &group) || group.volumes || group.others != 1)
			fail_msg("not counted as other: %s", other[i]);
		lvm_free(&group);
	}
	/* A stripe whose place overflows is on no device. */
	assert_true(parsed(HEAD "one {\n" SEGMENT("0", "1", "\"pv1\", 17592186044415") "}\n" TAIL,
			   &group));
	assert_place(&group.volume[0], 0, 0, 0);
	lvm_free(&group);
}

/* Segments beyond the limit do not spoil the text: their volumes are counted as other ones. */
static void many(void **state)
{
	const unsigned int volumes = LVM_SEGMENTS_MAX + 3;
	char *text = malloc(strlen(HEAD) + volumes * 200UL), *at = stpcpy(text, HEAD);
	struct lvm_group group;
	unsigned int i;

	(void)state;
	for (i = 0; i < volumes; i++)
		at = stpcpy(at, "v {\n" SEGMENT("0", "1", "\"pv1\", 0") "}\n");
	stpcpy(at, TAIL);
	assert_true(parsed(text, &group));
	assert_int_equal(group.sequence, 7);
	assert_int_equal(group.volumes, LVM_SEGMENTS_MAX);
	assert_int_equal(group.others, 3);
	lvm_free(&group);
	free(text);
}

/* The label and the area's header, also of a text that continues at the start of its area. */
static void header(void **state)
{
	static unsigned char disk[LVM_UNIT_AREA + LVM_UNIT_ROOM];
	unsigned char *at = disk + LVM_UNIT_AREA;
	struct lvm_label label;
	struct lvm_text text;

	(void)state;
	assert_int_equal(lvm_checksum("123456789", 9), 0x4991cf02);
	lvm_unit_header(disk, HEAD TAIL, strlen(HEAD TAIL), LVM_UNIT_ROOM - 100);
	assert_false(lvm_read_label(disk, 0, &label));
	assert_false(lvm_read_label(disk + 512, 2, &label));
	assert_true(lvm_read_label(disk + 512, 1, &label));
	assert_memory_equal(label.id, LVM_UNIT_ID, LVM_ID);
	assert_int_equal(label.areas, 1);
	assert_true(lvm_find_text(at, &label.area[0], &text));
	assert_int_equal(text.part[0].offset, LVM_UNIT_AREA + LVM_UNIT_ROOM - 100);
	assert_int_equal(text.part[0].bytes, 100);
	assert_int_equal(text.part[1].offset, LVM_UNIT_AREA + 512);
	assert_int_equal(text.part[1].bytes, strlen(HEAD TAIL) - 100);
	/* A text longer than its area. */
	lvm_put(at + 48, LVM_UNIT_ROOM, 8);
	lvm_put(at, lvm_checksum(at + 4, 508), 4);
	assert_false(lvm_find_text(at, &label.area[0], &text));
	at[100]++;
	assert_false(lvm_find_text(at, &label.area[0], &text));
	disk[600]++;
	assert_false(lvm_read_label(disk + 512, 1, &label));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places),
		cmocka_unit_test(odd),
		cmocka_unit_test(many),
		cmocka_unit_test(header),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
