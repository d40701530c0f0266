/* SPDX-License-Identifier: GPL-2.0-only */
/* device-mapper ioctls without dmsetup: faster, and a table line may contain any bytes. */
#ifndef NEARCACHE_TEST_DM_IOCTL_H
#define NEARCACHE_TEST_DM_IOCTL_H

#include <errno.h>
#include <linux/dm-ioctl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "device.h"

/**
 * struct dm - a dm device
 * @control: file descriptor of /dev/mapper/control
 * @name: name of the device
 * @minor: minor number of the device, from the answer to the last request
 * @io: the last request and its answer
 */
struct dm {
	int control;
	const char *name;
	unsigned int minor;
	union {
		struct dm_ioctl dm;
		char room[16384];
	} io;
};

static inline void dm_open(struct dm *d, const char *name)
{
	d->control = device_open("/dev/mapper/control", O_RDWR);
	d->name = name;
}

/* Start a new request for the device; the caller adds flags and parameters. */
static inline void dm_prepare(struct dm *d)
{
	memset(&d->io, 0, sizeof(d->io));
	d->io.dm.version[0] = DM_VERSION_MAJOR;
	d->io.dm.data_size = sizeof(d->io);
	d->io.dm.data_start = sizeof(d->io.dm);
	strncpy(d->io.dm.name, d->name, sizeof(d->io.dm.name) - 1);
}

/* Send the request; returns 0 or a positive errno. */
static inline int dm_request(struct dm *d, unsigned long request)
{
	if (ioctl(d->control, request, &d->io))
		return errno;
	d->minor = minor(d->io.dm.dev);
	return 0;
}

/* Send a request without parameters; returns 0 or a positive errno. */
static inline int dm_simple(struct dm *d, unsigned long request)
{
	dm_prepare(d);
	return dm_request(d, request);
}

/* Load a table of one target, not yet live; returns 0 or a positive errno. */
static inline int dm_load(struct dm *d, uint64_t sectors, const char *target,
			  const char *params, bool readonly)
{
	struct dm_target_spec *spec = (void *)(d->io.room + sizeof(d->io.dm));

	dm_prepare(d);
	d->io.dm.target_count = 1;
	if (readonly)
		d->io.dm.flags = DM_READONLY_FLAG;
	spec->length = sectors;
	strcpy(spec->target_type, target);
	strncpy((char *)(spec + 1), params,
		sizeof(d->io) - sizeof(d->io.dm) - sizeof(*spec) - 1);
	return dm_request(d, DM_TABLE_LOAD);
}

static inline int dm_message(struct dm *d, const char *text)
{
	struct dm_target_msg *message = (void *)(d->io.room + sizeof(d->io.dm));

	dm_prepare(d);
	strncpy((char *)(message + 1), text,
		sizeof(d->io) - sizeof(d->io.dm) - sizeof(*message) - 1);
	return dm_request(d, DM_TARGET_MSG);
}

#endif /* NEARCACHE_TEST_DM_IOCTL_H */
