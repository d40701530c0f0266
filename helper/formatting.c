// SPDX-License-Identifier: GPL-2.0-only
#include "formatting.h"

#include <stdlib.h>
#include <time.h>
#include <uuid/uuid.h>

#include "dataset.h"
#include "fail.h"
#include "layout.h"
#include "probe.h"
#include "super.h"
#include "table.h"

/**
 * formatting_check_words() - demand options that a cache can have
 * @args: the command line
 *
 * Return: 0 or the exit code.
 */
int formatting_check_words(const struct arguments *args)
{
	u64 block = args->block_size;

	if (dataset_check_version(args->dataset_version))
		return fail_code();
	if (block && (block < NEARCACHE_BLOCK_MIN ||
		      block > NEARCACHE_BLOCK_MAX || !is_power_of_2(block)))
		return fail(CODE_USAGE,
			    "--block-size '%llu': give a power of two from 64K to 4M",
			    (unsigned long long)block);
	return 0;
}

/**
 * formatting_claim() - keep others off the cache device, unless nothing is written
 * @new: its devices are open
 *
 * Return: 0 or the exit code.
 */
int formatting_claim(const struct formatting *new)
{
	bool busy;

	if (!given(new->args, OPTION_DRY_RUN))
		return device_claim(new->cache);
	if (device_test_claim(new->cache, &busy))
		return fail_code();
	if (busy)
		return fail(CODE_BUSY, "cache device '%s' is in use",
			    new->cache->path);
	return 0;
}

/* Refuse to overwrite what somebody may still want. */
static int check_content(const struct device *cache)
{
	char what[PROBE_WHAT];
	struct super super;
	int error = super_read(&super, cache);

	if (!error && super.best)
		fail(CODE_DEVICE,
		     "cache device '%s' carries the nearcache '%s': open it, or overwrite it with --force",
		     cache->path, (const char *)super.best->label);
	else if (!error && (super.magic[0] || super.magic[1]))
		fail(CODE_DEVICE,
		     "cache device '%s' carries a nearcache superblock that does not count (%s): if that may go, overwrite it with --force",
		     cache->path, super_why(&super));
	else if (!error && !probe_content(cache, what) && what[0])
		fail(CODE_DEVICE,
		     "cache device '%s' carries %s: if that may go, overwrite it with --force",
		     cache->path, what);
	super_free(&super);
	return fail_code();
}

/* Put the new cache together, in memory. */
static int design(const struct formatting *new)
{
	const struct device *origin = new->origin, *cache = new->cache;
	struct nearcache_super *sb = new->sb;
	char why[NC_WHY_SIZE];
	struct layout layout;

	if (!layout_compute(&layout, cache->size, new->args->block_size,
			    new->args->integrity == NEARCACHE_INTEGRITY_CRC32C,
			    origin->size, origin->lbs, cache->lbs, why))
		return fail(CODE_DEVICE, "cache device '%s' is too small: %s",
			    cache->path, why);
	layout_to_super(&layout, sb);
	memcpy(sb->magic, NEARCACHE_MAGIC, NEARCACHE_MAGIC_LEN);
	sb->version = cpu_to_le32(NEARCACHE_VERSION);
	sb->sequence = cpu_to_le64(1);
	uuid_generate(sb->uuid);
	strncpy((char *)sb->label, new->label, sizeof(sb->label) - 1);
	sb->created = cpu_to_le64((u64)time(NULL));
	sb->state = cpu_to_le32(NEARCACHE_STATE_CLEAN);
	sb->stripe_count = cpu_to_le16(1);
	sb->table_epoch = cpu_to_le64(1);
	return dataset_seal(sb, cache, origin, new->args->dataset_version);
}

/**
 * formatting_prepare() - see what would be overwritten, and design the cache
 * @new: claimed; its superblock is for free() afterwards
 *
 * Return: 0 or the exit code.
 */
int formatting_prepare(struct formatting *new)
{
	if (!given(new->args, OPTION_FORCE) && check_content(new->cache))
		return fail_code();
	new->sb = device_buffer(NEARCACHE_SUPER_SIZE);
	return new->sb ? design(new) : fail_code();
}

/**
 * formatting_write_areas() - write all but the superblocks
 * @new: prepared
 *
 * They come last: a run that ends in here leaves a device that no longer is
 * what it was and not yet a cache.
 *
 * Return: 0 or the exit code.
 */
int formatting_write_areas(const struct formatting *new)
{
	const struct nearcache_area *area = new->sb->area;
	const struct device *cache = new->cache;
	unsigned int i;

	/* Before the first write: is a partition in use? */
	if (device_reread_partitions(cache) || super_wipe(cache))
		return fail_code();
	if (given(new->args, OPTION_FORCE) && probe_wipe(cache))
		return fail_code();
	/* Now the table is gone: so must be the partitions. */
	if (device_reread_partitions(cache))
		return fail_code();
	if (table_write(cache, new->sb))
		return fail_code();
	for (i = NEARCACHE_AREA_TABLE + 1; i < NEARCACHE_AREA_COUNT; i++)
		if (device_zero(cache, le64_to_cpu(area[i].offset),
				le64_to_cpu(area[i].length)))
			return fail_code();
	return device_sync(cache);
}

/**
 * formatting_write_super() - make it a cache; closes the device
 * @new: its areas are written
 *
 * The kernel claims the cache device for itself.
 *
 * Return: 0 or the exit code.
 */
int formatting_write_super(const struct formatting *new)
{
	int error = super_write(new->cache, new->sb);

	device_close(new->cache);
	return error;
}

/**
 * formatting_undo() - take back the superblocks, if they are still ours
 * @new: written
 */
void formatting_undo(const struct formatting *new)
{
	struct super super;

	device_close(new->cache);
	if (device_claim(new->cache))
		return;
	if (!super_read(&super, new->cache) && super.best &&
	    !memcmp(super.best->uuid, new->sb->uuid,
		    sizeof(new->sb->uuid)))
		super_wipe(new->cache);
	super_free(&super);
}
