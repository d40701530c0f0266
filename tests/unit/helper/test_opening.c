// SPDX-License-Identifier: GPL-2.0-only
/* daemon/opening.c: a shard is open from its first miss until it was not read for IDLE seconds. */
#include <stdio.h>

#include "daemon/shards_in_use.h"
#include "unit.h"

#define ROOM	1000U
#define IDLE	10U

static struct opening opening;

/* Take a sample: @read bytes so far, @missed of them not cached.  True: prefetch the shard. */
static bool see(const char *name, uint64_t bytes, uint64_t read, uint64_t missed, uint64_t time)
{
	struct nl_label label = { .name = name, .bytes = bytes };

	label.counter[NEARCACHE_LABEL_MISS_BYTES] = missed;
	label.counter[NEARCACHE_LABEL_HIT_BYTES] = read - missed;
	return opening_see(&opening, &label, time, ROOM);
}

/* Misses before the first opening_close() do not open a shard; later misses do. */
static void first_look(void **state)
{
	(void)state;
	assert_false(see("a", 100, 50, 50, 1));
	opening_close(&opening, 1, IDLE);
	assert_false(see("a", 100, 50, 50, 2));
	assert_true(see("a", 100, 60, 60, 3));
	assert_true(see("b", 200, 10, 10, 3));
	assert_int_equal(opening.open_bytes, 300);
	opening_free(&opening);
	assert_int_equal(opening.open_bytes, 0);
}

/* A miss opens a shard, hits do not.  Reads keep it open, and it is prefetched once. */
static void open_and_close(void **state)
{
	(void)state;
	opening_close(&opening, 1, IDLE);
	assert_false(see("a", 100, 0, 0, 2));
	assert_false(see("a", 100, 20, 0, 3));
	assert_true(see("a", 100, 30, 10, 4));
	assert_false(see("a", 100, 40, 20, 5));
	opening_close(&opening, 13, IDLE);
	assert_int_equal(opening.open_bytes, 100);
	/* A hit at 14 s keeps the shard open until 24 s. */
	assert_false(see("a", 100, 50, 20, 14));
	assert_false(see("a", 100, 50, 20, 22));
	opening_close(&opening, 23, IDLE);
	assert_int_equal(opening.open_bytes, 100);
	assert_false(see("a", 100, 50, 20, 24));
	opening_close(&opening, 24, IDLE);
	assert_int_equal(opening.open_bytes, 0);
	assert_true(see("a", 150, 60, 21, 25));
	assert_int_equal(opening.open_bytes, 150);
	opening_free(&opening);
}

/* Open shards may have ROOM bytes together: ten of 20 shards fit, the other ten stay closed. */
static void room(void **state)
{
	char name[16];
	unsigned int i;

	(void)state;
	opening_close(&opening, 1, IDLE);
	for (i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "label %u", i);
		assert_int_equal(see(name, 100, 1, 1, 2), i < 10);
	}
	assert_int_equal(opening.open_bytes, ROOM);
	opening_close(&opening, 13, IDLE);
	assert_int_equal(opening.open_bytes, 0);
	assert_false(see("label 15", 100, 1, 1, 14));
	assert_true(see("label 15", 100, 2, 2, 14));
	assert_false(see("large", ROOM, 1, 1, 14));
	opening_free(&opening);
}

/* Take a sample: so far @used MiB were prefetched and then read, @wasted MiB dropped unread. */
static void see_prefetched(uint64_t used, uint64_t wasted)
{
	struct nl_label label = { .name = "p", .bytes = ROOM };

	label.counter[NEARCACHE_LABEL_PREFETCHED_USED_BYTES] = used << 20;
	label.counter[NEARCACHE_LABEL_PREFETCHED_WASTED_BYTES] = wasted << 20;
	opening_see(&opening, &label, 1, 0);
}

static void waste(void **state)
{
	(void)state;
	/* Bytes wasted before the first sample do not count. */
	see_prefetched(0, 100);
	opening_close(&opening, 1, IDLE);
	assert_false(opening_is_wasteful(&opening));
	/* 15 wasted MiB are too few to warn; 16 are enough, and the warning comes once. */
	see_prefetched(0, 115);
	assert_false(opening_is_wasteful(&opening));
	see_prefetched(0, 116);
	assert_true(opening_is_wasteful(&opening));
	assert_false(opening_is_wasteful(&opening));
	/* Since that warning 50 MiB used, 50 wasted: no warning.  With 51 MiB wasted: a warning. */
	see_prefetched(50, 166);
	assert_false(opening_is_wasteful(&opening));
	see_prefetched(50, 167);
	assert_true(opening_is_wasteful(&opening));
	/* The counters restarted from 0: no warning. */
	see_prefetched(0, 40);
	assert_false(opening_is_wasteful(&opening));
	opening_free(&opening);
}

/* After opening_shut(, false) the next miss opens the shard.  After opening_shut(, true) the shard
 * stays closed while it is read.  opening_close() forgets a label that no longer exists.
 */
static void shut(void **state)
{
	(void)state;
	opening_close(&opening, 1, IDLE);
	assert_true(see("a", 100, 1, 1, 2));
	opening_shut(&opening, "a", false);
	assert_int_equal(opening.open_bytes, 0);
	assert_true(see("a", 100, 2, 2, 3));
	opening_shut(&opening, "a", true);
	opening_shut(&opening, "never seen", true);
	assert_int_equal(opening.open_bytes, 0);
	assert_false(see("a", 100, 3, 3, 4));
	assert_true(see("b", 200, 3, 3, 4));
	opening_close(&opening, 4, IDLE);
	assert_int_equal(opening.open_bytes, 200);
	assert_false(see("a", 100, 3, 3, 5));
	opening_close(&opening, 5, IDLE);
	assert_int_equal(opening.open_bytes, 0);
	assert_true(see("b", 200, 1, 1, 6));
	opening_free(&opening);
}

/* After the device was reopened, its counters restart: the second sample can open a shard. */
static void counted_anew(void **state)
{
	(void)state;
	opening_close(&opening, 1, IDLE);
	assert_true(see("a", 100, 500, 500, 2));
	opening_close(&opening, 20, IDLE);
	assert_false(see("a", 100, 7, 7, 21));
	assert_true(see("a", 100, 8, 8, 22));
	opening_free(&opening);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_look),
		cmocka_unit_test(open_and_close),
		cmocka_unit_test(room),
		cmocka_unit_test(waste),
		cmocka_unit_test(shut),
		cmocka_unit_test(counted_anew),
	};

	return RUN(tests);
}
