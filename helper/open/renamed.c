// SPDX-License-Identifier: GPL-2.0-only
#include "open/renamed.h"

#include <stdio.h>
#include <string.h>

#include "block/device.h"
#include "lib/error.h"
#include "ondisk/superblock.h"
#include "pins/record_owner.h"

/* True if the cache of the device was created under the name @name. */
static bool has_label(const struct dm_device *dev, const char *name)
{
	struct device cache = DEVICE_CLOSED;
	struct super super = { 0 };
	bool same = false;

	if (dev->cache && !device_open_number(&cache, dev->cache, "cache device") &&
	    !super_read(&super, &cache) && super.best)
		same = !strncmp((const char *)super.best->label, name,
				sizeof(super.best->label) - 1);
	super_free(&super);
	device_close(&cache);
	return same;
}

/* True if the record of pins under @name belongs to the device. */
static bool has_pins(const struct dm_device *dev, const char *name)
{
	struct owner owner;
	struct pins pins;
	bool same;

	owner_of(dev, &owner);
	same = !pins_load(&pins, name) && *owner.uuid &&
	       !strcmp(pins.owner.uuid, owner.uuid);
	pins_free(&pins);
	return same;
}

/*
 * There is no device @name, or its cache device is in use. If a device of another name has its
 * cache, add to the recorded error what happened and what to do.
 */
void renamed_explain(const char *name)
{
	enum exit_code code = fail_code();
	char why[1024], other[sizeof(((struct dm_device *)0)->name)] = "";
	struct dm_device *list = NULL;
	size_t i, count = 0;

	if (code != CODE_DEVICE && code != CODE_BUSY)
		return;
	snprintf(why, sizeof(why), "%s", fail_message());
	fail_reset();
	if (!dm_all(&list, &count)) {
		for (i = 0; i < count && !*other; i++) {
			if (!strcmp(list[i].name, name))
				break;
			if (has_pins(&list[i], name) || has_label(&list[i], name))
				snprintf(other, sizeof(other), "%s", list[i].name);
			fail_reset();
		}
		dm_device_free_all(list, count);
	}
	fail_reset();
	fail(code, "%s", why);
	if (*other)
		fail_add("device '%s' has the cache of '%s': if dmsetup renamed it, 'dmsetup rename %s %s' undoes that; until then use the name '%s'",
			 other, name, other, name, other);
}

/* Return how the device lost its table, and what to do, or NULL if it has one. */
const char *renamed_table_gone(const struct dm_device *dev)
{
	if (dev->table || dev->status)
		return NULL;
	if (dev->separated)
		return "it " DM_SEPARATED;
	return dev->wiped ?
	       "another table replaced that of the cache, as 'dmsetup wipe_table' does, so I/O does not reach the origin: close the device and open it again" :
	       "it was created without a table or lost it: close the device and open it again";
}
