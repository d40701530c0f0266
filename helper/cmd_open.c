// SPDX-License-Identifier: GPL-2.0-only
/* nearcache open: a cache that was created before. */
#include "activate.h"
#include "commands.h"
#include "device.h"
#include "dm.h"
#include "fail.h"
#include "fingerprint.h"
#include "identity.h"
#include "print.h"
#include "super.h"

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
static int find_origin(struct device *origin, const struct super *super,
		       const struct device *cache)
{
	const char *id = (const char *)super->best->origin_id;
	char path[PATH_MAX];
	dev_t number;
	int found;

	if (!*id)
		return fail(CODE_DEVICE,
			    "the origin of '%s' has no stable identity: name it with --origin DEV",
			    cache->path);
	found = identity_find(id, cache->number, &number);
	if (!found)
		return fail(CODE_DEVICE,
			    "no device here is the origin '%s': connect it or name it with --origin DEV",
			    id);
	if (found > 1)
		return fail(CODE_DEVICE,
			    "%d devices are the origin '%s': name one with --origin DEV",
			    found, id);
	return device_open(origin, device_path_of(number, path), "origin");
}

static int check_fingerprint(const struct device *origin,
			     const struct nearcache_super *sb)
{
	unsigned char digest[FINGERPRINT_SIZE];

	if (le32_to_cpu(sb->origin_fingerprint_type) != NEARCACHE_FP_ENDS)
		return 0;
	if (fingerprint_ends(origin, digest))
		return fail_code();
	if (!memcmp(digest, sb->origin_fingerprint, sizeof(digest)))
		return 0;
	return fail(CODE_DEVICE,
		    "origin '%s' was changed since its cache was created (its first or last 64 KiB differ): the cached data is stale, make the cache anew with 'nearcache create --force'",
		    origin->path);
}

static int check_origin(const struct device *origin,
			const struct nearcache_super *sb)
{
	const char *id = (const char *)sb->origin_id;

	if (origin->size != le64_to_cpu(sb->origin_size))
		return fail(CODE_DEVICE,
			    "origin '%s' has %llu bytes, the cache was created for one of %llu bytes",
			    origin->path, (unsigned long long)origin->size,
			    (unsigned long long)le64_to_cpu(sb->origin_size));
	if (*id && strcmp(origin->id, id))
		return fail(CODE_DEVICE,
			    "origin '%s' is '%s', the cache was created for '%s'",
			    origin->path, origin->id, id);
	if (origin->lbs != le32_to_cpu(sb->origin_lbs))
		return fail(CODE_DEVICE,
			    "origin '%s' has logical blocks of %u bytes, at create they had %u bytes",
			    origin->path, origin->lbs,
			    le32_to_cpu(sb->origin_lbs));
	return check_fingerprint(origin, sb);
}

static int run(const struct activation *act, bool dry_run)
{
	if (check_origin(act->origin, act->sb) ||
	    activate_check_devices(act->origin, act->cache) ||
	    activate_check_kernel(act->name, dry_run))
		return fail_code();
	if (!dry_run && activate(act))
		return fail_code();
	print_record(NULL, act->name);
	activate_print(act);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_end();
	return 0;
}

int cmd_open(const struct arguments *args)
{
	struct device origin = DEVICE_CLOSED, cache = DEVICE_CLOSED;
	struct super super = { 0 };
	struct activation act = {
		.name = args->operand[0],
		.origin = &origin,
		.cache = &cache,
		.fill_memory = args->fill_memory,
	};

	if (!arguments_check_name(act.name) &&
	    !device_open(&cache, args->cache, "cache device") &&
	    !super_read(&super, &cache) && !super_require(&super, &cache) &&
	    !check_cache_free(&cache)) {
		int error = args->origin ?
			    device_open(&origin, args->origin, "origin") :
			    find_origin(&origin, &super, &cache);

		act.sb = super.best;
		if (!error)
			run(&act, given(args, OPTION_DRY_RUN));
	}
	super_free(&super);
	device_close(&origin);
	device_close(&cache);
	return fail_code();
}
