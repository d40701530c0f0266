// SPDX-License-Identifier: GPL-2.0-only
#include "block/dm_remove.h"

#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "block/openers.h"

/* udev opens a new device for a moment: the checks repeat for one second. */
#define TRIES		10
#define PAUSE_US	(100 * 1000)

static int count_opens(const char *name, int *opens)
{
	struct dm_device dev;
	bool found;

	if (dm_find(name, &dev, &found))
		return fail_code();
	*opens = found ? dev.open_count : 0;
	dm_device_free(&dev);
	return 0;
}

/* Fail with CODE_BUSY, and name the user, if the device is open. */
int stop_check(const struct dm_device *dev)
{
	int opens = dev->open_count;
	char what[600];
	int tries;

	for (tries = 0; opens && tries < TRIES; tries++) {
		if (holder_describe(dev->number, what, sizeof(what)))
			return fail(CODE_BUSY,
				    "device '%s' is open: %s; close it first",
				    dev->name, what);
		usleep(PAUSE_US);
		if (count_opens(dev->name, &opens))
			return fail_code();
	}
	if (!opens)
		return 0;
	if (!holder_process(dev->number, what, sizeof(what)))
		strcpy(what, "no user is visible from here: a loop device, an exported target?");
	return fail(CODE_BUSY, "device '%s' is open: %s; stop that first",
		    dev->name, what);
}

/* Fail with CODE_BUSY if the device is open for writing, or if that cannot be excluded. */
int stop_check_writers(const struct dm_device *dev)
{
	int opens = dev->open_count;
	char what[700];
	int tries;

	for (tries = 0; opens && tries < TRIES; tries++) {
		if (holder_writer(dev->number, what, sizeof(what)))
			return fail(CODE_BUSY, "device '%s' %s", dev->name,
				    what);
		/* All openers are known, and none of them can write. */
		if (holder_count(dev->number) >= opens)
			return 0;
		usleep(PAUSE_US);
		if (count_opens(dev->name, &opens))
			return fail_code();
	}
	if (!opens)
		return 0;
	return fail(CODE_BUSY,
		    "device '%s' is open %d time%s, and it is unknown whether for writing (a loop device, an exported target?): close it first",
		    dev->name, opens, opens > 1 ? "s" : "");
}

int stop(const struct dm_device *dev)
{
	int error = stop_check(dev);

	return error ? error : dm_remove(dev->name);
}
