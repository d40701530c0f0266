// SPDX-License-Identifier: GPL-2.0-only
#include "dataset.h"

#include <stdlib.h>

#include "fail.h"
#include "fingerprint.h"
#include "layout.h"
#include "text.h"

/**
 * dataset_check_version() - demand a version that the superblock can hold
 * @version: --dataset-version, NULL when not given
 *
 * Return: 0 or the exit code.
 */
int dataset_check_version(const char *version)
{
	size_t good;

	if (!version)
		return 0;
	/* More likely a variable that is not set than somebody's version. */
	if (!*version)
		return fail(CODE_USAGE,
			    "--dataset-version '': it is empty; leave it out for no version, or the one that is recorded");
	good = text_check(version);
	if (version[good])
		return fail(CODE_USAGE,
			    "--dataset-version '%s': byte %zu is a control character or no UTF-8",
			    version, good);
	if (good >= sizeof(((struct nearcache_super *)0)->dataset_version))
		return fail(CODE_USAGE,
			    "--dataset-version '%s': it is longer than 63 bytes",
			    version);
	return 0;
}

/**
 * dataset_is_new() - whether the cached content is of another version
 * @sb: sound superblock
 * @version: --dataset-version, NULL when not given
 *
 * Return: whether it is, or may be because none was recorded.
 */
bool dataset_is_new(const struct nearcache_super *sb, const char *version)
{
	return version && strcmp(version, (const char *)sb->dataset_version);
}

/**
 * dataset_seal() - finish a superblock: which data it speaks of, and the checksum
 * @sb: complete but for that
 * @cache: device that it is for
 * @origin: open; its ends are read
 * @version: of the data, empty for none
 *
 * Return: 0 or the exit code.
 */
int dataset_seal(struct nearcache_super *sb, const struct device *cache,
		 const struct device *origin, const char *version)
{
	struct nc_geometry geo;
	char why[NC_WHY_SIZE];

	memset(sb->dataset_version, 0, sizeof(sb->dataset_version));
	strncpy((char *)sb->dataset_version, version,
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

/*
 * One superblock that says it all: another epoch empties the slot table, of
 * which every page belongs to an older one then.  A cache that was not stopped
 * keeps that state.
 */
static int compose(struct nearcache_super *sb, const struct super *super,
		   const struct device *cache, const struct device *origin,
		   const char *version)
{
	u64 region = layout_intent_region(origin->size);

	memcpy(sb, super->best, sizeof(*sb));
	sb->sequence = cpu_to_le64(le64_to_cpu(sb->sequence) + 1);
	sb->table_epoch = cpu_to_le64(le64_to_cpu(sb->table_epoch) + 1);
	sb->origin_size = cpu_to_le64(origin->size);
	/* Never less: bits that are set would change their meaning. */
	if (region > le64_to_cpu(sb->intent_region))
		sb->intent_region = cpu_to_le64(region);
	return dataset_seal(sb, cache, origin, version);
}

/* Before the claim anybody could open or format the cache. */
static int check_same(const struct device *cache, const struct super *before)
{
	struct super now;

	if (!super_read(&now, cache) &&
	    (!now.best || memcmp(now.best, before->best, sizeof(*now.best))))
		fail(CODE_BUSY,
		     "cache device '%s' was written to meanwhile: its content was not dropped",
		     cache->path);
	super_free(&now);
	return fail_code();
}

/**
 * dataset_replace() - drop what is cached and record what will be
 * @cache: open cache device, which nobody uses; closed afterwards
 * @super: as read from it, with a sound copy
 * @origin: open origin
 * @version: the new version
 *
 * A crash leaves the old cache or the new, empty one.
 *
 * Return: 0 or the exit code.
 */
int dataset_replace(struct device *cache, const struct super *super,
		    const struct device *origin, const char *version)
{
	struct nearcache_super *sb = device_buffer(NEARCACHE_SUPER_SIZE);

	if (sb && !compose(sb, super, cache, origin, version) &&
	    !device_claim(cache) && !check_same(cache, super))
		super_rewrite(cache, super, sb);
	free(sb);
	device_close(cache);
	return fail_code();
}
