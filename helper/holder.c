// SPDX-License-Identifier: GPL-2.0-only
#include "holder.h"

#include <stdio.h>
#include <sys/sysmacros.h>

#include "identity.h"

/* Where this process sees the device mounted. */
static bool mount_point(dev_t number, char *where, size_t size)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char line[4096], place[512];
	unsigned int major_number, minor_number;
	bool found = false;

	while (mounts && !found && fgets(line, sizeof(line), mounts)) {
		if (sscanf(line, "%*d %*d %u:%u %*s %511s", &major_number,
			   &minor_number, place) != 3 ||
		    makedev(major_number, minor_number) != number)
			continue;
		snprintf(where, size, "mounted on %.500s", place);
		found = true;
	}
	if (mounts)
		fclose(mounts);
	return found;
}

/**
 * holder_describe() - say who keeps a device open, as far as is cheap to know
 * @number: the device
 * @what: filled in: "mounted on /data", "used by dm-3"
 * @size: bytes of @what
 *
 * Return: whether somebody was found; others may hold it too.
 */
bool holder_describe(dev_t number, char *what, size_t size)
{
	char name[256];

	if (mount_point(number, what, size))
		return true;
	if (identity_holder(number, name, sizeof(name))) {
		snprintf(what, size, "used by %s", name);
		return true;
	}
	return false;
}
