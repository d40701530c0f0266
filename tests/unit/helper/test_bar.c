// SPDX-License-Identifier: GPL-2.0-only
/* lib/bar.c: bytes present in each cell of a line, and the bar drawn from them. */
#include "lib/density_bar.h"
#include "unit.h"

static void bar_is(const struct density *density, const char *expected)
{
	char bar[DENSITY_CELLS + 1];

	assert_string_equal(density_bar(density, bar), expected);
}

static struct density line(uint64_t bytes)
{
	static uint64_t cells[4][DENSITY_CELLS];
	static unsigned int next;
	uint64_t *cell = cells[next++ % 4];

	memset(cell, 0, sizeof(cells[0]));
	return (struct density){ .bytes = bytes, .cell = cell, .cells = DENSITY_CELLS };
}

static void drawn(void **state)
{
	struct density density = line(DENSITY_CELLS * 10);

	(void)state;
	bar_is(&density, "................................");
	density_add(&density, 0, 25);
	bar_is(&density, "##+.............................");
	density_add(&density, 25, 5);
	density_add(&density, 319, 1);
	bar_is(&density, "###............................+");
	assert_int_equal(density.present, 31);
	/* Bytes behind the end do not count. */
	density_add(&density, 310, 1000);
	density_add(&density, 320, 10);
	assert_int_equal(density.present, 41);
	density = line(320);
	density_add(&density, 0, 320);
	bar_is(&density, "################################");
}

/* Devices of 0 and 3 bytes, fewer than cells, and the largest device: nothing overflows. */
static void extremes(void **state)
{
	struct density small = line(3), none = line(0);
	struct density large = line(UINT64_MAX - 511);

	(void)state;
	density_add(&none, 0, 1);
	assert_int_equal(none.present, 0);
	bar_is(&none, "................................");
	density_add(&small, 0, 3);
	assert_int_equal(small.present, 3);
	density_add(&large, 0, UINT64_MAX - 511);
	bar_is(&large, "################################");
	assert_int_equal(large.present, UINT64_MAX - 511);
	large = line(UINT64_MAX - 511);
	density_add(&large, UINT64_MAX / 2, 512);
	assert_int_equal(large.present, 512);
}

/* Cells of 1000 / 3 bytes: their edges are rounded down. */
static void cells(void **state)
{
	struct density density = { .bytes = 1000, .cells = 3 };

	(void)state;
	assert_int_equal(density_edge(&density, 0), 0);
	assert_int_equal(density_edge(&density, 1), 333);
	assert_int_equal(density_edge(&density, 2), 666);
	assert_int_equal(density_edge(&density, 3), 1000);
	assert_int_equal(density_cell(&density, 332), 0);
	assert_int_equal(density_cell(&density, 333), 1);
	assert_int_equal(density_cell(&density, 999), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drawn),
		cmocka_unit_test(extremes),
		cmocka_unit_test(cells),
	};

	return RUN(tests);
}
