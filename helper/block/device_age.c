// SPDX-License-Identifier: GPL-2.0-only
#include "block/device_age.h"

#include <stdio.h>
#include <sys/sysmacros.h>

#ifndef UDEV_DATA
#define UDEV_DATA	"/run/udev/data"
#endif

/*
 * Sets @age to the time since the device was made, in ns. @now: monotonic clock, ns. Returns false if udev,
 * whose record every user may read, does not know that.
 */
bool device_age(dev_t number, uint64_t now, uint64_t *age)
{
	unsigned long long microseconds;
	char line[256], path[64];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), UDEV_DATA "/b%u:%u", major(number), minor(number));
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, "I:%llu", &microseconds) == 1;
	fclose(file);
	if (!found || microseconds * 1000 >= now)
		return false;
	*age = now - microseconds * 1000;
	return true;
}
