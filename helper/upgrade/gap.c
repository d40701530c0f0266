// SPDX-License-Identifier: GPL-2.0-only
/* While a device has the pass-through table, a gap in gaps.json names its origin: the cache would miss a write. */
#include "block/device.h"
#include "block/lock.h"
#include "block/table_params.h"
#include "lib/error.h"
#include "ondisk/superblock.h"
#include "open/uncached_writes.h"
#include "upgrade/upgrade.h"

/* Read the superblock of the device's cache. The caller frees it, even after a failure. */
static int read_super(const struct upgrade_device *dev, struct super *super)
{
	struct device cache = DEVICE_CLOSED;
	struct params params;

	*super = (struct super){ 0 };
	if (!params_parse(dev->table, &params))
		return fail(CODE_DEVICE, "the table of '%s' cannot be parsed", dev->name);
	if (!device_open_number(&cache, params.cache, "cache device") &&
	    !super_read(super, &cache))
		super_require(super, &cache);
	device_close(&cache);
	return fail_code();
}

/* Keep the list of gaps to this run, until unlock_all(): others change it too. */
static int lock_gaps(const struct upgrade_device *dev)
{
	struct device origin = DEVICE_CLOSED;
	struct params params;

	if (!params_parse(dev->table, &params))
		return fail(CODE_DEVICE, "the table of '%s' cannot be parsed", dev->name);
	if (!device_open_number(&origin, params.origin, "origin"))
		lock_all(&origin);
	device_close(&origin);
	return fail_code();
}

/* Record durably that the cache may miss writes. */
int upgrade_gap_begin(const struct upgrade_device *dev)
{
	struct super super;

	if (!read_super(dev, &super) && !lock_gaps(dev))
		gaps_add(dev->name, (const char *)super.best->origin_id, super.best->uuid,
			 dev->gap);
	unlock_all();
	super_free(&super);
	if (fail_code() && !dev->writes)
		return fail_add("the next open of '%s' would use old data: run 'nearcache invalidate %s' after it",
				dev->name, dev->name);
	return fail_code() ?
	       fail_add("'%s' has a writing mode, which needs this entry: make /var/lib/nearcache writable, or remount the file system read-only and run 'nearcache set %s mode=read-only'",
			dev->name, dev->name) : 0;
}

/* No write has passed by: what the cache has is right. */
int upgrade_gap_end(const struct upgrade_device *dev)
{
	if (!lock_gaps(dev))
		gaps_remove(dev->gap);
	unlock_all();
	return fail_code() ? fail_add("the next open of '%s' empties its cache", dev->name) : 0;
}
