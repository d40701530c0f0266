// SPDX-License-Identifier: GPL-2.0-only
/* kmod/stage/overlay.c: the overlay map agrees with an array that has an element for each sector. */
#include <errno.h>
#include <stdlib.h>

#include "helper/unit.h"
#include "nearcache_stage.h"
#include "stage/overlay.h"

#define SPACE		300U
#define ENTRIES_MAX	24U
#define WRAP		(4096U * 8)
#define EXTENTS		(2 * ENTRIES_MAX)

/* An entry, or a part of it: @entry names the entry that its border counts for. */
static struct piece {
	struct nc_extent x;
	bool in;
} piece[ENTRIES_MAX];

static struct nc_overlay map;

static u32 below(u32 n)
{
	return rand() % n;
}

static u64 sector_at(const struct nc_extent *x, u64 sector)
{
	return x->kind == NEARCACHE_STAGE_DATA ? x->at + (sector - x->sector) : x->at;
}

/* Make @n entries; their places follow each other as in the ring. */
static void make_entries(u32 n)
{
	u64 place = rand(), rest;
	u32 i, blocks;

	for (i = 0; i < n; i++) {
		struct nc_extent *x = &piece[i].x;

		x->kind = below(4) ? NEARCACHE_STAGE_DATA : NEARCACHE_STAGE_ZEROES + below(2);
		x->sectors = 1 + below(below(3) ? 24 : SPACE / 2);
		x->sector = below(SPACE - x->sectors + 1);
		/* Half of the entries follow the one before on the volume, and most in the ring. */
		if (i && below(2) && x[0].sectors + x->sector <= SPACE &&
		    nc_extent_end(&piece[i - 1].x) + x->sectors <= SPACE)
			x->sector = nc_extent_end(&piece[i - 1].x);
		if (x->kind == NEARCACHE_STAGE_DATA && below(2))
			x->sectors = (x->sectors + 7) / 8 * 8;
		if (nc_extent_end(x) > SPACE)
			x->sector = SPACE - x->sectors;
		place += !below(3);
		blocks = nearcache_stage_blocks(x->kind, x->sectors);
		rest = place % (WRAP / 8);
		if (rest + blocks > WRAP / 8)
			place += WRAP / 8 - rest;
		x->at = place * 8;
		place += blocks;
		piece[i].in = false;
	}
}

/* Compare the map with the entries that are in it. */
static void assert_map(u32 n, u32 bound)
{
	const struct nc_extent *want[SPACE] = { NULL }, *x;
	u32 i, count = 0;
	u64 s, end = 0, rest;

	for (i = 0; i < n; i++)
		for (s = piece[i].x.sector; piece[i].in && s < nc_extent_end(&piece[i].x); s++)
			want[s] = &piece[i].x;
	for (x = nc_overlay_find(&map, 0); x; x = nc_extent_next(x)) {
		assert_true(x->sectors && x->sector >= end);
		rest = x->at % WRAP;
		assert_true(x->kind != NEARCACHE_STAGE_DATA || rest + x->sectors <= WRAP);
		end = nc_extent_end(x);
		count++;
	}
	assert_int_equal(count, map.count);
	assert_true(count <= bound);
	for (s = 0; s < SPACE; s++) {
		x = nc_overlay_find(&map, s);
		if (!want[s]) {
			assert_true(!x || x->sector > s);
			continue;
		}
		assert_true(x && x->sector <= s && s < nc_extent_end(x));
		assert_int_equal(x->kind, want[s]->kind);
		assert_int_equal(sector_at(x, s), sector_at(want[s], s));
	}
}

/* Insert entries in any order, then drop them from the oldest on, as the ring's tail moves. */
static void any_order(void **state)
{
	u32 round, n, i, in;

	(void)state;
	for (round = 0; round < 4000; round++) {
		n = 1 + below(ENTRIES_MAX);
		make_entries(n);
		/* An extent for each border less one, and not one more. */
		assert_int_equal(nc_overlay_init(&map, 2 * n - 1, WRAP), 0);
		for (in = 0; in < n; in++) {
			do
				i = below(n);
			while (piece[i].in);
			nc_overlay_insert(&map, &piece[i].x);
			piece[i].in = true;
			assert_map(n, 2 * in + 1);
		}
		for (i = 0; i < n; i++) {
			nc_overlay_drop(&map, &piece[i].x);
			piece[i].in = false;
			/* Of an older entry nothing must show that a later one had replaced. */
			assert_map(n, i + 1 < n ? 2 * (n - i - 1) - 1 : 0);
		}
		assert_false(map.overflow);
		assert_null(nc_overlay_find(&map, 0));
		nc_overlay_destroy(&map);
	}
}

/* An entry that is written in pieces of 4 KiB, over an older one: each missing piece makes two
 * borders more.
 */
static void in_pieces(void **state)
{
	struct nc_extent x = { .sectors = 256, .at = 80, .kind = NEARCACHE_STAGE_ZEROES };
	u32 i;

	(void)state;
	assert_int_equal(nc_overlay_init(&map, 32, WRAP), 0);
	nc_overlay_insert(&map, &x);
	for (i = 1; i < 32; i += 2)
		nc_overlay_insert(&map, &(struct nc_extent) {
			.sector = 8 * i, .sectors = 8, .at = 88 + 8 * i, .kind = NEARCACHE_STAGE_DATA,
		});
	assert_false(map.overflow);
	assert_int_equal(map.count, 32);
	for (i = 0; i < 32; i += 2)
		nc_overlay_insert(&map, &(struct nc_extent) {
			.sector = 8 * i, .sectors = 8, .at = 88 + 8 * i, .kind = NEARCACHE_STAGE_DATA,
		});
	assert_int_equal(map.count, 1);
	nc_overlay_clear(&map);
	assert_int_equal(map.count, 0);
	assert_null(nc_overlay_find(&map, 0));
	nc_overlay_destroy(&map);
}

/* Too few extents are reported, and the map is not written beyond its memory. */
static void too_few(void **state)
{
	u32 i;

	(void)state;
	assert_int_equal(nc_overlay_init(&map, 3, WRAP), 0);
	for (i = 0; i < 4; i++) {
		assert_false(map.overflow);
		nc_overlay_insert(&map, &(struct nc_extent) {
			.sector = 16 * i, .sectors = 8, .at = 80 + 16 * i,
			.kind = NEARCACHE_STAGE_DATA,
		});
	}
	assert_true(map.overflow);
	nc_overlay_destroy(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order),
		cmocka_unit_test(in_pieces),
		cmocka_unit_test(too_few),
	};

	srand(1);
	return RUN(tests);
}
