// SPDX-License-Identifier: GPL-2.0-only
/* Changes of pins (pins/change.c): both the fake kernel and the record change, or neither does. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pins/change.h"
#include "lib/error.h"
#include "fake_nl.h"
#include "pins/pin_list.h"
#include "unit.h"

#define K	1024ULL
#define SIZE	(1024 * K)
#define PIN	NEARCACHE_RANGE_PIN
#define RECORD	PINS_DIR "/nc.json"

static struct dm_device dev = { .name = "nc", .size = SIZE };
static struct pins pins;

static struct pin *want(struct pins *to, const char *path, const char *label,
			uint64_t start, uint64_t length)
{
	struct pin like = { .label = (char *)label, .flags = PIN };
	struct range range = { start, length };
	struct shard shard = { .range = &range, .ranges = 1 };
	struct pin *pin = pins_append(to, &like, path);

	assert_non_null(pin);
	assert_int_equal(pin_place(pin, &shard), 0);
	return pin;
}

/* Add a pin that is in the record and in the kernel. */
static struct pin *have(const char *path, const char *label, uint64_t start,
			uint64_t length)
{
	struct pin *pin = want(&pins, path, label, start, length);

	pin->fresh = false;
	pin->number = pins.count;
	fake_nl_give(start, length, label, PIN);
	return pin;
}

static int setup(void **state)
{
	(void)state;
	fake_nl_reset(SIZE);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pins_free(&pins);
	rmdir(RECORD "/x");
	rmdir(RECORD);
	unlink(RECORD);
	rmdir(PINS_DIR);
	unlink(PINS_DIR);
	return 0;
}

static int apply(uint64_t *deleted)
{
	struct change change = { .dev = &dev, .pins = &pins };

	change_both(&change);
	if (deleted)
		*deleted = change.deleted;
	return fail_code();
}

/* Removing a pin keeps other pins of the same label that lie inside its range. */
static void others_stay(void **state)
{
	uint64_t deleted;

	(void)state;
	have("/d/a", "l", 0, 64 * K)->dropped = true;
	have("/d/a", "l", 4 * K, 4 * K)->index_only = true;
	/* Two pins share one range.  Only one of the two is dropped, so the range stays pinned. */
	have("/d/b", "l", 128 * K, 4 * K)->dropped = true;
	want(&pins, "/d/b", "l", 128 * K, 4 * K)->index_only = true;
	pins.pin[pins.count - 1].fresh = false;
	have("/d/c", "other", 8 * K, 4 * K);
	/* A pin that is only in the record, as the cache had no room.  It is not set now. */
	want(&pins, "/d/e", "l", 16 * K, 4 * K)->fresh = false;
	assert_int_equal(apply(&deleted), 0);
	assert_int_equal(deleted, 1);
	assert_int_equal(fake_nl.count, 3);
	assert_int_equal(fake_nl_count(4 * K, 4 * K, "l", PIN), 1);
	assert_int_equal(fake_nl_count(128 * K, 4 * K, "l", PIN), 1);
	assert_int_equal(fake_nl_count(8 * K, 4 * K, "other", PIN), 1);
}

/* A pin whose settings change stays pinned all the time. */
static void never_unpinned(void **state)
{
	struct pins added = { 0 };

	(void)state;
	have("/d/a", "l", 0, 64 * K);
	want(&added, "/d/a", "l", 0, 64 * K)->priority = 3;
	assert_int_equal(pins_replace(&pins, &added), 0);
	pins_free(&added);
	fake_nl.watch = (struct range){ 0, 64 * K };
	assert_int_equal(apply(NULL), 0);
	assert_int_equal(fake_nl.unpinned, 0);
	/* The range with the new priority has replaced the old one. */
	assert_int_equal(fake_nl.count, 1);
	assert_int_equal(fake_nl.range[0].priority, 3);
	assert_int_equal(fake_nl.range[0].expires, 0);
}

/* A file moved.  As there is room for one range only, one request deletes the old, adds the new. */
static void room_for_one(void **state)
{
	(void)state;
	have("/d/a", "l", 0, 64 * K)->dropped = true;
	want(&pins, "/d/a", "l", 128 * K, 64 * K);
	fake_nl.available = 64 * K;
	assert_int_equal(apply(NULL), 0);
	assert_int_equal(fake_nl.count, 1);
	assert_int_equal(fake_nl_count(128 * K, 64 * K, "l", PIN), 1);
}

static void as_before(void)
{
	assert_int_equal(fake_nl.count, 5);
	assert_int_equal(fake_nl_count(0, 4 * K, "l", PIN), 1);
	assert_int_equal(fake_nl_count(8 * K, 4 * K, "l", PIN), 1);
	assert_int_equal(fake_nl_count(16 * K, 4 * K, "l", PIN), 1);
	assert_int_equal(fake_nl_count(24 * K, 4 * K, "l", PIN), 1);
	assert_int_equal(fake_nl_count(17 * K, K, "l", PIN), 1);
}

static void fill(void)
{
	have("/d/a", "l", 0, 4 * K)->dropped = true;
	have("/d/b", "l", 8 * K, 4 * K)->dropped = true;
	have("/d/c", "l", 16 * K, 4 * K)->dropped = true;
	have("/d/d", "l", 24 * K, 4 * K)->dropped = true;
	have("/d/c", "l", 17 * K, K)->index_only = true;
	want(&pins, "/d/a", "l", 64 * K, 4 * K);
}

static void refused(void **state)
{
	(void)state;
	fill();
	fake_nl.available = 16 * K;
	want(&pins, "/d/x", "l", 128 * K, 64 * K);
	assert_int_equal(apply(NULL), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "of which 16 KiB (16384 bytes) may be pinned"));
	assert_null(strstr(fail_message(), "is not any more"));
	as_before();
	assert_int_equal(access(RECORD ".new", F_OK), -1);
	/* The record has what it had. */
	fail_reset();
	pins_free(&pins);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(pins.count, 5);
}

/* If the kernel refuses the request, neither ranges nor record change. */
static void not_changed(void **state)
{
	(void)state;
	fill();
	fake_nl.fail_change = 1;
	assert_int_equal(apply(NULL), CODE_BUSY);
	assert_string_equal(fail_message(), "BUSY");
	as_before();
	assert_int_equal(access(RECORD ".new", F_OK), -1);
}

/* One request makes the whole change. */
static void one_request(void **state)
{
	(void)state;
	fill();
	assert_int_equal(apply(NULL), 0);
	assert_int_equal(fake_nl.changes, 1);
	assert_int_equal(fake_nl.count, 2);
	assert_int_equal(fake_nl_count(64 * K, 4 * K, "l", PIN), 1);
	assert_int_equal(fake_nl_count(17 * K, K, "l", PIN), 1);
}

/* If the record cannot be written, the kernel does not change. */
static void no_record(void **state)
{
	FILE *file = fopen(PINS_DIR, "w");

	(void)state;
	assert_non_null(file);
	fclose(file);
	fill();
	assert_int_equal(apply(NULL), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), RECORD));
	assert_int_equal(fake_nl.changes, 0);
	as_before();
	fail_reset();
	/* The new record cannot replace a folder in its place. */
	unlink(PINS_DIR);
	assert_int_equal(mkdir(PINS_DIR, 0700), 0);
	assert_int_equal(mkdir(RECORD, 0700), 0);
	assert_int_equal(mkdir(RECORD "/x", 0700), 0);
	have("/d/e", "l", 65 * K, K);
	assert_int_equal(apply(NULL), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), RECORD));
	assert_int_equal(fake_nl_count(65 * K, K, "l", PIN), 1);
	fake_nl_take(65 * K);
	as_before();
	assert_int_equal(access(RECORD ".new", F_OK), -1);
	/* The only pin is dropped.  The record cannot be written, so the range stays. */
	fail_reset();
	pins_free(&pins);
	fake_nl_reset(SIZE);
	have("/d/a", "l", 0, 4 * K)->dropped = true;
	assert_int_equal(apply(NULL), CODE_DEVICE);
	assert_int_equal(fake_nl_count(0, 4 * K, "l", PIN), 1);
	assert_int_equal(fake_nl.count, 1);
}

static void recorded(void **state)
{
	struct pins again;

	(void)state;
	fill();
	assert_int_equal(apply(NULL), 0);
	assert_int_equal(pins_load(&again, "nc"), 0);
	assert_int_equal(again.count, 2);
	assert_int_equal(again.pin[1].range[0].start, 64 * K);
	pins_free(&again);
	assert_int_equal(access(RECORD ".new", F_OK), -1);
}

/* An earlier run set the range and died before it wrote the record: no second range is set. */
static void not_doubled(void **state)
{
	(void)state;
	fake_nl_give(0, 4 * K, "l", PIN);
	have("/d/b", "l", K, K);
	want(&pins, "/d/a", "l", 0, 4 * K);
	assert_int_equal(apply(NULL), 0);
	assert_int_equal(fake_nl.count, 2);
	assert_int_equal(fake_nl_count(K, K, "l", PIN), 1);
}

/* All ranges inside @which are removed, recorded or not; a pin that reaches beyond @which stays. */
static void by_place(void **state)
{
	const struct nl_range which = { .range = { 0, 8 * K } };
	struct change change = { .dev = &dev, .pins = &pins, .which = &which,
				 .count = 1 };
	struct spans spans;

	(void)state;
	have("/d/a", "l", 0, 4 * K);
	have("/d/b", "m", 4 * K, 8 * K);
	fake_nl_give(K, K, "stranger", NEARCACHE_RANGE_BYPASS);
	assert_int_equal(spans_make(&spans, &which, 1), 0);
	pins_drop(&pins, &spans);
	spans_free(&spans);
	assert_int_equal(change_both(&change), 0);
	assert_int_equal(change.deleted, 2);
	assert_int_equal(change.room.needed, 8 * K);
	assert_int_equal(fake_nl.count, 1);
	assert_int_equal(fake_nl_count(4 * K, 8 * K, "m", PIN), 1);
}

/* With @some, pins that do not fit are not set.  If 1 of 1000 does not, 25 requests suffice. */
static void some(void **state)
{
	struct change change = { .dev = &dev, .pins = &pins, .some = true };
	uint64_t i;

	(void)state;
	for (i = 0; i < 1000; i++)
		want(&pins, "/d/a", "l", i * K, i == 100 ? 600 * K : 512);
	fake_nl.available = 1000 * 512;
	assert_int_equal(change_kernel(&change), 0);
	assert_int_equal(fake_nl.count, 999);
	assert_int_equal(fake_nl_count(100 * K, 600 * K, "l", PIN), 0);
	assert_in_range(fake_nl.changes, 1, 25);
	assert_in_range(fake_nl.added, 999, 4000);
}

/* The cache has no room for all pins, so several requests add those that fit.  One request fails:
 * the helper restores the range that an earlier request deleted.
 */
static void some_failed(void **state)
{
	struct change change = { .dev = &dev, .pins = &pins, .some = true };

	(void)state;
	have("/d/a", "l", 0, 4 * K)->dropped = true;
	have("/d/b", "l", 8 * K, 4 * K);
	want(&pins, "/d/c", "l", 16 * K, 4 * K);
	want(&pins, "/d/d", "l", 32 * K, 64 * K);
	fake_nl.available = 12 * K;
	/* Request 1 finds no room, 2 deletes /d/a, 3 finds no room, 4 adds /d/c, 5 fails. */
	fake_nl.fail_change = 5;
	assert_int_equal(change_kernel(&change), CODE_BUSY);
	assert_string_equal(fail_message(), "BUSY");
	assert_int_equal(fake_nl.changes, 6);
	assert_int_equal(fake_nl.count, 2);
	assert_int_equal(fake_nl_count(0, 4 * K, "l", PIN), 1);
	assert_int_equal(fake_nl_count(8 * K, 4 * K, "l", PIN), 1);
}

/*
 * There are more pins than a request may add, and the request for the first half of them fails: the
 * ranges that the request before it deleted are restored.
 */
static void many_failed(void **state)
{
	struct change change = { .dev = &dev, .pins = &pins, .some = true };
	size_t i, count = NEARCACHE_RANGES_MAX + 1;
	struct range *range = calloc(count, sizeof(*range));
	struct shard shard = { .range = range, .ranges = count };

	(void)state;
	assert_non_null(range);
	for (i = 0; i < count; i++)
		range[i] = (struct range){ i % 1024 * K, 512 };
	have("/d/a", "l", 0, 4 * K)->dropped = true;
	assert_int_equal(pin_place(want(&pins, "/d/c", "l", 0, K), &shard), 0);
	free(range);
	/* The kernel counts no request with too many ranges: request 1 deletes, request 2 fails. */
	fake_nl.fail_change = 2;
	assert_int_equal(change_kernel(&change), CODE_BUSY);
	assert_string_equal(fail_message(), "BUSY");
	assert_int_equal(fake_nl.count, 1);
	assert_int_equal(fake_nl_count(0, 4 * K, "l", PIN), 1);
}

/* Undoing a change touches only ranges that the change deleted and ranges inside a new pin. */
static void undo_little(void **state)
{
	struct change change = { .dev = &dev, .pins = &pins, .some = true };
	uint64_t i;

	(void)state;
	for (i = 0; i < 100; i++)
		have("/d/a", "l", i * K, K);
	have("/d/b", "l", 200 * K, K)->dropped = true;
	want(&pins, "/d/c", "l", 50 * K, 2 * K);
	want(&pins, "/d/e", "l", 300 * K, 100 * K);
	/* Request 1 finds no room, 2 deletes /d/b, 3 finds no room, 4 adds /d/c, 5 fails. */
	fake_nl.available = 150 * K;
	fake_nl.fail_change = 5;
	assert_int_equal(change_kernel(&change), CODE_BUSY);
	/* 2 + 2 + 1 + 1, then three to restore: the dropped one and two inside /d/c. */
	assert_int_equal(fake_nl.added, 9);
	assert_int_equal(fake_nl.count, 101);
	assert_int_equal(fake_nl_count(50 * K, K, "l", PIN), 1);
	assert_int_equal(fake_nl_count(51 * K, K, "l", PIN), 1);
	assert_int_equal(fake_nl_count(200 * K, K, "l", PIN), 1);
}

/* A caller may name more places than the kernel accepts ranges in a request. */
static void many_places(void **state)
{
	size_t i, count = NEARCACHE_RANGES_MAX + 1;
	struct nl_range *which = calloc(count, sizeof(*which));
	struct change change = { .dev = &dev, .pins = &pins, .which = which, .count = count };

	(void)state;
	assert_non_null(which);
	for (i = 0; i < count; i++)
		which[i].range = (struct range){ i % 1024 * K, K };
	fake_nl_give(3 * K, K, "l", PIN);
	fake_nl_give(5 * K, 2 * K, "l", PIN);
	assert_int_equal(change_both(&change), 0);
	free(which);
	assert_int_equal(change.deleted, 1);
	assert_int_equal(fake_nl.count, 1);
	assert_int_equal(fake_nl_count(5 * K, 2 * K, "l", PIN), 1);
}

static void interrupted(void **state)
{
	(void)state;
	fill();
	fake_nl.interrupts = 3;
	assert_int_equal(apply(NULL), 0);
	assert_int_equal(fake_nl.count, 2);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(others_stay),
		TEST(never_unpinned),
		TEST(room_for_one),
		TEST(refused),
		TEST(not_changed),
		TEST(one_request),
		TEST(no_record),
		TEST(recorded),
		TEST(not_doubled),
		TEST(by_place),
		TEST(some),
		TEST(some_failed),
		TEST(many_failed),
		TEST(undo_little),
		TEST(many_places),
		TEST(interrupted),
	};
	char folder[] = "/tmp/change.XXXXXX";
	int failed;

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	failed = RUN(tests);
	return rmdir(folder) || failed;
}
