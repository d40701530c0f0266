// SPDX-License-Identifier: GPL-2.0-only
#include "block/dm_unprivileged.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "block/device_sysfs.h"
#include "lib/error.h"

#define SYS_BLOCK	"/sys/class/block"

static dm_take_state *take_state;

/* From now on a user without access to the control node reads sysfs, and calls @take. */
void dm_read_unprivileged(dm_take_state *take)
{
	take_state = take;
}

/* True if devices are read without the control node. */
bool dm_is_unprivileged(void)
{
	return take_state && access(DM_CONTROL_NODE, R_OK | W_OK) && errno == EACCES;
}

/* Reads the device number of a name in SYS_BLOCK. */
static bool number_of(const char *entry, dev_t *number)
{
	unsigned int major_number, minor_number;
	char path[320];
	FILE *file;
	int words;

	snprintf(path, sizeof(path), SYS_BLOCK "/%s/dev", entry);
	file = fopen(path, "re");
	if (!file)
		return false;
	words = fscanf(file, "%u:%u", &major_number, &minor_number);
	fclose(file);
	*number = makedev(major_number, minor_number);
	return words == 2;
}

static bool is_one(dev_t number, const char *attribute)
{
	char value[16];

	return identity_attribute(number, attribute, value, sizeof(value)) && !strcmp(value, "1");
}

static void take_sysfs(struct dm_device *dev, dev_t number)
{
	char sectors[32] = "0";

	dev->number = number;
	identity_attribute(number, "dm/uuid", dev->uuid, sizeof(dev->uuid));
	identity_attribute(number, "size", sectors, sizeof(sectors));
	dev->size = strtoull(sectors, NULL, 10) * 512;
	dev->suspended = is_one(number, "dm/suspended");
	dev->read_only = is_one(number, "ro");
	dev->open_count = DM_OPEN_UNKNOWN;
	dev->cluster = dm_uuid_is_cluster(dev->uuid);
}

/* Calls @visit with the name and number of each device of device-mapper until it returns not 0. */
static int each_device(int (*visit)(const char *name, dev_t number, void *arg), void *arg)
{
	DIR *dir = opendir(SYS_BLOCK);
	struct dirent *entry;
	int result = 0;

	if (!dir)
		return fail_errno(errno, "cannot read '%s'", SYS_BLOCK);
	while (!result && (entry = readdir(dir))) {
		char name[sizeof(((struct dm_device *)0)->name)];
		dev_t number;

		if (!strncmp(entry->d_name, "dm-", 3) && number_of(entry->d_name, &number) &&
		    identity_attribute(number, "dm/name", name, sizeof(name)))
			result = visit(name, number, arg);
	}
	closedir(dir);
	return result;
}

/* The device with a name. */
struct wanted_device {
	const char *name;
	dev_t number;
};

static int match_name(const char *name, dev_t number, void *arg)
{
	struct wanted_device *wanted = arg;

	if (strcmp(name, wanted->name))
		return 0;
	wanted->number = number;
	return 1;
}

/* As dm_find(). */
int dm_unprivileged_find(const char *name, struct dm_device *dev, bool *found)
{
	struct wanted_device wanted = { .name = name };

	memset(dev, 0, sizeof(*dev));
	each_device(match_name, &wanted);
	*found = wanted.number;
	if (fail_code() || !*found)
		return fail_code();
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	take_sysfs(dev, wanted.number);
	if (!take_state(dev))
		return 0;
	dm_device_free(dev);
	return fail_code();
}

struct names_visit {
	int (*visit)(const char *name, void *arg);
	void *arg;
};

static int visit_name(const char *name, dev_t number, void *arg)
{
	const struct names_visit *names = arg;

	(void)number;
	return names->visit(name, names->arg);
}

/* Calls @visit with each name, until it returns an exit code, which this returns. */
int dm_unprivileged_each(int (*visit)(const char *name, void *arg), void *arg)
{
	struct names_visit names = { visit, arg };

	return each_device(visit_name, &names);
}
