// SPDX-License-Identifier: GPL-2.0-only
#include "open/format.h"

#include <stdlib.h>
#include <time.h>
#include <uuid/uuid.h>

#include "open/origin_record.h"
#include "lib/error.h"
#include "open/stage_device.h"
#include "open/uncached_writes.h"
#include "ondisk/layout.h"
#include "block/probe.h"
#include "ondisk/superblock.h"
#include "ondisk/slot_table.h"

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

static int claim_device(const struct formatting *new, struct device *cache)
{
	bool busy;

	if (!option_given(new->args, OPTION_DRY_RUN))
		return device_claim(cache);
	if (device_test_claim(cache, &busy))
		return fail_code();
	if (busy)
		return fail(CODE_BUSY, "cache device '%s' is in use",
			    cache->path);
	return 0;
}

/* Claim the cache devices. In a dry run only test whether they are free. */
int formatting_claim(const struct formatting *new)
{
	unsigned int i;

	if (claim_device(new, new->cache))
		return fail_code();
	for (i = 0; i < new->members->count; i++)
		if (claim_device(new, &new->members->dev[i]))
			return fail_code();
	return 0;
}

/* Fail if the device has witness records: without these, other caches start cold after a crash. */
static int check_records(const struct device *cache, const char *advice)
{
	unsigned int used;

	if (witness_count(cache, &used) || !used)
		return fail_code();
	return fail(CODE_DEVICE,
		    "%s '%s' is the witness device of %u other caches: if these records are not needed, %s",
		    cache->role, cache->path, used, advice);
}

/*
 * Fail if a cache or log device has content that is recognised. @advice: what the user should do, or NULL:
 * use --force, which the caller has not got.
 */
int formatting_check_content(const struct device *cache, const char *advice)
{
	char what[PROBE_WHAT];
	struct super super;
	int error = super_read(&super, cache);

	advice = advice ? advice : "overwrite it with --force";
	if (!error && super.best)
		fail(CODE_DEVICE,
		     "%s '%s' carries the nearcache '%s': open it, or %s",
		     cache->role, cache->path, (const char *)super.best->label, advice);
	else if (!error && (super.magic[0] || super.magic[1]))
		fail(CODE_DEVICE,
		     "%s '%s' carries an invalid nearcache superblock (%s): if it is not needed, %s",
		     cache->role, cache->path, super_why(&super), advice);
	else if (!error && !probe_content(cache, what) && what[0])
		fail(CODE_DEVICE,
		     "%s '%s' carries %s: if that is not needed, %s",
		     cache->role, cache->path, what, advice);
	else if (!error && !fail_code())
		check_records(cache, advice);
	super_free(&super);
	return fail_code();
}

/* Also with --force: fail if a cache device carries a log with writes that its origin lacks. */
static int check_logs(const struct formatting *new)
{
	unsigned int i;

	if (stage_check_overwrite(new->cache))
		return fail_code();
	for (i = 0; i < new->members->count; i++)
		if (stage_check_overwrite(&new->members->dev[i]))
			return fail_code();
	return 0;
}

/* Remember the overwritten cache: the new cache takes over the witness record of the old one. */
static void look_back(struct formatting *new)
{
	struct super super;

	if (super_read(&super, new->cache))
		fail_reset();
	else if (super.best)
		memcpy(new->replaced, super.best->uuid, sizeof(new->replaced));
	super_free(&super);
}

static bool replaces_cache(const struct formatting *new)
{
	static const u8 none[sizeof(new->replaced)];

	return memcmp(new->replaced, none, sizeof(none));
}

static struct witness_claim claim_of(const struct formatting *new)
{
	return (struct witness_claim){
		.uuid = new->sb->uuid,
		.replaced = replaces_cache(new) ? new->replaced : NULL,
		.force = option_given(new->args, OPTION_FORCE),
	};
}

static int lay_out(struct formatting *new)
{
	const struct members *members = new->members;
	const struct device *origin = new->origin;
	u64 sizes[NEARCACHE_MEMBERS_MAX] = { new->cache->size };
	u32 i, lbs = new->cache->lbs;
	char why[NC_WHY_SIZE];

	for (i = 0; i < members->count; i++) {
		sizes[i + 1] = members->dev[i].size;
		lbs = max(lbs, members->dev[i].lbs);
	}
	if (layout_compute_members(&new->layout, sizes, members->count + 1,
				   new->args->block_size,
				   new->args->integrity == NEARCACHE_INTEGRITY_CRC32C,
				   origin->size, origin->lbs, lbs, why))
		return 0;
	return fail(CODE_DEVICE, "cache device '%s' is too small: %s",
		    new->cache->path, why);
}

static int design_layout(struct formatting *new)
{
	const struct device *origin = new->origin, *cache = new->cache;
	struct nearcache_super *sb = new->sb;

	if (lay_out(new))
		return fail_code();
	layout_to_super(&new->layout, sb);
	memcpy(sb->magic, NEARCACHE_MAGIC, NEARCACHE_MAGIC_LEN);
	sb->version = cpu_to_le32(NEARCACHE_VERSION);
	sb->sequence = cpu_to_le64(1);
	uuid_generate(sb->uuid);
	strncpy((char *)sb->label, new->label, sizeof(sb->label) - 1);
	sb->created = cpu_to_le64((u64)time(NULL));
	sb->state = cpu_to_le32(NEARCACHE_STATE_CLEAN);
	sb->table_epoch = cpu_to_le64(1);
	memcpy(sb->witness, new->witness->path, sizeof(sb->witness));
	return dataset_seal(sb, cache, origin, new->args->dataset_version, &new->content);
}

/*
 * Check the old content of the claimed devices and compose the superblock of the new cache. The
 * caller frees new->sb, even after a failure.
 */
int formatting_prepare(struct formatting *new)
{
	struct witness_claim claim;
	unsigned int i;

	if (!option_given(new->args, OPTION_FORCE)) {
		if (formatting_check_content(new->cache, NULL))
			return fail_code();
		for (i = 0; i < new->members->count; i++)
			if (formatting_check_content(&new->members->dev[i], NULL))
				return fail_code();
	}
	if (check_logs(new))
		return fail_code();
	look_back(new);
	new->sb = device_buffer(NEARCACHE_SUPER_SIZE);
	if (!new->sb || design_layout(new))
		return fail_code();
	claim = claim_of(new);
	return *new->witness->path ? witness_prepare(new->witness, &claim) : 0;
}

/* Remove the old superblocks and, with --force, all other signatures of the old content. */
static int clear_device(const struct formatting *new, const struct device *cache)
{
	/* This call fails if a partition is in use, so it comes before the first write. */
	if (device_reread_partitions(cache) || super_wipe(cache))
		return fail_code();
	if (option_given(new->args, OPTION_FORCE) && probe_wipe(cache))
		return fail_code();
	/* The partition table may be gone now: make the kernel forget the partitions. */
	return device_reread_partitions(cache);
}

/*
 * Write all metadata except the superblocks. The superblocks come last, so that an interrupted run
 * leaves a device without any content instead of a cache with invalid metadata.
 */
int formatting_write_areas(const struct formatting *new)
{
	const struct nearcache_area *area = new->sb->area;
	const struct device *cache = new->cache;
	unsigned int i;

	if (clear_device(new, cache))
		return fail_code();
	for (i = 0; i < new->members->count; i++)
		if (clear_device(new, &new->members->dev[i]))
			return fail_code();
	if (table_write(cache, new->sb))
		return fail_code();
	for (i = NEARCACHE_AREA_TABLE + 1; i < NEARCACHE_AREA_COUNT; i++)
		if (device_zero(cache, le64_to_cpu(area[i].offset),
				le64_to_cpu(area[i].length)))
			return fail_code();
	return device_sync(cache);
}

/* If the cache has a witness, claim a record on it. Call this after formatting_write_areas(). */
int formatting_claim_record(const struct formatting *new)
{
	struct witness_claim claim = claim_of(new);

	return *new->witness->path ? witness_claim(new->witness, &claim) : 0;
}

/* Write the superblock of member @index, which is at least 1. */
static int write_member(const struct formatting *new, unsigned int index)
{
	struct device *dev = &new->members->dev[index - 1];
	struct nearcache_super *sb = device_buffer(NEARCACHE_SUPER_SIZE);
	struct nc_geometry geo;
	char why[NC_WHY_SIZE];

	if (!sb)
		return fail_code();
	memcpy(sb, new->sb, sizeof(*sb));
	layout_to_member(&new->layout, index, sb);
	nc_super_seal(sb);
	if (!nc_super_check(sb, dev->size, &geo, why))
		fail(CODE_DEVICE, "cache device '%s' does not fit: %s",
		     dev->path, why);
	else
		super_write(dev, sb);
	free(sb);
	return fail_code();
}

/*
 * Write the superblocks, after formatting_write_areas(). Closes the cache devices in any case, so
 * that the kernel can claim them.
 */
int formatting_write_super(const struct formatting *new)
{
	unsigned int i;

	for (i = 1; i <= new->members->count && !fail_code(); i++)
		write_member(new, i);
	/* A cache is valid only with the superblock of its first member: write that one last. */
	if (!fail_code())
		super_write(new->cache, new->sb);
	for (i = 0; i < new->members->count; i++)
		device_close(&new->members->dev[i]);
	device_close(new->cache);
	return fail_code();
}

/*
 * Record that this new, empty cache missed no write to the origin. A failure only warns: the next
 * open empties the cache. The caller took lock_all() before it wrote the superblock, so no new gap
 * (uncached_writes.h) has begun since; this function would end such a gap by mistake.
 */
void formatting_end_gaps(const struct formatting *new)
{
	if (!gaps_emptied(new->sb, le64_to_cpu(new->sb->table_epoch)))
		return;
	warn("%s; the next open empties the cache", fail_message());
	fail_reset();
}

/* Free the witness record of the new cache. Open the witness again: it may be closed by now. */
static void free_record(const struct formatting *new)
{
	struct witness witness = WITNESS_CLOSED;

	if (*new->witness->path && !witness_open(&witness, new->witness->path))
		witness_free(&witness, new->sb->uuid);
	witness_close(&witness);
}

static void undo_format(const struct formatting *new, struct device *cache)
{
	struct super super;

	device_close(cache);
	if (device_claim(cache))
		return;
	if (!super_read(&super, cache) && super.best &&
	    !memcmp(super.best->uuid, new->sb->uuid,
		    sizeof(new->sb->uuid)))
		super_wipe(cache);
	super_free(&super);
}

/* Free the witness record. Wipe the superblocks, if those of the new cache are still there. */
void formatting_undo(const struct formatting *new)
{
	unsigned int i;

	free_record(new);
	undo_format(new, new->cache);
	for (i = 0; i < new->members->count; i++)
		undo_format(new, &new->members->dev[i]);
}
