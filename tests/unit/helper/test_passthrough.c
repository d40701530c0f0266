// SPDX-License-Identifier: GPL-2.0-only
/* open/passthrough.c: a device without its cache; the gap is recorded before anybody can write. */
#include <stdio.h>

#include "open/lvm_filter.h"
#include "open/activate.h"
#include "lib/error.h"
#include "fake_gaps.h"
#include "open/origin_users.h"
#include "open/passthrough.h"
#include "block/dm_remove.h"
#include "unit.h"

static struct device origin;
static bool name_taken, in_use, shared, no_record, no_start;
/* Calls in order: 'l' activate_check_free ('L' with the lock), 'c' neighbour_check, 'g' gaps_begin
 * ('G' with a uuid), '?' gaps_check, 'a' dm_activate.
 */
static char order[16];
static struct dm_line started;
static char started_params[64], started_uuid[160];

dev_t lvm_filter_lower(dev_t device)
{
	return device;
}

void lvm_filter_notify(dev_t origin)
{
	(void)origin;
}

static void did(char what)
{
	order[strlen(order)] = what;
}

int activate_check_name(const char *name)
{
	assert_string_equal(name, "nc");
	return name_taken ? (fail)(CODE_BUSY, "exists") : 0;
}

int activate_check_free(const struct device *dev)
{
	assert_ptr_equal(dev, &origin);
	did(fake_gaps.locked ? 'L' : 'l');
	return in_use ? (fail)(CODE_BUSY, "in use") : 0;
}

int neighbour_check(const struct device *dev, enum nearcache_mode mode,
		    const char *self)
{
	(void)dev;
	(void)self;
	did('c');
	return shared && mode_writes(mode) ? (fail)(CODE_BUSY, "shared") : 0;
}

int gaps_begin(const char *name, const char *id, const u8 *cache)
{
	assert_string_equal(name, "nc");
	assert_string_equal(id, "wwid:eui.a");
	did(cache ? 'G' : 'g');
	return no_record ? (fail)(CODE_DEVICE, "tmpfs") : 0;
}

int gaps_check(void)
{
	did('?');
	return no_record ? (fail)(CODE_DEVICE, "tmpfs") : 0;
}

int dm_activate(const char *name, const char *uuid, const struct dm_line *line)
{
	(void)name;
	did('a');
	started = *line;
	snprintf(started_params, sizeof(started_params), "%s", line->params);
	snprintf(started_uuid, sizeof(started_uuid), "%s", uuid);
	return no_start ? (fail)(CODE_DEVICE, "refused") : 0;
}

int stop(const struct dm_device *dev)
{
	(void)dev;
	return 0;
}

int stop_check(const struct dm_device *dev)
{
	(void)dev;
	return (fail)(CODE_BUSY, "open");
}

static int start(enum nearcache_mode mode, const u8 *cache, bool dry_run)
{
	struct passthrough pass = {
		.name = "nc",
		.origin = &origin,
		.mode = mode,
		.cache = cache,
		.why = "WHY",
	};

	memset(order, 0, sizeof(order));
	memset(&fake_gaps, 0, sizeof(fake_gaps));
	memset(&started, 0, sizeof(started));
	fail_reset();
	return passthrough_start(&pass, dry_run);
}

static int reset(void **state)
{
	(void)state;
	origin = (struct device){ .fd = -1, .number = 0x810, .size = 1 << 20,
				  .id = "wwid:eui.a", .path = "/dev/o" };
	name_taken = in_use = shared = no_record = no_start = false;
	return 0;
}

static void ordered(void **state)
{
	static const u8 uuid[16];

	(void)state;
	/* The gap is recorded under the lock, before the device exists. */
	assert_int_equal(start(NEARCACHE_WRITEAROUND, NULL, false), 0);
	assert_string_equal(order, "Lcga");
	assert_string_equal(started.target, "linear");
	assert_string_equal(started_params, "8:16 0");
	assert_string_equal(started_uuid, "nearcache-passthrough-nc");
	assert_int_equal(started.bytes, 1 << 20);
	assert_false(started.read_only);
	assert_int_equal(start(NEARCACHE_WRITETHROUGH, uuid, false), 0);
	assert_string_equal(order, "LcGa");
	/* No gap is recorded: no program can write to a read-only device. */
	assert_int_equal(start(NEARCACHE_READ_ONLY, NULL, false), 0);
	assert_string_equal(order, "Lca");
	assert_true(started.read_only);
	origin.read_only = true;
	assert_int_equal(start(NEARCACHE_WRITEAROUND, NULL, false), 0);
	assert_string_equal(order, "Lca");
	assert_true(started.read_only);
	reset(NULL);
	assert_int_equal(start(NEARCACHE_WRITEAROUND, NULL, true), 0);
	assert_string_equal(order, "lc?");
}

static void not_recorded(void **state)
{
	(void)state;
	no_record = true;
	assert_int_equal(start(NEARCACHE_WRITEAROUND, NULL, false), 0);
	assert_string_equal(order, "Lcga");
	assert_true(started.read_only);
}

static void refused(void **state)
{
	static bool *const wrong[] = { &name_taken, &in_use, &shared };
	unsigned int i;

	(void)state;
	for (i = 0; i < 6; i++) {
		reset(NULL);
		*wrong[i / 2] = true;
		assert_int_equal(start(NEARCACHE_WRITEAROUND, NULL, i % 2),
				 CODE_BUSY);
		assert_null(strpbrk(order, "gGa"));
	}
	reset(NULL);
	shared = true;
	assert_int_equal(start(NEARCACHE_READ_ONLY, NULL, false), 0);
	no_start = true;
	assert_int_equal(start(NEARCACHE_READ_ONLY, NULL, false), CODE_DEVICE);
}

static void closed(void **state)
{
	struct dm_device dev = { .name = "nc" };

	(void)state;
	fail_reset();
	assert_int_equal(passthrough_close(&dev, false), 0);
	assert_int_equal(passthrough_close(&dev, true), CODE_BUSY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(ordered, reset),
		cmocka_unit_test_setup(not_recorded, reset),
		cmocka_unit_test_setup(refused, reset),
		cmocka_unit_test_setup(closed, reset),
	};

	return RUN(tests);
}
