// SPDX-License-Identifier: GPL-2.0-only
#include "stop.h"

#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "holder.h"

/* udev opens a new device for a moment to look at it. */
#define TRIES		10
#define PAUSE_US	(100 * 1000)

static int still_open(const char *name, bool *open)
{
	struct dm_device dev;
	bool found;

	if (dm_find(name, &dev, &found))
		return fail_code();
	*open = found && dev.open_count > 0;
	dm_device_free(&dev);
	return 0;
}

/**
 * stop_check() - demand that nobody has a device open
 * @dev: the device
 *
 * Return: 0 or the exit code.
 */
int stop_check(const struct dm_device *dev)
{
	bool open = dev->open_count > 0;
	char what[600];
	int tries;

	for (tries = 0; open && tries < TRIES; tries++) {
		if (holder_describe(dev->number, what, sizeof(what)))
			return fail(CODE_BUSY,
				    "device '%s' is open: %s; release it first",
				    dev->name, what);
		usleep(PAUSE_US);
		if (still_open(dev->name, &open))
			return fail_code();
	}
	if (!open)
		return 0;
	if (!holder_process(dev->number, what, sizeof(what)))
		strcpy(what, "nobody seen from here: a loop device, an exported target?");
	return fail(CODE_BUSY, "device '%s' is open: %s; stop that first",
		    dev->name, what);
}

/**
 * stop_check_writers() - demand that nobody can be writing to a device
 * @dev: the device
 *
 * Return: 0 or the exit code.
 */
int stop_check_writers(const struct dm_device *dev)
{
	bool open = dev->open_count > 0;
	char what[700];
	int tries;

	for (tries = 0; open && tries < TRIES; tries++) {
		if (holder_writer(dev->number, what, sizeof(what)))
			return fail(CODE_BUSY, "device '%s' %s", dev->name,
				    what);
		/* Who opened it is known, and only reads. */
		if (holder_describe(dev->number, what, sizeof(what)) ||
		    holder_process(dev->number, what, sizeof(what)))
			return 0;
		usleep(PAUSE_US);
		if (still_open(dev->name, &open))
			return fail_code();
	}
	if (!open)
		return 0;
	return fail(CODE_BUSY,
		    "device '%s' is open, and it cannot be seen from here whether for writing (a loop device, an exported target?): release it",
		    dev->name);
}

/**
 * stop() - stop a device cleanly
 * @dev: the device
 *
 * Return: 0 or the exit code.
 */
int stop(const struct dm_device *dev)
{
	int error = stop_check(dev);

	return error ? error : dm_remove(dev->name);
}
