// SPDX-License-Identifier: GPL-2.0-only
/* pins/restore.c: recorded pins are set again after an open, and for another cache device. */
#include <sys/stat.h>
#include <unistd.h>

#include "restore_unit.h"

static void opened(void **state)
{
	(void)state;
	restore("nc", NULL, &restored);
	assert_int_equal(restored.pins + fake_nl.changes + fake_nl.jobs, 0);
	record(4 * K);
	restore("nc", NULL, &restored);
	assert_int_equal(restored.pins, 2);
	assert_int_equal(restored.job, 1);
	assert_int_equal(fake_nl.count, 2);
	assert_int_equal(fake_nl.changes, 1);
	assert_int_equal(fake_nl.pieces, 2);
}

/* The kernel still has all pins: only a prefetch job starts, as the data may not be cached. */
static void followed(void **state)
{
	(void)state;
	record(4 * K);
	fake_nl_give(0, 4 * K, "l", PIN);
	fake_nl_give(64 * K, 4 * K, "l", PIN);
	restore("nc", NULL, &restored);
	assert_int_equal(fake_nl.changes, 0);
	assert_int_equal(fake_nl.count, 2);
	assert_int_equal(restored.job, 1);
	assert_int_equal(fake_nl.pieces, 2);
}

/* The kernel has the ranges without PIN, as the old cache was too small: restore() pins them. */
static void stripped(void **state)
{
	(void)state;
	record(8 * K);
	fake_nl_give(0, 4 * K, "l", 0);
	fake_nl_give(64 * K, 8 * K, "l", 0);
	restore("nc", NULL, &restored);
	assert_int_equal(fake_nl.count, 2);
	assert_int_equal(fake_nl_count(0, 4 * K, "l", PIN), 1);
	assert_int_equal(fake_nl_count(64 * K, 8 * K, "l", PIN), 1);
	assert_int_equal(fake_nl.pieces, 2);
}

/* restore() sets the pins that fit.  The ranges of the other pins are only prefetched. */
static void little_room(void **state)
{
	(void)state;
	record(8 * K);
	fake_nl_give(0, 4 * K, "l", 0);
	fake_nl_give(64 * K, 8 * K, "l", 0);
	fake_nl.available = 6 * K;
	restore("nc", NULL, &restored);
	assert_int_equal(restored.pins, 1);
	assert_int_equal(fake_nl.count, 1);
	assert_int_equal(fake_nl_count(0, 4 * K, "l", PIN), 1);
	assert_int_equal(fake_nl.pieces, 2);
}

/* The kernel refuses the request: nothing is pinned, and nothing else is reported. */
static void refused(void **state)
{
	(void)state;
	record(4 * K);
	fake_nl.fail_change = 1;
	restore("nc", NULL, &restored);
	assert_int_equal(fake_nl.count, 0);
	assert_int_equal(restored.pins, 0);
	assert_int_equal(fail_code(), 0);
}

/* A file has moved.  Its new place is pinned only if the device is open, as when mounted. */
static void moved(void **state)
{
	struct pins pins;

	(void)state;
	record(4 * K);
	fake_restore.place = 128 * K;
	restore("nc", NULL, &restored);
	assert_int_equal(restored.moved, 0);
	assert_int_equal(fake_nl_count(0, 4 * K, "l", PIN), 1);
	fake.opens = 1;
	/* Files are not looked up while the kernel has pins. */
	restore("nc", NULL, &restored);
	assert_int_equal(restored.moved, 0);
	fake_nl_reset(FAKE_BYTES);
	restore("nc", NULL, &restored);
	assert_int_equal(restored.moved, 1);
	assert_int_equal(restored.pins, 2);
	assert_int_equal(fake_nl.count, 2);
	assert_int_equal(fake_nl_count(128 * K, 4 * K, "l", PIN), 1);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(pins.pin[0].range[0].start, 128 * K);
	pins_free(&pins);
}

/* The kernel's ranges cannot be listed after the change: only their number is unknown. */
static void not_counted(void **state)
{
	(void)state;
	record(4 * K);
	fake_nl.interrupts = 16;
	restore("nc", NULL, &restored);
	assert_int_equal(restored.pins, 0);
	assert_int_equal(fake_nl.count, 2);
	assert_int_equal(restored.job, 1);
}

/* The origin has shrunk.  The part of a pin inside the origin is pinned; the record stays whole. */
static void shrunk(void **state)
{
	struct dm_device dev = { .name = "nc", .size = 66 * K };
	struct pins pins;
	struct change change = { .dev = &dev, .pins = &pins };

	(void)state;
	record(4 * K);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	want(&pins, NULL, 128 * K, 4 * K);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
	fake_nl_reset(dev.size);
	fake.live.bytes = dev.size;
	restore("nc", NULL, &restored);
	assert_int_equal(restored.pins, 2);
	assert_int_equal(fake_nl.count, 2);
	assert_int_equal(fake_nl_count(64 * K, 2 * K, "l", PIN), 1);
	assert_int_equal(fake_nl.pieces, 2);
	assert_int_equal(fake_nl.piece[1].length, 2 * K);
	/* Restoring again changes nothing. */
	fake_nl.changes = 0;
	restore("nc", NULL, &restored);
	assert_int_equal(fake_nl.changes, 0);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	pins.size = dev.size;
	pins.pin[1].dropped = pins.pin[2].dropped = true;
	assert_int_equal(change_both(&change), 0);
	assert_int_equal(change.deleted, 1);
	assert_int_equal(fake_nl.count, 1);
	pins_free(&pins);
}

/* A warning must name the step that failed and no other. */
static void told(void **state)
{
	(void)state;
	*fake_restore.warning = '\0';
	record(4 * K);
	restore("nc", NULL, &restored);
	assert_string_equal(fake_restore.warning, "");
	/* The pins are set; the warning is about the missing prefetch. */
	fake_nl.no_jobs = true;
	restore("nc", "u2", &restored);
	assert_int_equal(restored.job, 0);
	assert_int_equal(fake_nl.count, 2);
	assert_string_equal(fake_restore.warning, "the pins of 'nc' are not prefetched, only cached when they are read: NO JOBS");
	/* Despite the warning the record was written, and names u2. */
	assert_true(restored_of(DM_UUID_PREFIX "u2", ""));
	fake.uuid = DM_UUID_PREFIX "u1";
	assert_int_equal(mkdir(RECORD ".new", 0700), 0);
	restore("nc", "u3", &restored);
	assert_int_equal(rmdir(RECORD ".new"), 0);
	assert_int_equal(restored.job, 2);
	assert_int_equal(fake_nl.count, 2);
	assert_non_null(strstr(fake_restore.warning, "the pins of 'nc' could not be recorded, the old record remains: cannot write '" RECORD ".new'"));
	/* A damaged record: no pins are set. */
	fake_nl_reset(FAKE_BYTES);
	assert_int_equal(truncate(RECORD, 9), 0);
	restore("nc", NULL, &restored);
	assert_int_equal(fake_nl.count, 0);
	assert_non_null(strstr(fake_restore.warning, "the pins of 'nc' could not be restored: the record of pins '" RECORD "' is damaged"));
	assert_int_equal(fail_code(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESTORE_TEST(opened),
		RESTORE_TEST(followed),
		RESTORE_TEST(stripped),
		RESTORE_TEST(little_room),
		RESTORE_TEST(refused),
		RESTORE_TEST(moved),
		RESTORE_TEST(not_counted),
		RESTORE_TEST(shrunk),
		RESTORE_TEST(told),
	};

	return RESTORE_RUN(tests);
}
