// SPDX-License-Identifier: GPL-2.0-only
/* open/reconnect_origin.c: which origins the helper accepts when one comes back to a device. */
#include <stdio.h>
#include <sys/sysmacros.h>

#include "open/lvm_filter.h"
#include "open/activate.h"
#include "ondisk/print_superblock.h"
#include "lib/error.h"
#include "fake_dm.h"
#include "fake_gaps.h"
#include "block/device_sysfs.h"
#include "block/kmsg.h"
#include "open/origin_users.h"
#include "open/origin_match.h"
#include "open/witness_proof.h"
#include "lib/print.h"
#include "open/reconnect_origin.h"
#include "said.h"

#define OLD	"writethrough 8:0 8:16 2 origin_timeout 600"
#define NEW	"writethrough 8:32 8:16 2 origin_timeout 600"

/* The origin that is attached again; faults to simulate. */
static struct device origin;
static bool file_system, sample_differs, there, cache_dead, active, in_use;
static unsigned int differs;
static struct nearcache_super medium;

void lvm_filter_notify(dev_t origin)
{
	(void)origin;
}

int device_open(struct device *dev, const char *path, const char *role)
{
	(void)role;
	*dev = origin;
	strcpy(dev->path, path);
	if (!strcmp(path, "/dev/old"))
		dev->number = makedev(8, 0);
	return 0;
}

int device_open_number(struct device *dev, dev_t number, const char *role)
{
	assert_int_equal(number, makedev(8, 16));
	(void)role;
	dev->number = number;
	return cache_dead ? (fail)(CODE_DEVICE, "cannot open") : 0;
}

void device_close(struct device *dev)
{
	dev->fd = -1;
}

const char *device_path_of(dev_t number, char *path)
{
	sprintf(path, "%u:%u", major(number), minor(number));
	return path;
}

bool identity_kernel_name(dev_t number, char *name, size_t size)
{
	assert_int_equal(number, makedev(8, 0));
	(void)name;
	(void)size;
	return there;
}

bool identity_attribute(dev_t number, const char *attribute, char *value,
			size_t size)
{
	(void)number;
	(void)attribute;
	(void)value;
	(void)size;
	return false;
}

bool identity_overlap(dev_t a, dev_t b)
{
	return a == b;
}

int activate_check_mode(const struct device *dev, enum nearcache_mode mode)
{
	(void)dev;
	assert_int_equal(mode, NEARCACHE_WRITETHROUGH);
	return 0;
}

int activate_check_free(const struct device *dev)
{
	(void)dev;
	return in_use ? (fail)(CODE_BUSY, "in use") : 0;
}

int neighbour_check(const struct device *dev, enum nearcache_mode mode,
		    const char *self)
{
	assert_string_equal(self, FAKE_NAME);
	return activate_check_mode(dev, mode);
}

int super_read(struct super *super, const struct device *dev)
{
	(void)dev;
	super->best = &medium;
	return 0;
}

bool match_is_cold(const struct origin_match *match)
{
	(void)match;
	return active;
}

int members_open_numbers(struct members *members, const struct params *params)
{
	members->count = params->members;
	return 0;
}

void members_close(struct members *members)
{
	members->count = 0;
}

int match_compare(struct origin_match *match)
{
	assert_true(match->may_grow);
	assert_int_equal(match->size, origin.size);
	match->differs = differs;
	match->file_system = file_system;
	assert_ptr_not_equal(match->members, NULL);
	assert_int_not_equal(match->sample, 0);
	match->sample_differs = sample_differs;
	return 0;
}

int match_find_origin(struct origin_match *match)
{
	return device_open(&match->origin, "/dev/found", "origin");
}

const char *match_content(const struct origin_match *match, char *text)
{
	(void)text;
	return match->file_system ? "FILE SYSTEM" : "ENDS";
}

const char *match_changed(const struct origin_match *match, char *text)
{
	(void)match;
	return strcpy(text, "content");
}

int describe_status(const struct dm_device *dev, struct status *status)
{
	(void)dev;
	memset(status, 0, sizeof(*status));
	return 0;
}

const char *describe_state(const struct dm_device *dev,
			   const struct status *status)
{
	(void)dev;
	(void)status;
	return "normal";
}

static char told[64];

int dm_message(const struct dm_device *dev, const char *message)
{
	(void)dev;
	/* The message is sent before the new origin is in the dm table. */
	assert_string_equal(fake.live.params, OLD);
	snprintf(told, sizeof(told), "%s", message);
	return 0;
}

static void reset(void)
{
	fake_reset(OLD);
	fake.origin = makedev(8, 0);
	origin = (struct device){ .fd = -1, .number = makedev(8, 32),
				  .size = FAKE_BYTES, .lbs = 512,
				  .id = "wwid:a" };
	memset(&medium, 0, sizeof(medium));
	medium.origin_lbs = 512;
	strcpy((char *)medium.origin_id, "wwid:a");
	there = cache_dead = active = in_use = false;
	differs = 0;
	file_system = sample_differs = false;
	memset(&fake_gaps, 0, sizeof(fake_gaps));
	told[0] = '\0';
}

static int take(const char *path, unsigned int options,
		enum on_change on_change)
{
	struct arguments args = {
		.given = options,
		.origin = path,
		.on_change = on_change,
	};
	struct dm_device dev;

	fail_reset();
	assert_int_equal(dm_need_ours(FAKE_NAME, &dev), 0);
	reconnect(&dev, &args);
	dm_device_free(&dev);
	return fail_code();
}

static void assert_taken(void)
{
	assert_int_equal(fail_code(), 0);
	assert_string_equal(fake.live.params, NEW);
	assert_int_equal(fake.live.bytes, FAKE_BYTES);
	assert_int_equal(fake.suspend, DM_SUSPEND_HAND_OVER);
}

static void assert_left(void)
{
	assert_int_not_equal(fail_code(), 0);
	assert_said("device 'nc' goes on as before");
	assert_string_equal(fake.live.params, OLD);
	assert_int_equal(fake.loads, 0);
}

static void taken(void **state)
{
	(void)state;
	reset();
	assert_int_equal(take("/dev/new", OPTION_DRY_RUN, 0), 0);
	assert_int_equal(fake.loads, 0);
	take("/dev/new", 0, 0);
	assert_taken();
	reset();
	take(NULL, 0, 0);
	assert_taken();
	/* Changed content is accepted: the kernel detects the change and drops the cached data. */
	reset();
	differs = MATCH_CONTENT;
	take(NULL, 0, 0);
	assert_taken();
	reset();
	active = true;
	origin.size *= 2;
	take("/dev/new", 0, 0);
	assert_taken();
	reset();
	fake.suspended = true;
	assert_int_equal(take(NULL, 0, 0), CODE_BUSY);
	take(NULL, OPTION_FORCE, 0);
	assert_taken();
}

/* After a gap the origin is accepted and all cached data invalidated, or refused on demand. */
static void after_gap(void **state)
{
	(void)state;
	reset();
	take("/dev/new", 0, 0);
	assert_taken();
	assert_true(fake_gaps.locked);
	assert_string_equal(told, "");
	reset();
	fake_gaps.concern = true;
	take("/dev/new", 0, 0);
	assert_taken();
	assert_string_equal(told, "invalidate all");
	assert_string_equal(fake_gaps.origin, "wwid:a");
	reset();
	fake_gaps.concern = true;
	assert_int_equal(take("/dev/new", OPTION_FORCE, ON_CHANGE_REFUSE),
			 CODE_DEVICE);
	assert_said("by a pass-through device");
	assert_left();
	reset();
	fake_gaps.error = true;
	take("/dev/new", OPTION_FORCE, 0);
	assert_left();
	/* If the cache device cannot be read, the dm device's uuid says which cache it is. */
	reset();
	cache_dead = true;
	fake.uuid = DM_UUID_PREFIX "01020304-0000-0000-0000-000000000000";
	take("/dev/new", OPTION_FORCE, 0);
	assert_taken();
	assert_int_equal(fake_gaps.asked.uuid[3], 4);
}

static void not_gone(void **state)
{
	(void)state;
	reset();
	there = true;
	assert_int_equal(take("/dev/old", OPTION_FORCE, 0), CODE_BUSY);
	assert_said("has this origin already ('8:0')");
	assert_left();
	assert_int_equal(take("/dev/new", OPTION_FORCE, 0), CODE_BUSY);
	assert_said("'8:0' of 'nc' is still connected");
	assert_left();
}

/* Origins that are refused even with --force. */
static void misfits(void **state)
{
	(void)state;
	reset();
	origin.size -= 512;
	assert_int_equal(take("/dev/new", OPTION_FORCE, 0), CODE_DEVICE);
	assert_said("has 1048064 bytes, device 'nc' has 1048576");
	assert_left();
	reset();
	origin.lbs = 4096;
	assert_int_equal(take("/dev/new", OPTION_FORCE, 0), CODE_DEVICE);
	assert_said("logical blocks of 4096 bytes, the origin of 'nc' has 512");
	assert_left();
	reset();
	origin.number = makedev(8, 16);
	assert_int_equal(take("/dev/new", OPTION_FORCE, 0), CODE_DEVICE);
	assert_said("shares storage");
	assert_left();
	reset();
	in_use = true;
	assert_int_equal(take("/dev/new", OPTION_FORCE, 0), CODE_BUSY);
	assert_left();
	reset();
	differs = MATCH_CONTENT;
	assert_int_equal(take("/dev/new", OPTION_FORCE, ON_CHANGE_REFUSE),
			 CODE_DEVICE);
	assert_said("was changed while it was disconnected (ENDS)");
	assert_left();
	/* The kernel compares only the ends, so the helper refuses a changed file system. */
	file_system = true;
	assert_int_equal(take("/dev/new", OPTION_FORCE, 0), CODE_DEVICE);
	assert_said("(FILE SYSTEM); 'nearcache invalidate nc'");
	assert_left();
	/* The same if cached data differs. */
	file_system = false;
	sample_differs = true;
	assert_int_equal(take("/dev/new", OPTION_FORCE, 0), CODE_DEVICE);
	assert_said("'nearcache invalidate nc'");
	assert_left();
}

/* Origins that need --force: refused without it (i = 0), accepted with it (i = 1). */
static void strangers(void **state)
{
	static void (*const again[])(void) = { assert_left, assert_taken };
	static const unsigned int option[] = { 0, OPTION_FORCE };
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		reset();
		differs = MATCH_ID;
		strcpy(origin.id, "wwid:b");
		take("/dev/new", option[i], 0);
		if (!i)
			assert_said("is 'wwid:b', the origin of 'nc' is 'wwid:a': if you know that it is the same volume, use --force");
		again[i]();
		/* No device id is recorded, but equal content: accepted without --force. */
		reset();
		medium.origin_id[0] = '\0';
		take("/dev/new", 0, 0);
		assert_taken();
		reset();
		medium.origin_id[0] = '\0';
		differs = MATCH_CONTENT;
		take("/dev/new", option[i], 0);
		if (!i)
			assert_said("nothing shows that '/dev/new' is the origin");
		again[i]();
		reset();
		medium.origin_id[0] = '\0';
		active = true;
		take("/dev/new", option[i], 0);
		again[i]();
		/* Nothing identifies the origin if the cache device cannot be read. */
		reset();
		cache_dead = true;
		take("/dev/new", option[i], 0);
		if (!i)
			assert_said("'/dev/new' is unverified");
		again[i]();
		take(NULL, option[i], 0);
		assert_said("name the origin with --origin DEV");
	}
}

static void not_started(void **state)
{
	(void)state;
	reset();
	fake.start[0] = FAKE_MISFITS;
	assert_int_equal(take("/dev/new", 0, 0), CODE_DEVICE);
	assert_said("goes on as before");
	assert_string_equal(fake.live.params, OLD);
	assert_false(fake.suspended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken),
		cmocka_unit_test(after_gap),
		cmocka_unit_test(not_gone),
		cmocka_unit_test(misfits),
		cmocka_unit_test(strangers),
		cmocka_unit_test(not_started),
	};

	return RUN(tests);
}
