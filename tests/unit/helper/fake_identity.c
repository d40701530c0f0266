// SPDX-License-Identifier: GPL-2.0-only
/* Fake of block/device_sysfs.c: no device has an id, a name or attributes in sysfs. */
#include "fake_identity.h"

#include <stdio.h>

#include "block/device_sysfs.h"

bool fake_held;

void identity_read(dev_t number, char *id)
{
	(void)number;
	id[0] = '\0';
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

bool identity_suspended(dev_t number, char *name)
{
	return identity_attribute(number, "dm/suspended", name, DEVICE_DM_NAME);
}

bool identity_holder(dev_t number, char *name, size_t size)
{
	(void)number;
	snprintf(name, size, "dm-1");
	return fake_held;
}

bool identity_writable_holder(dev_t number, char *name, size_t size)
{
	return identity_holder(number, name, size);
}

bool identity_kernel_name(dev_t number, char *name, size_t size)
{
	return identity_attribute(number, "", name, size);
}
