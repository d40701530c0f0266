// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the fingerprint that the superblock records with that of the origin, and renews it after
 * writes of this cache.  origin_fingerprint.c computes fingerprints.
 */
#include "cache.h"
#include "meta/meta.h"
#include "meta/origin_fingerprint.h"
#include "meta/recorded_fingerprint.h"
#include "meta/write_intent.h"

/* Discard the file system's fingerprint: the origin was written, or may have been. */
void nc_meta_forget_file_system(struct nearcache_super *sb)
{
	sb->file_system_type = cpu_to_le32(NEARCACHE_FP_NONE);
	memset(sb->file_system_fingerprint, 0,
	       sizeof(sb->file_system_fingerprint));
}

/* May the origin have been written since its fingerprint was taken? */
bool nc_meta_unsettled(const struct nc_cache *c)
{
	return c->origin.written || c->meta->fingerprint_old;
}

static bool has_fingerprint(const struct nc_meta *m)
{
	return le32_to_cpu(m->super.sb->origin_fingerprint_type) ==
	       NEARCACHE_FP_ENDS;
}

/* Compute the fingerprint of the origin, at the size that the superblock records. */
static int take_fingerprint(struct nc_cache *c, u8 *digest)
{
	return nc_origin_fingerprint(c->origin.bdev, c->meta->super.io,
				c->geo.origin_size, c->meta->ends, digest);
}

/* Did another host write to the ends of the origin?  Compares the fingerprint, unless the recorded
 * one is older than writes of this cache.  Return: 1, 0, or the error of reading the origin.
 */
int nc_meta_origin_changed(struct nc_cache *c)
{
	return nc_meta_unsettled(c) ? 0 : nc_meta_ends_changed(c);
}

/* As nc_meta_origin_changed(), but the caller knows that the recorded fingerprint was current when
 * the last write of this cache had ended.
 */
int nc_meta_ends_changed(struct nc_cache *c)
{
	u8 now[NC_FINGERPRINT_SIZE];
	int r;

	if (!has_fingerprint(c->meta))
		return 0;
	r = take_fingerprint(c, now);
	return r ? r : !!memcmp(now, c->meta->super.sb->origin_fingerprint,
				sizeof(now));
}

/* Compute the fingerprint of the ends again.  Discard the file system's fingerprint, which only the
 * helper can compute: the file system has changed.
 */
static int renew_fingerprint(struct nc_cache *c)
{
	struct nearcache_super *sb = c->meta->super.sb;

	nc_meta_forget_file_system(sb);
	return has_fingerprint(c->meta) ?
	       take_fingerprint(c, sb->origin_fingerprint) : 0;
}

/**
 * nc_meta_accept_origin() - accept the origin's current content as the cache's origin
 * @c: live cache; all cached data will be dropped
 *
 * The caller must do this before the first new fill, so that no fill is older than the fingerprint.
 * Does nothing if nc_meta_settle() will renew the fingerprint.  Return: 0 or the read error.
 */
int nc_meta_accept_origin(struct nc_cache *c)
{
	return nc_meta_unsettled(c) && !nc_intent_knows_ends(&c->intent) ?
	       0 : renew_fingerprint(c);
}

/**
 * nc_meta_settle() - renew the fingerprint of an origin whose writes are durable
 * @c: live cache, suspended and flushed, before the superblock is written
 *
 * Return: 0, or the error of reading the origin; then the cache must not be marked clean.
 */
int nc_meta_settle(struct nc_cache *c)
{
	struct nc_meta *m = c->meta;
	int r;

	if (c->origin.written) {
		m->flush_failed = false;
		c->origin.written = false;
		m->fingerprint_old = true;
	}
	r = renew_fingerprint(c);
	if (!r)
		m->fingerprint_old = false;
	return r;
}

/**
 * nc_meta_read_ends() - compute the current fingerprint of the origin's ends
 * @c: live cache; a write to the ends meanwhile sets the mark NC_INTENT_ENDS again
 * @digest: NC_FINGERPRINT_SIZE bytes; set if the superblock has a fingerprint
 *
 * Context: may sleep; nc_life.lock.
 * Return: 0 or the read error.
 */
int nc_meta_read_ends(struct nc_cache *c, u8 *digest)
{
	lockdep_assert_held(&c->life.lock);
	return has_fingerprint(c->meta) ? take_fingerprint(c, digest) : 0;
}

/**
 * nc_meta_write_ends() - write the fingerprint that the next load will compare
 * @c: live cache in a write session
 * @digest: from nc_meta_read_ends()
 *
 * Context: may sleep; nc_life.lock.
 * Return: 0 or -EIO.
 */
int nc_meta_write_ends(struct nc_cache *c, const u8 *digest)
{
	struct nearcache_super *sb = c->meta->super.sb;

	lockdep_assert_held(&c->life.lock);
	nc_meta_forget_file_system(sb);
	if (has_fingerprint(c->meta))
		memcpy(sb->origin_fingerprint, digest, NC_FINGERPRINT_SIZE);
	/* Not write_super(): it would record the number of a commit that may be about to begin and
	 * that the other members do not know.  The ring has the number of the last commit.
	 */
	return nc_super_write(&c->meta->super, c->dev.bdev, le32_to_cpu(sb->state));
}
