// SPDX-License-Identifier: GPL-2.0-only
#include "open/origin_record.h"

#include <stdlib.h>

#include "lib/error.h"
#include "ondisk/fingerprint_ends.h"
#include "ondisk/layout.h"
#include "lib/sanitize.h"
#include "open/witness.h"

/* Demand a version that fits into the superblock. @version: NULL if not given. */
int dataset_check_version(const char *version)
{
	size_t good;

	if (!version)
		return 0;
	/* An empty version most likely comes from an unset variable. */
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

/* True if the cached data may be of another version than @version; false if that is NULL. */
bool dataset_is_new(const struct nearcache_super *sb, const char *version)
{
	return version && strcmp(version, (const char *)sb->dataset_version);
}

/*
 * Record the origin's size. If cached data stays, keep a smaller recorded size: only data up to
 * there is valid, and the kernel extends the size. If the origin shrank, record the new size: the
 * kernel drops the data behind it.
 */
static void take_size(struct nearcache_super *sb,
		      const struct dataset_change *change)
{
	u64 size = change->size;
	u64 region = layout_intent_region(size);

	if (!change->drop && size > le64_to_cpu(sb->origin_size))
		return;
	sb->origin_size = cpu_to_le64(size);
	/* Never reduce the region size: bits that are set would change their meaning. */
	if (region > le64_to_cpu(sb->intent_region))
		sb->intent_region = cpu_to_le64(region);
}

/*
 * Fill in the origin's identity and fingerprints and @version (NULL: keep the recorded one), then
 * the checksum.
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
	/* Final check with the kernel's own rules. */
	if (!nc_super_check(sb, cache->size, &geo, why))
		return fail(CODE_DEVICE,
			    "origin '%s' and cache device '%s' do not fit together: %s",
			    origin->path, cache->path, why);
	return 0;
}

/*
 * Compose the complete change in one superblock, so that one write makes it. A new epoch empties
 * the slot table, because all its pages belong to an older epoch. A cache that was not stopped
 * cleanly keeps that state.
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
	 * Raise the session number: the cache is empty, or the witness proves that it is current.
	 * The write intent of an interrupted session refers to that session's number, so keep that.
	 */
	if (change->session > le64_to_cpu(sb->session) &&
	    (change->drop ||
	     le32_to_cpu(sb->state) != NEARCACHE_STATE_WRITING))
		sb->session = cpu_to_le64(change->session);
	take_size(sb, change);
	return dataset_seal(sb, cache, origin, change->version);
}

/* Check that nobody opened or formatted the cache device before the claim. */
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
 * Rewrite what the cache records about its origin. @cache must be open and unused; it is closed
 * afterwards. @super: read from it, valid. A crash leaves the old superblock or the new one.
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
		 * Drop the old witness record first. After a crash in between the kernel drops the
		 * cached data; in the other order the name of the old witness would be lost.
		 */
		if (change->witness)
			witness_leave(super->best, change->witness_now);
		super_rewrite(cache, super, sb);
	}
	free(sb);
	device_close(cache);
	return fail_code();
}
