// SPDX-License-Identifier: GPL-2.0-only
/* nearcache create: format a cache device, then open it. */
#include <stdlib.h>
#include <time.h>
#include <uuid/uuid.h>

#include "activate.h"
#include "commands.h"
#include "dataset.h"
#include "describe.h"
#include "device.h"
#include "fail.h"
#include "fingerprint.h"
#include "layout.h"
#include "print.h"
#include "probe.h"
#include "signals.h"
#include "super.h"
#include "table.h"

/**
 * struct create - a cache in the making
 * @args: the command line
 * @name: dm name and label
 * @origin: open origin
 * @cache: open, later claimed cache device
 * @sb: the superblock to write
 */
struct create {
	const struct arguments *args;
	const char *name;
	struct device origin;
	struct device cache;
	struct nearcache_super *sb;
};

static int check_words(const struct create *create)
{
	u64 block = create->args->block_size;

	if (arguments_check_name(create->name) ||
	    dataset_check_version(create->args->dataset_version))
		return fail_code();
	if (given(create->args, OPTION_FORMAT_ONLY) &&
	    given(create->args, OPTION_MODE))
		return fail(CODE_USAGE,
			    "--mode says nothing with --format-only: the cache device does not record it, give it to 'nearcache open'");
	if (block && (block < NEARCACHE_BLOCK_MIN ||
		      block > NEARCACHE_BLOCK_MAX || !is_power_of_2(block)))
		return fail(CODE_USAGE,
			    "--block-size '%llu': give a power of two from 64K to 4M",
			    (unsigned long long)block);
	return 0;
}

static int claim_cache(struct create *create)
{
	bool busy;

	if (!given(create->args, OPTION_DRY_RUN))
		return device_claim(&create->cache);
	if (device_test_claim(&create->cache, &busy))
		return fail_code();
	if (busy)
		return fail(CODE_BUSY, "cache device '%s' is in use",
			    create->cache.path);
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
static int design(struct create *create)
{
	const struct device *origin = &create->origin, *cache = &create->cache;
	const char *version = create->args->dataset_version;
	struct nearcache_super *sb = create->sb;
	char why[NC_WHY_SIZE];
	struct layout layout;
	struct nc_geometry geo;

	if (!layout_compute(&layout, cache->size, create->args->block_size,
			    origin->size, origin->lbs, cache->lbs, why))
		return fail(CODE_DEVICE, "cache device '%s' is too small: %s",
			    cache->path, why);
	layout_to_super(&layout, sb);
	memcpy(sb->magic, NEARCACHE_MAGIC, NEARCACHE_MAGIC_LEN);
	sb->version = cpu_to_le32(NEARCACHE_VERSION);
	sb->sequence = cpu_to_le64(1);
	uuid_generate(sb->uuid);
	strncpy((char *)sb->label, create->name, sizeof(sb->label) - 1);
	sb->created = cpu_to_le64((u64)time(NULL));
	sb->state = cpu_to_le32(NEARCACHE_STATE_CLEAN);
	sb->stripe_count = cpu_to_le16(1);
	sb->table_epoch = cpu_to_le64(1);
	memcpy(sb->origin_id, origin->id, sizeof(sb->origin_id));
	strncpy((char *)sb->dataset_version, version ? version : "",
		sizeof(sb->dataset_version) - 1);
	sb->origin_fingerprint_type = cpu_to_le32(NEARCACHE_FP_ENDS);
	if (fingerprint_ends(origin, origin->size, sb->origin_fingerprint))
		return fail_code();
	nc_super_seal(sb);
	/* The judge has the last word. */
	if (!nc_super_check(sb, cache->size, &geo, why))
		return fail(CODE_DEVICE,
			    "origin '%s' and cache device '%s' do not fit: %s",
			    origin->path, cache->path, why);
	return 0;
}

/* Everything that can be known before the first byte is written. */
static int prepare(struct create *create, const struct activation *act)
{
	const struct arguments *args = create->args;
	bool no_start = given(args, OPTION_DRY_RUN | OPTION_FORMAT_ONLY);

	if (check_words(create) ||
	    device_open(&create->origin, args->origin, "origin") ||
	    device_open(&create->cache, args->cache, "cache device") ||
	    activate_check_devices(act) || claim_cache(create) ||
	    activate_check_kernel(act, no_start))
		return fail_code();
	if (!given(args, OPTION_FORCE) && check_content(&create->cache))
		return fail_code();
	create->sb = device_buffer(NEARCACHE_SUPER_SIZE);
	return create->sb ? design(create) : fail_code();
}

/* All but the superblocks, which come last: a run that ends in here leaves a
 * device that no longer is what it was and not yet a cache.
 */
static int format_areas(const struct create *create)
{
	const struct nearcache_area *area = create->sb->area;
	const struct device *cache = &create->cache;
	unsigned int i;

	/* Before the first write: is a partition in use? */
	if (device_reread_partitions(cache) || super_wipe(cache))
		return fail_code();
	if (given(create->args, OPTION_FORCE) && probe_wipe(cache))
		return fail_code();
	/* Now the table is gone: so must be the partitions. */
	if (device_reread_partitions(cache))
		return fail_code();
	if (table_write(cache, create->sb))
		return fail_code();
	for (i = NEARCACHE_AREA_TABLE + 1; i < NEARCACHE_AREA_COUNT; i++)
		if (device_zero(cache, le64_to_cpu(area[i].offset),
				le64_to_cpu(area[i].length)))
			return fail_code();
	return device_sync(cache);
}

/* After a failure: take back the superblocks, if they are still ours. */
static void undo(struct create *create)
{
	struct super super;

	device_close(&create->cache);
	if (device_claim(&create->cache))
		return;
	if (!super_read(&super, &create->cache) && super.best &&
	    !memcmp(super.best->uuid, create->sb->uuid,
		    sizeof(create->sb->uuid)))
		super_wipe(&create->cache);
	super_free(&super);
}

static int execute(struct create *create, const struct activation *act)
{
	int error = format_areas(create);
	sigset_t before;

	if (error)
		return error;
	/* From here on, to the end, a ^C would leave half the work. */
	signals_hold(&before);
	error = super_write(&create->cache, create->sb);
	/* The kernel claims the cache device for itself. */
	device_close(&create->cache);
	if (!error && !given(create->args, OPTION_FORMAT_ONLY))
		error = activate(act);
	if (error)
		undo(create);
	return error;
}

static void report(const struct create *create, const struct activation *act)
{
	bool dry_run = given(create->args, OPTION_DRY_RUN);

	print_record(NULL, create->name);
	activate_print(act);
	describe_super(create->sb, dry_run);
	print_flag("active", NULL,
		   !given(create->args, OPTION_DRY_RUN | OPTION_FORMAT_ONLY));
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	if (dry_run)
		describe_areas(create->sb);
	print_end();
}

int cmd_create(const struct arguments *args)
{
	struct create create = {
		.args = args,
		.name = args->operand[0],
		.origin = DEVICE_CLOSED,
		.cache = DEVICE_CLOSED,
	};
	struct activation act = {
		.name = create.name,
		.origin = &create.origin,
		.cache = &create.cache,
		.mode = args->mode,
		.fill_memory = args->fill_memory,
	};
	int error = prepare(&create, &act);

	act.sb = create.sb;
	if (!error && !given(args, OPTION_DRY_RUN))
		error = execute(&create, &act);
	if (!error)
		report(&create, &act);
	free(create.sb);
	device_close(&create.origin);
	device_close(&create.cache);
	return error;
}
