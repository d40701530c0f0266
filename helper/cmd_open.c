// SPDX-License-Identifier: GPL-2.0-only
/* nearcache open: a cache that was created before. */
#include <stdio.h>

#include "activate.h"
#include "commands.h"
#include "dataset.h"
#include "describe.h"
#include "device.h"
#include "dm.h"
#include "fail.h"
#include "fingerprint.h"
#include "identity.h"
#include "print.h"
#include "signals.h"
#include "super.h"

/**
 * struct opening - a cache on its way
 * @args: the command line
 * @origin: open origin
 * @cache: open cache device; closed once its superblock was rewritten
 * @super: what is on it
 * @drop: the dataset version is another one: nothing cached is of use
 */
struct opening {
	const struct arguments *args;
	struct device origin;
	struct device cache;
	struct super super;
	bool drop;
};

static int check_cache_free(const struct device *cache)
{
	struct dm_device user;
	bool busy;

	if (device_test_claim(cache, &busy))
		return fail_code();
	if (!busy)
		return 0;
	if (!dm_find_cache(cache->number, &user, &busy) && busy) {
		fail(CODE_BUSY, "cache device '%s' is in use by device '%s'",
		     cache->path, user.name);
		dm_device_free(&user);
		return fail_code();
	}
	return fail(CODE_BUSY,
		    "cache device '%s' is in use: release it first (lsblk shows what is on top of it)",
		    cache->path);
}

/* Open the origin that the superblock names. */
static int find_origin(struct opening *open)
{
	const char *id = (const char *)open->super.best->origin_id;
	char path[PATH_MAX];
	dev_t number;
	int found;

	if (!*id)
		return fail(CODE_DEVICE,
			    "the origin of '%s' has no stable identity: name it with --origin DEV",
			    open->cache.path);
	found = identity_find(id, open->cache.number, &number);
	if (!found)
		return fail(CODE_DEVICE,
			    "no device here is the origin '%s': connect it or name it with --origin DEV",
			    id);
	if (found > 1)
		return fail(CODE_DEVICE,
			    "%d devices are the origin '%s': name one with --origin DEV",
			    found, id);
	return device_open(&open->origin, device_path_of(number, path),
			   "origin");
}

static bool is_active(const struct opening *open)
{
	return le32_to_cpu(open->super.best->state) == NEARCACHE_STATE_ACTIVE;
}

/* An origin that grew keeps its old content, up to its old end. */
static int check_fingerprint(const struct opening *open)
{
	const struct nearcache_super *sb = open->super.best;
	unsigned char digest[FINGERPRINT_SIZE];

	/* What was not stopped cleanly may have written to the origin since:
	 * the fingerprint is older, and of what is cached nothing is used.
	 */
	if (is_active(open) ||
	    le32_to_cpu(sb->origin_fingerprint_type) != NEARCACHE_FP_ENDS)
		return 0;
	if (fingerprint_ends(&open->origin, le64_to_cpu(sb->origin_size),
			     digest))
		return fail_code();
	if (!memcmp(digest, sb->origin_fingerprint, sizeof(digest)))
		return 0;
	return fail(CODE_DEVICE,
		    "origin '%s' was changed since its cache was closed (its first or last 64 KiB differ): the cached data is stale, drop it with --dataset-version and a new version, or make the cache anew with 'nearcache create --force'",
		    open->origin.path);
}

static int check_size(const struct opening *open)
{
	u64 before = le64_to_cpu(open->super.best->origin_size);
	u64 now = open->origin.size;

	if (now == before || (now > before && given(open->args, OPTION_GROW)))
		return 0;
	return fail(CODE_DEVICE,
		    "origin '%s' has %llu bytes, the cache was created for one of %llu bytes%s",
		    open->origin.path, (unsigned long long)now,
		    (unsigned long long)before,
		    now > before ? ": if it grew, open it with --grow" : "");
}

static int check_origin(const struct opening *open)
{
	const struct nearcache_super *sb = open->super.best;
	const struct device *origin = &open->origin;
	const char *id = (const char *)sb->origin_id;

	if (!open->drop && check_size(open))
		return fail_code();
	if (*id && strcmp(origin->id, id))
		return fail(CODE_DEVICE,
			    "origin '%s' is '%s', the cache was created for '%s'",
			    origin->path, origin->id, id);
	if (origin->lbs != le32_to_cpu(sb->origin_lbs))
		return fail(CODE_DEVICE,
			    "origin '%s' has logical blocks of %u bytes, at create they had %u bytes",
			    origin->path, origin->lbs,
			    le32_to_cpu(sb->origin_lbs));
	return open->drop ? 0 : check_fingerprint(open);
}

/* Drop what is to be dropped, then start. */
static int execute(struct opening *open, const struct activation *act)
{
	const char *version = open->args->dataset_version;
	sigset_t before;

	if (!open->drop)
		return activate(act);
	/* From here on, to the end: a ^C would open nothing and have dropped
	 * what was cached.
	 */
	signals_hold(&before);
	if (dataset_replace(&open->cache, &open->super, &open->origin, version))
		return fail_code();
	if (!activate(act))
		return 0;
	return fail_add("what was cached is dropped already, dataset version '%s' is recorded",
			version);
}

/* What the device starts with. */
static void print_content(const struct opening *open, bool dry_run)
{
	const char *before = (const char *)open->super.best->dataset_version;
	const char *after = open->args->dataset_version;
	char text[256];

	print_string("dataset_version", "dataset version",
		     open->drop ? after : before);
	if (open->drop) {
		snprintf(text, sizeof(text),
			 "%sdropped: the dataset version was '%s'",
			 dry_run ? "would be " : "", before);
		print_string("content", NULL, "dropped");
		print_string(NULL, "cached content", text);
	} else if (is_active(open)) {
		print_string("content", NULL, "cold");
		print_string(NULL, "cached content",
			     "none: it was not stopped cleanly in a writing mode");
	} else {
		print_string("content", NULL, "warm");
	}
}

/* A start never fails because of the cache device alone. */
static void warn_of_state(const char *name, const struct status *status)
{
	if (status->field[NEARCACHE_FIELD_STATE] == NEARCACHE_BYPASS)
		warn("device '%s' works without its cache, which cannot be read or written: the kernel log (dmesg) says why; replace the cache device",
		     name);
	else if (status->field[NEARCACHE_FIELD_LOADED] ==
		 NEARCACHE_LOADED_DAMAGED)
		warn("a part of the slot table was damaged: what it cached for '%s' is read from the origin again",
		     name);
}

/* What the kernel made of it. */
static void print_state(const char *name)
{
	struct dm_device dev;
	struct status status;
	sigset_t before;
	bool found;

	/* To the end: it is open, and a ^C would not say so. */
	signals_hold(&before);
	if (dm_find(name, &dev, &found) || describe_status(&dev, &status)) {
		/* The device was opened all the same. */
		fail_reset();
	} else if (dev.status) {
		print_string("state", NULL, describe_state(&dev, &status));
		print_string("loaded", NULL,
			     status_word(NEARCACHE_FIELD_LOADED,
					 status.field[NEARCACHE_FIELD_LOADED]));
		warn_of_state(name, &status);
	}
	dm_device_free(&dev);
}

static int run(struct opening *open, const struct activation *act)
{
	bool dry_run = given(open->args, OPTION_DRY_RUN);

	if (check_origin(open) || activate_check_devices(act) ||
	    activate_check_kernel(act, dry_run) ||
	    (!dry_run && execute(open, act)))
		return fail_code();
	print_record(NULL, act->name);
	activate_print(act);
	print_content(open, dry_run);
	if (!dry_run)
		print_state(act->name);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_end();
	return 0;
}

/* A local drive that is not there must not stop anybody: no data is only there. */
static int open_cache(struct opening *open)
{
	if (device_open(&open->cache, open->args->cache, "cache device") ==
	    CODE_DEVICE)
		fail_add("without it use the origin itself, which holds all data; or make a cache on another device with 'nearcache create'");
	return fail_code();
}

int cmd_open(const struct arguments *args)
{
	struct opening open = {
		.args = args,
		.origin = DEVICE_CLOSED,
		.cache = DEVICE_CLOSED,
	};
	struct activation act = {
		.name = args->operand[0],
		.origin = &open.origin,
		.cache = &open.cache,
		.mode = args->mode,
		.fill_memory = args->fill_memory,
	};

	if (!arguments_check_name(args->operand[0]) &&
	    !dataset_check_version(args->dataset_version) &&
	    !open_cache(&open) &&
	    !super_read(&open.super, &open.cache) &&
	    !super_require(&open.super, &open.cache) &&
	    !check_cache_free(&open.cache)) {
		int error = args->origin ?
			    device_open(&open.origin, args->origin, "origin") :
			    find_origin(&open);

		act.sb = open.super.best;
		open.drop = dataset_is_new(act.sb, args->dataset_version);
		if (!error)
			run(&open, &act);
	}
	super_free(&open.super);
	device_close(&open.origin);
	device_close(&open.cache);
	return fail_code();
}
