// SPDX-License-Identifier: GPL-2.0-only
/* kmod/ranges/segments.c: the map of overlapping ranges agrees with a search of all ranges. */
#include <stdlib.h>

#include "helper/unit.h"
#include "ranges/segments.h"

#define SPACE	400U
#define MOST	60U

static struct nc_want want[MOST];
static struct nc_segment segment[2 * MOST];
static int made;

static void add(u32 n, u64 first, u64 end, u16 id, u8 flags, u8 priority)
{
	want[n] = (struct nc_want) { first, end, id, flags, priority, n, 0 };
}

static void make(u32 n)
{
	qsort(want, n, sizeof(*want), nc_want_compare);
	made = nc_rangemap_make(want, n, segment);
}

static void assert_segment(int i, u64 first, u64 end, u16 id, u8 flags)
{
	assert_true(i < made);
	assert_int_equal(segment[i].first, first);
	assert_int_equal(segment[i].end, end);
	assert_int_equal(segment[i].id, id);
	assert_int_equal(segment[i].flags, flags);
}

static void none(void **state)
{
	(void)state;
	make(0);
	assert_int_equal(made, 0);
	assert_null(nc_rangemap_find(segment, 0, 7));
	assert_int_equal(nc_rangemap_blocks(segment, 0, 1, 3), 0);
}

static void apart(void **state)
{
	(void)state;
	add(0, 50, 60, 2, 1, 0);
	add(1, 10, 20, 1, 1, 0);
	make(2);
	assert_int_equal(made, 2);
	assert_segment(0, 10, 20, 1, 1);
	assert_segment(1, 50, 60, 2, 1);
	assert_ptr_equal(nc_rangemap_find(segment, made, 0), &segment[0]);
	assert_ptr_equal(nc_rangemap_find(segment, made, 19), &segment[0]);
	assert_ptr_equal(nc_rangemap_find(segment, made, 20), &segment[1]);
	assert_null(nc_rangemap_find(segment, made, 60));
	/* ~0ULL as end: the range has no end. */
	add(0, 0, ~0ULL, 3, 4, 0);
	make(1);
	assert_segment(0, 0, ~0ULL, 3, 4);
}

static void nested(void **state)
{
	(void)state;
	add(0, 0, 100, 1, 1, 0);
	add(1, 40, 60, 2, 2, 0);
	make(2);
	assert_int_equal(made, 3);
	assert_segment(0, 0, 40, 1, 1);
	assert_segment(1, 40, 60, 2, 3);
	assert_segment(2, 60, 100, 1, 1);
	/* The outer range has the higher priority now, so the overlap gets its label. */
	add(0, 0, 100, 1, 1, 1);
	make(2);
	assert_segment(1, 40, 60, 1, 3);
	/* Two equal ranges and an adjacent one make one segment: label and flags are the same. */
	add(0, 0, 100, 1, 1, 0);
	add(1, 0, 100, 1, 1, 0);
	add(2, 100, 120, 1, 1, 0);
	make(3);
	assert_int_equal(made, 1);
	assert_segment(0, 0, 120, 1, 1);
	/* Of two ranges with equal priority and sectors the second one gives the label. */
	add(0, 0, 100, 8, 1, 0);
	add(1, 0, 100, 7, 1, 0);
	make(2);
	assert_segment(0, 0, 100, 7, 1);
}

static void too_deep(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < NC_RANGES_DEEP; i++)
		add(i, i, 100, 1, 1, 0);
	make(NC_RANGES_DEEP);
	assert_int_equal(made, 1);
	add(NC_RANGES_DEEP, 99, 101, 1, 1, 0);
	make(NC_RANGES_DEEP + 1);
	assert_int_equal(made, NC_RANGEMAP_TOO_DEEP);
	add(NC_RANGES_DEEP, 100, 101, 1, 1, 0);
	make(NC_RANGES_DEEP + 1);
	assert_int_equal(made, 1);
}

/* Search all @n ranges for @sector; set @is if one covers it, and return its label and flags. */
static struct nc_segment slow(u32 n, u64 sector, bool *is)
{
	struct nc_segment s = { 0 };
	const struct nc_want *best = NULL;
	u32 i;

	for (i = 0; i < n; i++) {
		if (sector < want[i].first || sector >= want[i].end)
			continue;
		s.flags |= want[i].flags;
		if (!best || want[i].priority >= best->priority)
			best = &want[i];
	}
	*is = best;
	if (best)
		s.id = best->id;
	return s;
}

static void random_ranges(void **state)
{
	u32 round, n, i;
	u64 sector;

	(void)state;
	srandom(7);
	for (round = 0; round < 3000; round++) {
		n = random() % MOST;
		for (i = 0; i < n; i++) {
			u64 first = random() % SPACE;

			add(i, first, first + 1 + random() % (round % 40 + 1), random() % 5,
			    1 << random() % 4, random() % 3);
		}
		make(n);
		if (made == NC_RANGEMAP_TOO_DEEP)
			continue;
		assert_true(made <= (int)nc_rangemap_segments_max(n));
		for (sector = 0; sector < SPACE + 50; sector++) {
			const struct nc_segment *found =
				nc_rangemap_find(segment, made, sector);
			bool is, there = found && found->first <= sector;
			struct nc_segment s = slow(n, sector, &is);

			assert_int_equal(is, there);
			if (!is)
				continue;
			assert_int_equal(s.id, found->id);
			assert_int_equal(s.flags, found->flags);
		}
	}
}

static void blocks_count_once(void **state)
{
	(void)state;
	/* A block has 8 sectors.  A block in several segments of one label counts once. */
	add(0, 0, 1, 1, 1, 0);
	add(1, 7, 9, 1, 1, 0);
	add(2, 9, 10, 2, 1, 0);
	add(3, 100, 200, 3, 2, 0);
	add(4, 10, 15, 2, 3, 0);
	make(5);
	assert_int_equal(nc_rangemap_blocks(segment, made, 1, 3), 2);
	assert_int_equal(nc_rangemap_blocks(segment, made, 2, 3), 1 + 13);
	assert_int_equal(nc_rangemap_blocks(segment, made, 3, 3), 2 + 13);
	assert_int_equal(nc_rangemap_blocks(segment, made, 4, 3), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none),
		cmocka_unit_test(apart),
		cmocka_unit_test(nested),
		cmocka_unit_test(too_deep),
		cmocka_unit_test(random_ranges),
		cmocka_unit_test(blocks_count_once),
	};

	return RUN(tests);
}
