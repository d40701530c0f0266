// SPDX-License-Identifier: GPL-2.0-only
/* 'attach' on a fake device: the live table, and the records of the cache device. */
#include <stdio.h>

#include "attach_unit.h"
#include "fake_remembered.h"

/* In the dm table only the cache device changes; options and size stay. */
static void attached(void **state)
{
	(void)state;
	reset(OLD);
	assert_int_equal(attach(NULL, OPTION_DRY_RUN), 0);
	assert_int_equal(fake.loads, 0);
	assert_int_equal(attach(NULL, 0), 0);
	assert_int_equal(fake.loads, 1);
	assert_string_equal(fake.live.params, OLD);
	reset(OLD);
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_string_equal(fake.live.params, NEW);
	assert_int_equal(fake.live.bytes, FAKE_BYTES);
}

/* 'attach' restores the pins for the cache, but not when it reconnects the origin. */
static void pinned(void **state)
{
	(void)state;
	reset(OLD);
	fake_attach.pinned_for = NULL;
	assert_int_equal(attach(NULL, OPTION_DRY_RUN), 0);
	assert_null(fake_attach.pinned_for);
	assert_int_equal(attach(NULL, 0), 0);
	assert_string_equal(fake_attach.pinned_for, "");
	reset(OLD);
	fake_attach.other_cache = true;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_string_equal(fake_attach.pinned_for, "00000000-0000-0000-0000-000000000001");
	reset(OLD);
	assert_int_equal(attach("/dev/sdc", OPTION_FORMAT), 0);
	assert_string_equal(fake_attach.pinned_for, "00000000-0000-0000-0000-000000000000");
	reset(OLD);
	fake_attach.pinned_for = "?";
	fake_attach.origin_gone = true;
	assert_int_equal(attach(NULL, 0), 0);
	assert_null(fake_attach.pinned_for);
}

/* The next open uses the cache that was attached: it gets the settings of the device. */
static void remembered(void **state)
{
	static const char *const zeros = "00000000-0000-0000-0000-000000000000";
	char expected[128];

	(void)state;
	reset(OLD);
	*fake_remembered = '\0';
	assert_int_equal(attach(NULL, OPTION_DRY_RUN), 0);
	assert_string_equal(fake_remembered, "");
	fake_attach.other_cache = true;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	snprintf(expected, sizeof(expected), "%s attached 00000000-0000-0000-0000-000000000001;", zeros);
	assert_string_equal(fake_remembered, expected);
}

/* After a gap 'attach' empties the stale cache.  With --format-cache the cache is new: end the gap. */
static void after_gap(void **state)
{
	(void)state;
	reset(OLD);
	assert_int_equal(attach(NULL, 0), 0);
	assert_false(fake_attach.emptied || fake_gaps.ended);
	reset(OLD);
	fake_attach.gap = true;
	assert_int_equal(attach(NULL, 0), 0);
	assert_true(fake_attach.emptied);
	reset(OLD);
	assert_int_equal(attach("/dev/sdc", OPTION_FORMAT), 0);
	assert_true(fake_gaps.ended);
}

/* The origin changed: 'attach' empties the cache of "nc", another cache only with --on-change. */
static void dropped(void **state)
{
	(void)state;
	reset(OLD);
	fake_attach.wrong_origin = true;
	assert_int_equal(attach(NULL, OPTION_DRY_RUN), 0);
	assert_false(fake_attach.recorded);
	assert_int_equal(attach(NULL, 0), 0);
	assert_true(fake_attach.recorded && fake_attach.held);
	reset(OLD);
	fake_attach.wrong_origin = true;
	fake_attach.on_change = ON_CHANGE_REFUSE;
	assert_int_equal(attach(NULL, 0), CODE_DEVICE);
	reset(OLD);
	fake_attach.wrong_origin = fake_attach.other_cache = true;
	fake_attach.on_change = ON_CHANGE_DROP;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_true(fake_attach.recorded && !fake_attach.held);
	/* A writing mode: the other cache may lack writes, so ON_CHANGE_DROP empties it. */
	reset(WRITING);
	fake_attach.used = fake_attach.other_cache = true;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_true(fake_attach.recorded && !fake_attach.held);
	fake_attach.on_change = ON_CHANGE_TRUST;
	assert_int_equal(attach("/dev/sdc", 0), CODE_USAGE);
	fake_attach.on_change = ON_CHANGE_DEFAULT;
}

/*
 * In a writing mode the kernel may not start the table for the new cache device: then the file
 * system must have written its dirty data already.
 */
static void suspends(void **state)
{
	(void)state;
	reset(WRITING);
	fake.state = NEARCACHE_BYPASS;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_int_equal(fake.suspend, DM_SUSPEND_FREEZE);
	/* Another cache device needs the freeze whatever the state is, the same one in bypass. */
	reset(WRITING);
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_int_equal(fake.suspend, DM_SUSPEND_FREEZE);
	reset(WRITING);
	fake.state = NEARCACHE_BYPASS;
	assert_int_equal(attach(NULL, 0), 0);
	assert_int_equal(fake.suspend, DM_SUSPEND_FREEZE);
	reset(OLD);
	fake.state = NEARCACHE_BYPASS;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_int_equal(fake.suspend, DM_SUSPEND_DRAIN);
}

/* 'attach' without --cache reconnects the origin if that is missing, or with --origin. */
static void which(void **state)
{
	(void)state;
	reset(OLD);
	assert_int_equal(attach(NULL, OPTION_ORIGIN), 0);
	assert_true(fake_attach.reconnected);
	assert_int_equal(attach("/dev/sdc", OPTION_ORIGIN), CODE_USAGE);
	reset(OLD);
	fake_attach.origin_gone = true;
	assert_int_equal(attach(NULL, 0), 0);
	assert_true(fake_attach.reconnected);
	assert_int_equal(fake.loads, 0);
	reset(OLD);
	fake_attach.origin_gone = true;
	assert_int_equal(attach("/dev/sdc", 0), CODE_DEVICE);
	assert_said("'nearcache attach nc --origin DEV', then repeat this command");
}

static void formatted(void **state)
{
	(void)state;
	reset(WRITING);
	/* --format-cache accepts a cache device whose content would be refused without --format-cache. */
	fake_attach.used = fake_attach.wrong_origin = true;
	assert_int_equal(attach("/dev/sdc", OPTION_FORMAT | OPTION_DRY_RUN), 0);
	assert_false(fake_attach.areas_written);
	assert_int_equal(attach("/dev/sdc", OPTION_FORMAT), 0);
	assert_true(fake_attach.super_written);
	assert_string_equal(fake.live.params, "writethrough 8:0 8:32");
	reset(WRITING);
	fake_attach.busy = true;
	assert_int_equal(attach("/dev/sdc", OPTION_FORMAT), CODE_BUSY);
	assert_false(fake_attach.areas_written);
	reset(WRITING);
	fake.start[0] = FAKE_REFUSES;
	assert_int_equal(attach("/dev/sdc", OPTION_FORMAT), CODE_DEVICE);
	assert_said("goes on as before");
	assert_said("formatted already");
	assert_string_equal(fake.live.params, WRITING);
}

/* 'attach' claims a record on the dm table's witness.  Another cache's superblock gets its path. */
static void witnessed(void **state)
{
	(void)state;
	reset(WRITING WITNESS);
	assert_int_equal(attach(NULL, OPTION_DRY_RUN), 0);
	assert_false(fake_attach.claimed);
	assert_int_equal(attach(NULL, 0), 0);
	assert_true(fake_attach.claimed && !fake_attach.recorded);
	assert_string_equal(fake.live.params, WRITING WITNESS);
	reset(WRITING WITNESS);
	fake_attach.other_cache = true;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_true(fake_attach.claimed && fake_attach.recorded);
	assert_string_equal(fake_attach.path_recorded, "/dev/mapper/w");
	reset(WRITING WITNESS);
	assert_int_equal(attach("/dev/sdc", OPTION_FORMAT), 0);
	assert_true(fake_attach.claimed && fake_attach.super_written);
	/* A dm table without a witness: no record is claimed. */
	reset(WRITING);
	fake_attach.other_cache = true;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_false(fake_attach.claimed || fake_attach.recorded);
	/* The cache had moved to another witness and comes back: it gets a new session number. */
	reset(WRITING WITNESS);
	fake_attach.has_record = fake_attach.has_moved = true;
	assert_int_equal(attach(NULL, 0), 0);
	assert_true(fake_attach.claimed && fake_attach.recorded && !fake_attach.emptied);
	assert_int_equal(fake_attach.claimed_session, 12);
}

/* The superblock's witness knows a later session, so 'attach' empties the cache: an old copy. */
static void witness_superseded(void **state)
{
	static const char *const table[] = { WRITING, WRITING WITNESS };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		reset(table[i]);
		fake_attach.other_cache = fake_attach.superseded = true;
		assert_int_equal(attach("/dev/sdc", 0), 0);
		assert_true(fake_attach.recorded && fake_attach.emptied);
	}
	reset(WRITING WITNESS);
	fake_attach.named = "/dev/mapper/w";
	fake_attach.has_record = fake_attach.has_moved = fake_attach.superseded = true;
	assert_int_equal(attach(NULL, 0), 0);
	assert_true(fake_attach.recorded && fake_attach.emptied && fake_attach.claimed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attached),
		cmocka_unit_test(pinned),
		cmocka_unit_test(remembered),
		cmocka_unit_test(after_gap),
		cmocka_unit_test(dropped),
		cmocka_unit_test(suspends),
		cmocka_unit_test(which),
		cmocka_unit_test(formatted),
		cmocka_unit_test(witnessed),
		cmocka_unit_test(witness_superseded),
	};

	return RUN(tests);
}
