// SPDX-License-Identifier: GPL-2.0-only
/* Writes the description of the origin and its dataset to the superblock. */
#include "open/origin_record.h"

#include <stdlib.h>

#include "lib/error.h"
#include "ondisk/fingerprint_ends.h"
#include "ondisk/layout.h"
#include "lib/sanitize.h"
#include "open/witness.h"

/* Demand 1 to 63 bytes of UTF-8 without control characters, or NULL: no version was given. */
int dataset_check_version(const char *version)
{
	size_t good;

	if (!version)
		return 0;
	/* An empty version most likely comes from an unset shell variable: do not guess. */
	if (!*version)
		return fail(CODE_USAGE,
			    "--dataset-version '': it is empty; omit the option for no version, or to keep the recorded one");
	good = text_check(version);
	if (version[good])
		return fail(CODE_USAGE,
			    "--dataset-version '%s': byte %zu is a control character or invalid UTF-8",
			    version, good);
	if (good >= sizeof(((struct nearcache_super *)0)->dataset_version))
		return fail(CODE_USAGE,
			    "--dataset-version '%s': it is longer than 63 bytes",
			    version);
	return 0;
}

/* True if the user gave a version (not NULL) and the cached data is of another one. */
bool dataset_is_new(const struct nearcache_super *sb, const char *version)
{
	return version && strcmp(version, (const char *)sb->dataset_version);
}

/*
 * Record the origin's size. If it grew and cached data stays, keep the old size: cached data is
 * valid only up to there, and the kernel records the growth. If the origin shrank, record the new
 * size: the kernel drops the cached data beyond it.
 */
static void take_size(struct nearcache_super *sb,
		      const struct dataset_change *change)
{
	u64 size = change->size;
	u64 region = layout_intent_region(size);

	if (!change->drop && size > le64_to_cpu(sb->origin_size))
		return;
	sb->origin_size = cpu_to_le64(size);
	/* Never reduce the region size: set bits of the write intent stand for larger regions. */
	if (region > le64_to_cpu(sb->intent_region))
		sb->intent_region = cpu_to_le64(region);
}

/* dataset_seal() without the fingerprints. */
static int seal_superblock(struct nearcache_super *sb, const struct device *cache,
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
	nc_super_seal(sb);
	if (!nc_super_check(sb, cache->size, &geo, why))
		return fail(CODE_DEVICE,
			    "origin '%s' and cache device '%s' do not fit together: %s",
			    origin->path, cache->path, why);
	return 0;
}

/*
 * Describe the origin in @sb and compute the checksum. @version NULL: keep the recorded version.
 * Sets @content. Fails if the kernel would refuse the result on @cache.
 */
int dataset_seal(struct nearcache_super *sb, const struct device *cache,
		 const struct device *origin, const char *version,
		 struct fsprint_result *content)
{
	if (fingerprint_record(origin, sb, content))
		return fail_code();
	return seal_superblock(sb, cache, origin, version);
}

/*
 * Put all of @change into one superblock, so that one write makes it durable. To drop the cached
 * data, raise the table epoch: slot-table pages of an older epoch count as empty. Leave sb->state
 * unchanged: it says whether the cache was stopped cleanly.
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
	/*
	 * The write intent of an interrupted session is valid only with the session number in @sb.
	 * Keep the number unless the cached data is dropped anyway.
	 */
	if (change->session > le64_to_cpu(sb->session) &&
	    (change->drop ||
	     le32_to_cpu(sb->state) != NEARCACHE_STATE_WRITING))
		sb->session = cpu_to_le64(change->session);
	take_size(sb, change);
	if (!change->known)
		return dataset_seal(sb, cache, origin, change->version, change->content);
	fingerprint_put(sb, change->content);
	return seal_superblock(sb, cache, origin, change->version);
}

/* Fail if another process changed the superblock after it was read and before the claim. */
static int check_same(const struct device *cache, const struct super *before)
{
	struct super now;

	if (!super_read(&now, cache) &&
	    (!now.best || memcmp(now.best, before->best, sizeof(*now.best))))
		fail(CODE_BUSY,
		     "cache device '%s' was changed by another program meanwhile: it is left unchanged",
		     cache->path);
	super_free(&now);
	return fail_code();
}

/*
 * Write @change to the superblock of @cache, which is open and unused, and close @cache. @super:
 * valid, read from @cache. A crash leaves the old superblock or the new one, never a mixture.
 */
int dataset_record(struct device *cache, const struct super *super,
		   const struct device *origin,
		   const struct dataset_change *change)
{
	struct nearcache_super *sb = device_buffer(NEARCACHE_SUPER_SIZE);

	if (sb && !compose_superblock(sb, super, cache, origin, change) &&
	    !(change->held ? device_share(cache) : device_claim(cache)) &&
	    !check_same(cache, super)) {
		/*
		 * Mark the old witness record before the superblock loses the path of the witness.
		 * A crash between the two steps costs at most the cached data.
		 */
		if (change->witness)
			witness_leave(super->best, change->witness_now);
		super_rewrite(cache, super, sb);
	}
	free(sb);
	device_close(cache);
	return fail_code();
}

/*
 * Drop the cached data of @cache, which is open and unused, and close @cache.  The rest of the
 * superblock stays.  A crash leaves the old superblock or the new one.
 */
int dataset_empty(struct device *cache, const struct super *super)
{
	struct nearcache_super *sb = device_buffer(NEARCACHE_SUPER_SIZE);

	if (sb && !device_claim(cache) && !check_same(cache, super)) {
		memcpy(sb, super->best, sizeof(*sb));
		sb->sequence = cpu_to_le64(le64_to_cpu(sb->sequence) + 1);
		sb->table_epoch = cpu_to_le64(le64_to_cpu(sb->table_epoch) + 1);
		nc_super_seal(sb);
		super_rewrite(cache, super, sb);
	}
	free(sb);
	device_close(cache);
	return fail_code();
}
