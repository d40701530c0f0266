// SPDX-License-Identifier: GPL-2.0-only
/* Conditions that verbs need of a device, with the same error in all of them. */
#include "block/dm.h"
#include "lib/error.h"

/* Fail unless the device has a table. 'dmsetup wipe_table' or a failed change takes it away. */
int dm_need_table(const struct dm_device *dev)
{
	if (dev->table)
		return 0;
	return dev->separated ?
	       fail(CODE_DEVICE, "device '%s' " DM_SEPARATED, dev->name) :
	       fail(CODE_DEVICE, "device '%s' has no table: close it and open it again", dev->name);
}

int dm_need_running(const struct dm_device *dev)
{
	return !dev->suspended ? 0 : fail(CODE_BUSY,
					  "device '%s' is suspended: 'dmsetup resume %s' first",
					  dev->name, dev->name);
}
