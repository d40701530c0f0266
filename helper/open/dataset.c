// SPDX-License-Identifier: GPL-2.0-only
#include "open/dataset.h"

#include <stdlib.h>

#include "lib/error.h"
#include "ondisk/fingerprint.h"
#include "ondisk/layout.h"
#include "lib/sanitize.h"
#include "open/witness.h"

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

/*
 * The size: what is trusted reaches to the end that it had, and the kernel makes it
 * longer; or to the new one, and the kernel drops what lies behind.
 */
static void take_size(struct nearcache_super *sb,
		      const struct dataset_change *change)
{
	u64 size = change->size;
	u64 region = layout_intent_region(size);

	if (!change->drop && size > le64_to_cpu(sb->origin_size))
		return;
	sb->origin_size = cpu_to_le64(size);
	/* Never less: bits that are set would change their meaning. */
	if (region > le64_to_cpu(sb->intent_region))
		sb->intent_region = cpu_to_le64(region);
}

/**
 * dataset_seal() - finish a superblock: which data it speaks of, and the checksum
 * @sb: complete but for that
 * @cache: device that it is for
 * @origin: open; it is read for its fingerprints
 * @version: of the data; NULL leaves the one that is recorded
 *
 * Return: 0 or the exit code.
 */
int dataset_seal(struct nearcache_super *sb, const struct device *cache,
		 const struct device *origin, const char *version)
{
	struct nc_geometry geo;
	char why[NC_WHY_SIZE];

	if (version) {
		memset(sb->dataset_version, 0, sizeof(sb->dataset_version));
		strncpy((char *)sb->dataset_version, version,
			sizeof(sb->dataset_version) - 1);
	}
	memcpy(sb->origin_id, origin->id, sizeof(sb->origin_id));
	if (fingerprint_record(origin, sb))
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
static int compose_superblock(struct nearcache_super *sb, const struct super *super,
			      const struct device *cache, const struct device *origin,
			      const struct dataset_change *change)
{
	memcpy(sb, super->best, sizeof(*sb));
	sb->sequence = cpu_to_le64(le64_to_cpu(sb->sequence) + 1);
	if (change->drop)
		sb->table_epoch = cpu_to_le64(le64_to_cpu(sb->table_epoch) + 1);
	if (change->witness) {
		memset(sb->witness, 0, sizeof(sb->witness));
		strncpy((char *)sb->witness, change->witness,
			sizeof(sb->witness) - 1);
	}
	/* It is not older any more: there is nothing in it, or a witness knows that it is
	 * the one.  What a session that was cut off has marked goes by its number.
	 */
	if (change->session > le64_to_cpu(sb->session) &&
	    (change->drop ||
	     le32_to_cpu(sb->state) != NEARCACHE_STATE_WRITING))
		sb->session = cpu_to_le64(change->session);
	take_size(sb, change);
	return dataset_seal(sb, cache, origin, change->version);
}

/* Before the claim anybody could open or format the cache. */
static int check_same(const struct device *cache, const struct super *before)
{
	struct super now;

	if (!super_read(&now, cache) &&
	    (!now.best || memcmp(now.best, before->best, sizeof(*now.best))))
		fail(CODE_BUSY,
		     "cache device '%s' was written to meanwhile: nothing was changed on it",
		     cache->path);
	super_free(&now);
	return fail_code();
}

/**
 * dataset_record() - write anew what the cache records of its origin
 * @cache: open cache device, which nobody uses; closed afterwards
 * @super: as read from it, with a sound copy
 * @origin: open origin: its identity and its ends are taken as they are
 * @change: the rest
 *
 * A crash leaves the old superblock or the new one.
 *
 * Return: 0 or the exit code.
 */
int dataset_record(struct device *cache, const struct super *super,
		   const struct device *origin,
		   const struct dataset_change *change)
{
	struct nearcache_super *sb = device_buffer(NEARCACHE_SUPER_SIZE);

	if (sb && !compose_superblock(sb, super, cache, origin, change) &&
	    !(change->held ? device_share(cache) : device_claim(cache)) &&
	    !check_same(cache, super)) {
		/* After a crash in between what is cached is dropped; the other way round
		 * nobody would know whom to tell.
		 */
		if (change->witness)
			witness_leave(super->best, change->witness_now);
		super_rewrite(cache, super, sb);
	}
	free(sb);
	device_close(cache);
	return fail_code();
}
