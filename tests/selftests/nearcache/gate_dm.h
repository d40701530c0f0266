/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands of 'gate' for dm devices.  A test sends hundreds of them; starting dmsetup for each
 * would take most of the test's time.  Functions of type int return 0 or a positive errno.
 */
#ifndef NEARCACHE_TEST_GATE_DM_H
#define NEARCACHE_TEST_GATE_DM_H

#include <sys/stat.h>

#include "dm_ioctl.h"
#include "gate_nbd.h"
#include "nearcache_counters.h"

static struct dm dm;

/* Create or remove the device node, in place of udev. */
static inline void dm_node(bool there)
{
	char path[96];

	snprintf(path, sizeof(path), "/dev/mapper/%s", dm.name);
	unlink(path);
	if (there && mknod(path, S_IFBLK | 0600, dm.io.dm.dev))
		perror(path);
}

static inline int dm_suspend(bool on)
{
	dm_prepare(&dm);
	dm.io.dm.flags = on ? DM_SUSPEND_FLAG : 0;
	return dm_request(&dm, DM_DEV_SUSPEND);
}

/* @table: "SECTORS TARGET WORDS..." */
static inline int dm_load_text(const char *table)
{
	char target[DM_MAX_TYPE_NAME];
	unsigned long sectors;
	int at = 0;

	if (sscanf(table, "%lu %15s %n", &sectors, target, &at) < 2)
		return EINVAL;
	return dm_load(&dm, sectors, target, table + at, false);
}

static inline int dm_reload(const char *table)
{
	int error = dm_load_text(table);

	return error ? error : dm_suspend(false);
}

static inline int dm_remove(void)
{
	struct timespec now, deadline;
	int error;

	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += PATIENCE;
	/* EBUSY: another process still has the device open, often for a moment only. */
	while ((error = dm_simple(&dm, DM_DEV_REMOVE)) == EBUSY) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > deadline.tv_sec)
			break;
		usleep(1000);
	}
	if (!error)
		dm_node(false);
	return error;
}

static inline int dm_create(const char *table)
{
	int error = dm_simple(&dm, DM_DEV_CREATE);

	if (error)
		return error;
	error = dm_reload(table);
	if (error)
		dm_remove();
	else
		dm_node(true);
	return error;
}

static inline int dm_status(unsigned int flags)
{
	dm_prepare(&dm);
	dm.io.dm.flags = flags;
	return dm_request(&dm, DM_TABLE_STATUS);
}

/* The line of the first target, from the last dm_status(). */
static inline char *dm_status_text(void)
{
	return dm.io.room + dm.io.dm.data_start + sizeof(struct dm_target_spec);
}

static inline void dm_state(void)
{
	if (dm_simple(&dm, DM_DEV_STATUS))
		ok("none");
	else if (dm.io.dm.flags & DM_SUSPEND_FLAG)
		ok("suspended");
	else if (dm_status(DM_STATUS_TABLE_FLAG) || !dm.io.dm.target_count)
		ok("empty");
	else
		ok("live %s", dm_status_text());
}

static inline int field_number(const char *name)
{
#define NAME(symbol, name, unit, help)	name,
	static const char *const names[] = {
		NEARCACHE_STATUS_FIELDS(NAME) NEARCACHE_COUNTERS(NAME)
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

static inline bool value(const char *name, const char *field, uint64_t *value)
{
	int n = field_number(field);
	char *text;

	dm.name = name;
	if (n < 0 || dm_status(DM_NOFLUSH_FLAG) || !dm.io.dm.target_count)
		return false;
	for (text = dm_status_text(); n && text; n--) {
		text = strchr(text, ' ');
		text = text ? text + 1 : NULL;
	}
	*value = text ? strtoull(text, NULL, 10) : 0;
	return text;
}

/* Run command @what and print the answer; returns false if @what is no command for a dm device. */
static inline bool dm_command(const char *what, const char *name, const char *rest)
{
	int error;

	dm.name = name;
	if (!strcmp(what, "state")) {
		dm_state();
		return true;
	}
	if (!strcmp(what, "create"))
		error = dm_create(rest);
	else if (!strcmp(what, "reload"))
		error = dm_reload(rest);
	else if (!strcmp(what, "message"))
		error = dm_message(&dm, rest);
	else if (!strcmp(what, "suspend") || !strcmp(what, "resume"))
		error = dm_suspend(*what == 's');
	else if (!strcmp(what, "remove"))
		error = dm_remove();
	else
		return false;
	ok("%s", error ? strerrorname_np(error) : "done");
	return true;
}

#endif /* NEARCACHE_TEST_GATE_DM_H */
