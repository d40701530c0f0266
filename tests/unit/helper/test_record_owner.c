// SPDX-License-Identifier: GPL-2.0-only
/* pins/record_owner.c: the record of a name is restored only on the device that it belongs to. */
#include <unistd.h>

#include "restore_unit.h"

/* The record of name "nc" is restored only if its owner may be the present device "nc". */
static void foreign(void **state)
{
	struct dm_device dev;
	struct pins pins;

	(void)state;
	record(4 * K);
	/* The origin's id is unknown, so another cache means another owner. */
	assert_true(restored_of(DM_UUID_PREFIX "u1", ""));
	own();
	assert_false(restored_of(DM_UUID_PREFIX "u2", ""));
	/* A record without an owner is accepted, and gets an owner when it is written. */
	record(4 * K);
	assert_true(restored_of(DM_UUID_PREFIX "u1", "wwid:eui.1"));
	own();
	assert_true(restored_of(DM_UUID_PREFIX "u1", "wwid:eui.1"));
	/* Restored: another cache of the same origin, or another path to the origin. */
	assert_true(restored_of(DM_UUID_PREFIX "u2", "wwid:eui.1"));
	assert_true(restored_of(DM_UUID_PREFIX "u1", "serial:7"));
	assert_true(restored_of(DM_UUID_PREFIX "u1", ""));
	/* Not restored: cache and origin both differ, or the origin is certainly another volume. */
	assert_false(restored_of(DM_UUID_PREFIX "u2", "serial:7"));
	assert_false(restored_of(DM_UUID_PREFIX "u2", ""));
	assert_false(restored_of(DM_UUID_PREFIX "u1", "wwid:eui.2"));
	assert_int_equal(fake_nl.changes + fake_nl.jobs, 0);
	assert_int_equal(dm_need_ours("nc", &dev), 0);
	assert_int_equal(record_open(&pins, &dev), 0);
	assert_int_equal(record_require(&pins, &dev), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "'" RECORD "' belongs to another 'nc', with cache 'u1' and origin 'wwid:eui.1'"));
	assert_non_null(strstr(fail_message(), "'nearcache pin nc --refresh'"));
	fail_reset();
	/* Saving the record does not change its owner; record_adopt() does. */
	assert_int_equal(pins_save(&pins, "nc"), 0);
	assert_false(restored_of(DM_UUID_PREFIX "u1", "wwid:eui.2"));
	record_adopt(&pins, &dev);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
	dm_device_free(&dev);
	assert_true(restored_of(DM_UUID_PREFIX "u1", "wwid:eui.2"));
}

/* Cache u2 was attached in place of cache u1: the record belongs to both caches. */
static void attached(void **state)
{
	(void)state;
	record(4 * K);
	assert_true(restored_of(DM_UUID_PREFIX "u1", ""));
	restore("nc", "u2", &restored);
	assert_true(restored_of(DM_UUID_PREFIX "u1", ""));
	/* own() writes the record while u2 is attached: now the record names u1 and u2. */
	own();
	assert_true(restored_of(DM_UUID_PREFIX "u2", ""));
	assert_true(restored_of(DM_UUID_PREFIX "u1", ""));
	assert_false(restored_of(DM_UUID_PREFIX "u3", ""));
	/* After u1 is attached again, the record does not belong to u2. */
	fake.uuid = DM_UUID_PREFIX "u1";
	restore("nc", "", &restored);
	assert_false(restored_of(DM_UUID_PREFIX "u2", ""));
	/* After the device is opened with u2, the record does not belong to u1. */
	fake.uuid = DM_UUID_PREFIX "u1";
	restore("nc", "u2", &restored);
	fake.uuid = DM_UUID_PREFIX "u2";
	own();
	assert_false(restored_of(DM_UUID_PREFIX "u1", ""));
	assert_true(restored_of(DM_UUID_PREFIX "u2", ""));
}

/* Destroying a cache removes the record if it names this cache, as first or second one. */
static void forgotten(void **state)
{
	(void)state;
	record(4 * K);
	assert_true(restored_of(DM_UUID_PREFIX "u1", ""));
	restore("nc", "u2", &restored);
	assert_int_equal(record_forget("nc", "u3"), 0);
	assert_true(restored_of(DM_UUID_PREFIX "u1", ""));
	assert_int_equal(record_forget("nc", "u2"), 0);
	assert_false(restored_of(DM_UUID_PREFIX "u1", ""));
	assert_int_equal(access(RECORD, F_OK), -1);
	record(4 * K);
	own();
	assert_int_equal(record_forget("nc", "u1"), 0);
	assert_int_equal(access(RECORD, F_OK), -1);
	/* A record without an owner belongs to any cache. */
	record(4 * K);
	assert_int_equal(record_forget("nc", "u3"), 0);
	assert_int_equal(access(RECORD, F_OK), -1);
	assert_int_equal(record_forget("nc", "u3"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESTORE_TEST(foreign),
		RESTORE_TEST(attached),
		RESTORE_TEST(forgotten),
	};

	return RESTORE_RUN(tests);
}
