// SPDX-License-Identifier: GPL-2.0-only
/* Open shards: a shard is open from its first miss until no one reads it for a while. */
#include <stdio.h>

#include "daemon/open_shards.h"
#include "unit.h"

#define ROOM	1000U
#define IDLE	10U

static struct opening opening;

/* One sample of a label: @read bytes read so far, @missed of them from the origin. */
static bool see(const char *name, uint64_t bytes, uint64_t read, uint64_t missed, uint64_t time)
{
	struct nl_label label = { .name = name, .bytes = bytes };

	label.counter[NEARCACHE_LABEL_MISS_BYTES] = missed;
	label.counter[NEARCACHE_LABEL_HIT_BYTES] = read - missed;
	return opening_see(&opening, &label, time, ROOM);
}

/* Reads before the first sample do not open a shard; new ones do. */
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

/* Hits do not open a shard.  Reads keep it open, and it is prefetched once. */
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
	/* A hit keeps it open. */
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

/* A shard that does not fit stays closed until there is room. */
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

/* One sample of a label: MiB prefetched and read, and MiB prefetched and dropped. */
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
	/* Counters from before the start do not count. */
	see_prefetched(0, 100);
	opening_close(&opening, 1, IDLE);
	assert_false(opening_is_wasteful(&opening));
	/* Too few bytes; then enough; the warning comes once. */
	see_prefetched(0, 115);
	assert_false(opening_is_wasteful(&opening));
	see_prefetched(0, 116);
	assert_true(opening_is_wasteful(&opening));
	assert_false(opening_is_wasteful(&opening));
	/* As many bytes are read as dropped. */
	see_prefetched(50, 166);
	assert_false(opening_is_wasteful(&opening));
	see_prefetched(50, 167);
	assert_true(opening_is_wasteful(&opening));
	/* The counters restarted from 0. */
	see_prefetched(0, 40);
	assert_false(opening_is_wasteful(&opening));
	opening_free(&opening);
}

/* A shard whose prefetch failed is tried again.  A refused shard takes no room while it is read.  A
 * label that no longer exists is forgotten.
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

/* A device that is opened again counts from 0. */
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
