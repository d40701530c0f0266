// SPDX-License-Identifier: GPL-2.0-only
#include "pair.h"

#include <string.h>

#include "dm.h"
#include "fail.h"
#include "fingerprint.h"

/**
 * pair_check_free() - demand a cache device that nobody uses
 * @cache: open cache device
 * @self: name of a nearcache device that may, NULL: none
 *
 * Return: 0 or the exit code.
 */
int pair_check_free(const struct device *cache, const char *self)
{
	struct dm_device user;
	bool busy, found;

	if (device_test_claim(cache, &busy))
		return fail_code();
	if (!busy)
		return 0;
	if (!dm_find_cache(cache->number, &user, &found) && found) {
		if (!self || strcmp(self, user.name))
			fail(CODE_BUSY,
			     "cache device '%s' is in use by device '%s'",
			     cache->path, user.name);
		dm_device_free(&user);
		return fail_code();
	}
	return fail(CODE_BUSY,
		    "cache device '%s' is in use: release it first (lsblk shows what is on top of it)",
		    cache->path);
}

/**
 * pair_is_active() - was the cache not stopped cleanly, in a writing mode?
 * @pair: the devices
 *
 * Return: whether nothing that it holds will be used.
 */
bool pair_is_active(const struct pair *pair)
{
	return le32_to_cpu(pair->super.best->state) == NEARCACHE_STATE_ACTIVE;
}

/* An origin that grew keeps its old content, up to its old end. */
static int check_fingerprint(const struct pair *pair)
{
	const struct nearcache_super *sb = pair->super.best;
	unsigned char digest[FINGERPRINT_SIZE];

	/* What was not stopped cleanly may have written to the origin since:
	 * the fingerprint is older, and of what is cached nothing is used.
	 */
	if (pair_is_active(pair) ||
	    le32_to_cpu(sb->origin_fingerprint_type) != NEARCACHE_FP_ENDS)
		return 0;
	if (fingerprint_ends(&pair->origin, le64_to_cpu(sb->origin_size),
			     digest))
		return fail_code();
	if (!memcmp(digest, sb->origin_fingerprint, sizeof(digest)))
		return 0;
	return fail(CODE_DEVICE,
		    "origin '%s' was changed since its cache was closed (its first or last 64 KiB differ): the cached data is stale, %s",
		    pair->origin.path, pair->stale_advice);
}

static int check_size(const struct pair *pair)
{
	u64 before = le64_to_cpu(pair->super.best->origin_size);
	u64 now = pair->size;

	if (now == before || (now > before && pair->may_grow))
		return 0;
	return fail(CODE_DEVICE,
		    "origin '%s' has %llu bytes, the cache was created for one of %llu bytes%s",
		    pair->origin.path, (unsigned long long)now,
		    (unsigned long long)before,
		    now > before ? ": if it grew, open it with --grow" : "");
}

/**
 * pair_check_origin() - demand the origin that the cache was made for
 * @pair: the devices
 *
 * By identity, logical block size, size and, as far as it counts, content.
 *
 * Return: 0 or the exit code.
 */
int pair_check_origin(const struct pair *pair)
{
	const struct nearcache_super *sb = pair->super.best;
	const struct device *origin = &pair->origin;
	const char *id = (const char *)sb->origin_id;

	if (!pair->drop && check_size(pair))
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
	return pair->drop ? 0 : check_fingerprint(pair);
}
