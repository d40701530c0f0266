// SPDX-License-Identifier: GPL-2.0-only
/* daemon/hot.c: regions that save many more origin bytes than others are pinned, up to a quota. */
#include <stdlib.h>

#include "daemon/hot_regions.h"
#include "unit.h"

#define MB	(1ULL << 20)
#define REGION	(16 * MB)
#define REGIONS	20U

static struct hot hot;
static struct hot_seen seen[REGIONS + 1];
static unsigned int pins, unpins, last;
static bool refuse;

static bool advise(const struct hot_advice *advice, void *arg)
{
	(void)arg;
	if (refuse)
		return false;
	pins += advice->pin;
	unpins += !advice->pin;
	last = advice->region;
	return true;
}

/* Take a sample: each region saved @each more bytes, region @warm (REGIONS: none) @more on top. */
static void look(uint64_t each, unsigned int warm, uint64_t more, size_t quota)
{
	struct hot_seen copy[REGIONS + 1];
	unsigned int i;

	for (i = 0; i < REGIONS; i++) {
		seen[i].region = i;
		seen[i].saved += each + (i == warm ? more : 0);
	}
	/* One region occurs twice, and the order is arbitrary. */
	seen[REGIONS] = seen[3];
	for (i = 0; i <= REGIONS; i++)
		copy[i] = seen[REGIONS - i];
	pins = 0;
	unpins = 0;
	assert_int_equal(hot_look(&hot, copy, REGIONS + 1), 0);
	hot_judge(&hot, REGION, quota, advise, NULL);
}

static int begin(void **state)
{
	(void)state;
	hot_free(&hot);
	memset(seen, 0, sizeof(seen));
	refuse = false;
	return 0;
}

static void even(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 10; i++) {
		look(100 * MB, REGIONS, 0, 5);
		assert_int_equal(pins + unpins, 0);
	}
}

static void one(void **state)
{
	(void)state;
	/* Bytes saved before the first sample do not count. */
	look(MB, 7, 1000 * MB, 5);
	assert_int_equal(pins, 0);
	look(MB, 7, 100 * MB, 5);
	assert_int_equal(pins, 1);
	assert_int_equal(last, 7);
	look(MB, 7, 100 * MB, 5);
	assert_int_equal(pins + unpins, 0);
	/* Region 7 saves less than before, but more than the mean: it stays pinned. */
	look(10 * MB, 7, 10 * MB, 5);
	assert_int_equal(pins + unpins, 0);
	/* Region 7 saves less than the mean: it is unpinned. */
	look(200 * MB, REGIONS, 0, 5);
	seen[7].saved -= 200 * MB;
	look(200 * MB, REGIONS, 0, 5);
	assert_int_equal(unpins, 1);
	assert_int_equal(last, 7);
	assert_int_equal(hot.pinned, 0);
}

/* To be pinned, a region must save much more than the others, and more than its own size. */
static void little(void **state)
{
	(void)state;
	look(0, 7, 0, 5);
	look(1000, 7, 10 * MB, 5);
	assert_int_equal(pins, 0);
	look(1000, 7, 12 * MB, 5);
	assert_int_equal(pins, 1);
}

static void quota(void **state)
{
	(void)state;
	look(0, 1, 0, 2);
	look(MB, 1, 200 * MB, 0);
	assert_int_equal(pins, 0);
	look(MB, 2, 400 * MB, 1);
	assert_int_equal(pins, 1);
	assert_int_equal(last, 2);
	refuse = true;
	look(MB, 3, 800 * MB, 2);
	assert_int_equal(hot.pinned, 1);
	refuse = false;
	look(MB, 3, 800 * MB, 2);
	assert_int_equal(last, 3);
	assert_int_equal(hot.pinned, 2);
}

/* A restarted daemon takes over two pins.  At its second sample both regions are idle: unpinned. */
static void found(void **state)
{
	(void)state;
	assert_int_equal(hot_take_pin(&hot, 9), 0);
	assert_int_equal(hot_take_pin(&hot, 900), 0);
	assert_int_equal(hot_take_pin(&hot, 9), 0);
	assert_int_equal(hot.pinned, 2);
	look(0, 9, 0, 5);
	assert_int_equal(unpins, 0);
	look(MB, 9, 0, 5);
	assert_int_equal(unpins, 2);
	assert_int_equal(hot.pinned, 0);
	look(MB, 9, 300 * MB, 5);
	assert_int_equal(pins, 1);
	look(MB, 9, 300 * MB, 5);
	assert_int_equal(unpins, 0);
	hot_free(&hot);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(even, begin),
		cmocka_unit_test_setup(one, begin),
		cmocka_unit_test_setup(little, begin),
		cmocka_unit_test_setup(quota, begin),
		cmocka_unit_test_setup(found, begin),
	};

	return RUN(tests);
}
