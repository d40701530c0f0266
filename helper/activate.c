// SPDX-License-Identifier: GPL-2.0-only
#include "activate.h"

#include <sys/sysmacros.h>
#include <uuid/uuid.h>

#include "dm.h"
#include "fail.h"
#include "identity.h"
#include "print.h"
#include "super.h"

/* What the target takes for fill_memory, see kmod/doc/interface.md. */
#define FILL_MEMORY_MIN	(1ULL << 20)
#define FILL_MEMORY_MAX	(1ULL << 40)

/**
 * activate_check_memory() - demand a cap that the target takes
 * @bytes: --fill-memory, 0 when not given
 *
 * Return: 0 or the exit code.
 */
int activate_check_memory(u64 bytes)
{
	if (!bytes || (bytes >= FILL_MEMORY_MIN && bytes <= FILL_MEMORY_MAX))
		return 0;
	return fail(CODE_USAGE, "--fill-memory '%llu': give 1M to 1T",
		    (unsigned long long)bytes);
}

static int check_name_free(const char *name)
{
	struct dm_device dev;
	bool found;

	if (dm_find(name, &dev, &found))
		return fail_code();
	dm_device_free(&dev);
	if (!found)
		return 0;
	return fail(CODE_BUSY,
		    "a device-mapper device '%s' exists: choose another name or close it",
		    name);
}

/**
 * activate_check_kernel() - demand the kernel module and a free name
 * @name: the name
 * @optional: nothing will be activated: load no module, and do without
 *	device-mapper
 *
 * Return: 0 or the exit code.
 */
int activate_check_kernel(const char *name, bool optional)
{
	if (!optional && dm_need_target())
		return fail_code();
	if (check_name_free(name) && optional && fail_code() != CODE_BUSY)
		fail_reset();
	return fail_code();
}

/*
 * device-mapper shares a device among all its tables, also with one that
 * writes: only caches, which read, may share an origin.
 */
static int check_origin_free(const struct device *origin)
{
	char holder[64];
	bool busy;

	if (device_test_claim(origin, &busy))
		return fail_code();
	if (!busy)
		return 0;
	if (identity_holder(origin->number, DM_UUID_PREFIX, holder,
			    sizeof(holder)))
		return fail(CODE_BUSY,
			    "origin '%s' is in use by '%s': close that first",
			    origin->path, holder);
	if (identity_holder(origin->number, NULL, holder, sizeof(holder)))
		return 0;
	return fail(CODE_BUSY,
		    "origin '%s' is in use: unmount it, then mount the nearcache device instead",
		    origin->path);
}

/**
 * activate_check_devices() - demand two devices that can work together
 * @origin: open origin
 * @cache: open cache device
 *
 * Return: 0 or the exit code.
 */
int activate_check_devices(const struct device *origin,
			   const struct device *cache)
{
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
	/* Metadata is written in pages of 4 KiB. */
	if (cache->lbs > NEARCACHE_PAGE_SIZE)
		return fail(CODE_DEVICE,
			    "cache device '%s' has logical blocks of %u bytes, at most %u work",
			    cache->path, cache->lbs, NEARCACHE_PAGE_SIZE);
	if (origin->lbs > NEARCACHE_BLOCK_MIN)
		return fail(CODE_DEVICE,
			    "origin '%s' has logical blocks of %u bytes, at most %u work",
			    origin->path, origin->lbs, NEARCACHE_BLOCK_MIN);
	return check_origin_free(origin);
}

/**
 * activate_params() - the target's parameters
 * @act: the device
 * @params: ACTIVATE_PARAMS bytes to fill
 *
 * Devices go by number: a path may hold blanks.
 *
 * Return: @params.
 */
const char *activate_params(const struct activation *act, char *params)
{
	int used = snprintf(params, ACTIVATE_PARAMS, "read-only %u:%u %u:%u",
			    major(act->origin->number),
			    minor(act->origin->number),
			    major(act->cache->number),
			    minor(act->cache->number));

	if (act->fill_memory)
		snprintf(params + used, ACTIVATE_PARAMS - used,
			 " 2 fill_memory %llu",
			 (unsigned long long)act->fill_memory);
	return params;
}

/**
 * activate() - make the device
 * @act: the device; @act->cache must not be claimed by this process
 *
 * Return: 0 or the exit code; after a failure nothing is left behind.
 */
int activate(const struct activation *act)
{
	char params[ACTIVATE_PARAMS];
	char uuid[sizeof(DM_UUID_PREFIX) + SUPER_UUID_TEXT] = DM_UUID_PREFIX;

	uuid_unparse_lower(act->sb->uuid, uuid + strlen(uuid));
	return dm_activate(act->name, uuid, le64_to_cpu(act->sb->origin_size),
			   activate_params(act, params));
}

/**
 * activate_print() - show a device that was or would be made
 * @act: the device
 */
void activate_print(const struct activation *act)
{
	char params[ACTIVATE_PARAMS], line[ACTIVATE_PARAMS + 64], path[PATH_MAX];
	u64 bytes = le64_to_cpu(act->sb->origin_size);

	snprintf(path, sizeof(path), "/dev/mapper/%s", act->name);
	snprintf(line, sizeof(line), "0 %llu " DM_TARGET " %s",
		 (unsigned long long)(bytes / 512),
		 activate_params(act, params));
	print_string("name", NULL, act->name);
	print_string("device", "device", path);
	print_string("mode", "mode", "read-only");
	print_string("origin", "origin", act->origin->path);
	print_bytes("size", "size", bytes);
	print_string("cache", "cache device", act->cache->path);
	print_string("table", "table", line);
}
