// SPDX-License-Identifier: GPL-2.0-only
/* block/dm_suspend.c: openers that keep a device from becoming read-only, or from being removed. */
#include <stdio.h>
#include <unistd.h>

#include "lib/error.h"
#include "fake_dm.h"
#include "block/openers.h"
#include "block/dm_remove.h"
#include "unit.h"

/* @visible: how many of the fake.opens openers the helper sees.  @writer: one of these writes. */
static int visible;
static bool writer;
/* Number of sleeps after which an invisible opener closes the device; -1: never. */
static int looks = -1;

int usleep(useconds_t microseconds)
{
	(void)microseconds;
	if (looks > 0 && !--looks)
		fake.opens--;
	return 0;
}

bool holder_writer(dev_t number, char *what, size_t size)
{
	(void)number;
	snprintf(what, size, "is open for writing");
	return writer;
}

bool holder_describe(dev_t number, char *what, size_t size)
{
	(void)number;
	snprintf(what, size, "mounted on /data");
	return visible;
}

bool holder_process(dev_t number, char *what, size_t size)
{
	return holder_describe(number, what, size);
}

int holder_count(dev_t number)
{
	(void)number;
	return visible;
}

static int check(int opens, int seen, bool writes)
{
	struct dm_device dev;
	bool found;
	int error;

	fake_reset("writethrough 8:0 8:16");
	fake.opens = opens;
	visible = seen;
	writer = writes;
	dm_find(FAKE_NAME, &dev, &found);
	error = stop_check_writers(&dev);
	dm_device_free(&dev);
	return error;
}

static void writers(void **state)
{
	(void)state;
	assert_int_equal(check(0, 0, false), 0);
	assert_int_equal(check(1, 1, true), CODE_BUSY);
	assert_non_null(strstr(fail_message(), "open for writing"));
	assert_int_equal(check(1, 1, false), 0);
	assert_int_equal(check(2, 2, false), 0);
	/* An invisible opener may write: CODE_BUSY, with and without a visible opener. */
	assert_int_equal(check(1, 0, false), CODE_BUSY);
	assert_int_equal(check(2, 1, false), CODE_BUSY);
	assert_non_null(strstr(fail_message(), "open 2 times"));
	assert_non_null(strstr(fail_message(), "unknown whether for writing"));
}

/* udev opens the device for a moment: the check waits until udev has closed it. */
static void passing(void **state)
{
	(void)state;
	looks = 3;
	assert_int_equal(check(2, 1, false), 0);
	looks = 3;
	assert_int_equal(check(1, 0, false), 0);
	looks = -1;
}

static void any_user(void **state)
{
	struct dm_device dev = { .name = FAKE_NAME, .open_count = 1 };

	(void)state;
	fake_reset("writethrough 8:0 8:16");
	fake.opens = visible = 1;
	assert_int_equal(stop(&dev), CODE_BUSY);
	assert_non_null(strstr(fail_message(), "mounted on /data"));
	fail_reset();
	visible = 0;
	looks = 2;
	assert_int_equal(stop(&dev), 0);
	assert_true(fake.gone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writers),
		cmocka_unit_test(passing),
		cmocka_unit_test(any_user),
	};

	return RUN(tests);
}
