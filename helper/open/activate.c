// SPDX-License-Identifier: GPL-2.0-only
/* Checks the parts of a cache and creates its dm device. */
#include "open/activate.h"

#include <uuid/uuid.h>

#include "block/dm.h"
#include "lib/error.h"
#include "block/device_sysfs.h"
#include "open/lvm_filter.h"
#include "open/origin_users.h"
#include "block/table_params.h"
#include "lib/print.h"
#include "ondisk/superblock.h"

/* Fail with CODE_BUSY if a dm device has this name. */
int activate_check_name(const char *name)
{
	struct dm_device dev;
	bool found;

	if (dm_find(name, &dev, &found))
		return fail_code();
	dm_device_free(&dev);
	if (!found)
		return 0;
	if (dev.separated)
		return fail(CODE_BUSY,
			    "device '%s' exists, and passes through to its origin without its cache, after an upgrade: unmount it, 'nearcache close %s', then open it again",
			    name, name);
	if (dev.wiped)
		return fail(CODE_BUSY,
			    "device '%s' exists, but another table replaced that of the cache, as 'dmsetup wipe_table' does: 'nearcache close %s', then open it again",
			    name, name);
	if (dev.cluster || dm_uuid_is_cluster(dev.uuid))
		return fail(CODE_BUSY,
			    "'%s' is a cluster device: choose another name, or 'nearcache cluster leave %s' removes it",
			    name, name);
	return fail(CODE_BUSY,
		    "a device-mapper device '%s' exists: choose another name or close it",
		    name);
}

/*
 * Demand the kernel module (loaded here if missing), an unused name, and an origin that
 * neighbour_check() accepts. If @optional, do not load the module, and ignore errors other than
 * CODE_BUSY: the caller starts no device, and the machine may lack device-mapper.
 */
int activate_check_kernel(const struct activation *act, bool optional)
{
	if (!optional && dm_need_target())
		return fail_code();
	if ((activate_check_name(act->name) ||
	     neighbour_check(act->origin, act->mode, act->name)) &&
	    optional && fail_code() != CODE_BUSY)
		fail_reset();
	return fail_code();
}

int activate_check_mode(const struct device *origin, enum nearcache_mode mode)
{
	if (!mode_writes(mode) || !origin->read_only)
		return 0;
	return fail(CODE_DEVICE,
		    "origin '%s' is read-only, so mode %s cannot write to it: use mode read-only",
		    origin->path, mode_word(mode));
}

/*
 * Fail with CODE_BUSY if a device is stacked on the origin, except @self (0: none) and nearcache
 * devices, which neighbour_check() judges. device-mapper would let that device write to the origin,
 * and the cached data would become stale.
 */
int activate_check_holders(const struct device *origin, dev_t self)
{
	char holder[64];

	if (!identity_foreign_holder(origin->number, DM_UUID_PREFIX, self,
				     holder, sizeof(holder)))
		return 0;
	return fail(CODE_BUSY,
		    "origin '%s' is in use by '%s': close that first",
		    origin->path, holder);
}

/*
 * Fail with CODE_BUSY if anything but @self (0: none) and nearcache devices uses the origin, such as
 * a mount.
 */
int activate_check_free_but(const struct device *origin, dev_t self)
{
	char holder[64];
	bool busy;

	if (device_test_claim(origin, &busy))
		return fail_code();
	if (!busy)
		return 0;
	if (activate_check_holders(origin, self))
		return fail_code();
	if (identity_holder(origin->number, holder, sizeof(holder)))
		return 0;
	return fail(CODE_BUSY,
		    "origin '%s' is in use: unmount it, then mount the nearcache device instead",
		    origin->path);
}

int activate_check_free(const struct device *origin)
{
	return activate_check_free_but(origin, 0);
}

/* Do those checks of origin and cache devices that need no superblock: act->sb may be NULL. */
int activate_check_devices(const struct activation *act)
{
	const struct device *origin = act->origin, *cache = act->cache;

	if (origin->number == cache->number)
		return fail(CODE_DEVICE,
			    "origin and cache device are both '%s'",
			    origin->path);
	if (identity_overlap(origin->number, cache->number))
		return fail(CODE_DEVICE,
			    "origin '%s' and cache device '%s' share storage: one is part of the other or they are one disk",
			    origin->path, cache->path);
	if (cache->read_only)
		return fail(CODE_DEVICE, "cache device '%s' is read-only",
			    cache->path);
	if (device_check_zoned(origin) || device_check_zoned(cache))
		return fail_code();
	/* The kernel writes metadata in pages of 4 KiB, so a logical block must not be larger. */
	if (cache->lbs > NEARCACHE_PAGE_SIZE)
		return fail(CODE_DEVICE,
			    "cache device '%s' has logical blocks of %u bytes, at most %u work",
			    cache->path, cache->lbs, NEARCACHE_PAGE_SIZE);
	if (origin->lbs > NEARCACHE_BLOCK_MIN)
		return fail(CODE_DEVICE,
			    "origin '%s' has logical blocks of %u bytes, at most %u work",
			    origin->path, origin->lbs, NEARCACHE_BLOCK_MIN);
	if (members_check_places(act->members, cache, origin) ||
	    activate_check_mode(origin, act->mode))
		return fail_code();
	return activate_check_free(origin);
}

static const char *params_of(const struct activation *act, char *text)
{
	struct params params = {
		.mode = act->mode,
		.origin = act->origin->number,
		.cache = act->cache->number,
		.fill_memory = act->args->fill_memory,
		.cache_timeout_given = option_given(act->args, OPTION_CACHE_TIMEOUT),
		.cache_timeout = act->args->cache_timeout,
		.origin_timeout_given = option_given(act->args, OPTION_ORIGIN_TIMEOUT),
		.origin_timeout = act->args->origin_timeout,
		.verify_given = option_given(act->args, OPTION_VERIFY),
		.verify = act->args->verify,
		.witness = act->witness,
	};

	members_to_params(act->members, &params);
	return params_print(&params, text);
}

/*
 * Create the device; a failure leaves no device. The kernel claims @act->cache, so the caller must
 * not have claimed it.
 */
int activate(const struct activation *act)
{
	char text[PARAMS_TEXT];
	char uuid[sizeof(DM_UUID_PREFIX) + SUPER_UUID_TEXT] = DM_UUID_PREFIX;
	struct dm_line line = {
		.bytes = act->origin->size,
		.params = params_of(act, text),
		.read_only = !mode_writes(act->mode),
	};

	uuid_unparse_lower(act->sb->uuid, uuid + strlen(uuid));
	if (dm_activate(act->name, uuid, &line))
		return fail_code();
	lvm_filter_notify(act->origin->number);
	return 0;
}

/* Print a device that activate() created or, in a dry run, would create. */
void activate_print(const struct activation *act)
{
	char params[PARAMS_TEXT], line[PARAMS_TEXT + 64], path[PATH_MAX];
	u64 bytes = act->origin->size;

	snprintf(path, sizeof(path), "/dev/mapper/%s", act->name);
	snprintf(line, sizeof(line), "0 %llu " DM_TARGET " %s",
		 (unsigned long long)(bytes / 512),
		 params_of(act, params));
	print_string("name", NULL, act->name);
	print_string("device", "device", path);
	print_string("mode", "mode", mode_word(act->mode));
	print_string("origin", "origin", act->origin->path);
	print_bytes("size", "size", bytes);
	print_string("cache", "cache device", act->cache->path);
	members_print(act->members);
	print_detail("table", "table", line);
	lvm_filter_print(act->origin, act->name);
}
