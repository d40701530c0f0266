// SPDX-License-Identifier: GPL-2.0-only
/* upgrade/tables.c: a write that passes by a closed cache, against a fake device-mapper and sysfs. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block/device.h"
#include "block/device_sysfs.h"
#include "block/kmsg.h"
#include "block/table_params.h"
#include "said.h"
#include "upgrade/tables.h"
#include "upgrade/upgrade.h"

#define NUMBER	0xfd00

/* Sectors written through the device; added by the next resume; the kernel counts them. */
static unsigned int written, late;
static bool counts;
/* The live table and the loaded one are linear; the cache has data; the message fails. */
static bool linear, loaded, data, mute;
static const char *sequence;
/* The device is suspended, and how the last resume was asked for. */
static bool suspended;
static enum dm_suspend asked;
static int opens, open_fails;

int __wrap_open(const char *path, int flags, ...)
{
	(void)path;
	assert_true(flags & O_EXCL);
	return ++opens == open_fails ? -1 : dup(STDERR_FILENO);
}

bool identity_attribute(dev_t number, const char *attribute, char *value, size_t size)
{
	(void)number;
	if (!strcmp(attribute, "queue/iostats"))
		snprintf(value, size, "%d", counts);
	else if (!strcmp(attribute, "diskseq"))
		snprintf(value, size, "%s", sequence);
	else
		snprintf(value, size, "1 0 8 0 3 0 %u 0 0 0 0 0 0 0 0 0 0", counts ? written : 0);
	return true;
}

const char *device_path_of(dev_t number, char *path)
{
	(void)number;
	return strcpy(path, "/dev/x");
}

struct kmsg kmsg_mark(dev_t number)
{
	(void)number;
	return (struct kmsg){ 0 };
}

void kmsg_explain(struct kmsg *log, const char *word)
{
	(void)log;
	(void)word;
}

void kmsg_close(struct kmsg *log)
{
	(void)log;
}

int dm_find(const char *name, struct dm_device *dev, bool *found)
{
	(void)name;
	*dev = (struct dm_device){ .number = NUMBER, .uuid = "nearcache-1",
				   .suspended = suspended, .table = linear ? NULL : strdup("t") };
	*found = true;
	return 0;
}

void dm_device_free(struct dm_device *dev)
{
	free(dev->table);
}

int dm_load(const char *name, const struct dm_line *line)
{
	(void)name;
	loaded = line->target;
	return 0;
}

int dm_resume(const char *name, uint32_t ahead, enum dm_suspend suspend)
{
	(void)name;
	(void)ahead;
	asked = suspend;
	assert_true(suspend == DM_SUSPEND_DRAIN || suspended);
	suspended = false;
	linear = loaded;
	written += late;
	late = 0;
	return 0;
}

int dm_clear(const char *name)
{
	(void)name;
	return 0;
}

int dm_message(const struct dm_device *dev, const char *message)
{
	(void)dev;
	assert_string_equal(message, "invalidate all");
	if (mute)
		return (fail)(CODE_DEVICE, "no memory");
	data = false;
	return 0;
}

static struct upgrade_device dev;

static int reset(void **state)
{
	(void)state;
	fail_reset();
	while (dev.claims)
		close(dev.claim[--dev.claims]);
	written = 40;
	late = 0;
	counts = data = true;
	linear = loaded = mute = suspended = false;
	sequence = "5";
	opens = open_fails = 0;
	dev = (struct upgrade_device){ .name = "nc", .uuid = "nearcache-1", .made = "5", .number = NUMBER,
				       .table = "writearound 1:2 3:4 6 witness 1:3 member 3:5 member 3:6",
				       .writes = true, .counted = true, .written = 40 };
	return 0;
}

static void unwritten(void **state)
{
	(void)state;
	assert_int_equal(upgrade_pass(&dev), 0);
	assert_true(linear && dev.passes);
	assert_int_equal(upgrade_back(&dev), 0);
	assert_int_equal(upgrade_verify(&dev), 0);
	assert_true(!linear && !dev.passes && dev.verified && dev.fresh && data);
	assert_int_equal(dev.claims, 0);
}

static void passed_by(void **state)
{
	(void)state;
	assert_int_equal(upgrade_pass(&dev), 0);
	written++;
	assert_int_not_equal(upgrade_back(&dev), 0);
	assert_said("was written to");
	assert_true(linear && dev.lost);
}

/* A kernel that does not count tells nothing: a write may have passed by. */
static void uncounted(void **state)
{
	uint64_t sectors;

	(void)state;
	assert_true(upgrade_written(NUMBER, &sectors));
	assert_true(sectors == 40);
	dev.written = 0;
	counts = false;
	assert_false(upgrade_written(NUMBER, &sectors));
	assert_int_equal(upgrade_pass(&dev), 0);
	assert_int_not_equal(upgrade_back(&dev), 0);
	assert_true(linear && dev.lost);
}

static void passed_by_late(void **state)
{
	(void)state;
	assert_int_equal(upgrade_pass(&dev), 0);
	late = 8;
	assert_int_equal(upgrade_back(&dev), 0);
	assert_int_equal(upgrade_verify(&dev), 0);
	assert_true(!linear && dev.verified && !data);
}

/* The data cannot be dropped: the device goes on without its cache. */
static void passed_by_mute(void **state)
{
	(void)state;
	assert_int_equal(upgrade_pass(&dev), 0);
	late = 8;
	mute = true;
	assert_int_equal(upgrade_back(&dev), 0);
	assert_int_not_equal(upgrade_verify(&dev), 0);
	assert_said("was written to");
	assert_true(linear && dev.passes && dev.lost && !dev.verified);
}

static void claims(void **state)
{
	struct params params;

	(void)state;
	assert_true(params_parse(dev.table, &params));
	assert_int_equal(upgrade_pass(&dev), 0);
	assert_int_equal(dev.claims, 2 + params.members);
	reset(state);
	open_fails = 2;
	assert_int_not_equal(upgrade_pass(&dev), 0);
	assert_said("cannot claim");
	assert_true(dev.passes);
}

/* A device of the same name and uuid that was made later. */
static void made_again(void **state)
{
	bool now;

	(void)state;
	assert_int_equal(upgrade_look(&dev, &now), 0);
	assert_false(dev.gone);
	dev.frozen = true;
	/* An unreadable number tells nothing. */
	sequence = "";
	assert_int_equal(upgrade_look(&dev, &now), 0);
	assert_true(!dev.gone && dev.frozen);
	sequence = "6";
	assert_int_equal(upgrade_look(&dev, &now), 0);
	/* Another user may have frozen it. */
	assert_true(dev.gone && !dev.frozen);
}

/* Killed in a change of the table that failed, or suspended by a user before any change. */
static void left_suspended(void **state)
{
	(void)state;
	suspended = true;
	assert_int_equal(upgrade_settle(&dev), 0);
	assert_true(linear && dev.passes && !suspended);
	assert_int_equal(asked, DM_SUSPEND_NOT);
	reset(state);
	suspended = true;
	dev.counted = false;
	assert_int_equal(upgrade_settle(&dev), 0);
	assert_true(!linear && suspended);
	reset(state);
	assert_int_equal(upgrade_settle(&dev), 0);
	assert_false(linear || dev.passes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(unwritten, reset),
		cmocka_unit_test_setup(passed_by, reset),
		cmocka_unit_test_setup(uncounted, reset),
		cmocka_unit_test_setup(passed_by_late, reset),
		cmocka_unit_test_setup(passed_by_mute, reset),
		cmocka_unit_test_setup(claims, reset),
		cmocka_unit_test_setup(made_again, reset),
		cmocka_unit_test_setup(left_suspended, reset),
	};

	return RUN(tests);
}
