// SPDX-License-Identifier: GPL-2.0-only
/* Fake of block/device.c: any path opens device 8:32.  Number 8:0 is /dev/sda, others /dev/sdb. */
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "block/device.h"

int device_open(struct device *dev, const char *path, const char *role)
{
	memset(dev, 0, sizeof(*dev));
	dev->fd = 7;
	dev->number = makedev(8, 32);
	dev->role = role;
	strcpy(dev->path, path);
	return 0;
}

int device_open_number(struct device *dev, dev_t number, const char *role)
{
	device_open(dev, number == makedev(8, 0) ? "/dev/sda" : "/dev/sdb", role);
	dev->number = number;
	return 0;
}

int device_check_zoned(const struct device *dev)
{
	(void)dev;
	return 0;
}

void device_close(struct device *dev)
{
	dev->fd = -1;
}

const char *device_path_of(dev_t number, char *path)
{
	sprintf(path, "/dev/sd%c", 'a' + minor(number) / 16);
	return path;
}
