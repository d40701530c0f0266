// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the medium with the numbers that this cache has in memory, and reads the superblocks
 * again: others may have changed the medium before the first resume, or while the system slept.
 */
#include "cache.h"
#include "meta/members.h"
#include "meta/meta.h"
#include "meta/reread.h"
#include "meta/write_intent_leave.h"
#include "meta/write_session.h"

static bool same_geometry(const struct nc_geometry *a, const struct nc_geometry *b)
{
	return a->device_size == b->device_size && a->origin_size == b->origin_size &&
	       a->slot_count == b->slot_count && a->data_offset == b->data_offset &&
	       a->table_offset == b->table_offset && a->table_pages == b->table_pages &&
	       a->commit_offset == b->commit_offset && a->intent_offset == b->intent_offset &&
	       a->intent_region == b->intent_region && a->sums_offset == b->sums_offset &&
	       a->sums_length == b->sums_length && a->block_size == b->block_size &&
	       a->subblock_size == b->subblock_size;
}

/* Read the superblock of the first device.  @now: from nc_super_init().  Replaces the superblock
 * in memory only if the one on the medium is of this cache.
 */
static int reread_first(struct nc_cache *c, struct nc_super *now)
{
	char why[NC_WHY_SIZE];
	struct nc_geometry geo;
	int r = nc_super_read(now, c->dev.bdev, &geo, why);

	if (r) {
		DMERR("%s: cache device: %s", nc_cache_name(c), why);
		return r;
	}
	/* The table_epoch may differ: another dm device may have used the cache since. */
	c->meta->foreign = memcmp(c->dev.uuid, now->sb->uuid, sizeof(c->dev.uuid));
	if (c->meta->foreign || !same_geometry(&c->geo, &geo)) {
		DMERR("%s: cache device was formatted since table load: load a new one",
		      nc_cache_name(c));
		WRITE_ONCE(c->meta->super.durable, -1);
		return -ESTALE;
	}
	nc_super_take(&c->meta->super, now);
	return 0;
}

/**
 * nc_meta_reread() - read the superblocks again, before the cache relies on them
 * @c: live cache, built from the superblocks that the constructor read
 *
 * Between the constructor and the first resume, or while the system slept, the device may have been
 * formatted, or used by another dm device.  After an error, superblocks are not written any more,
 * except that of the first device if it is still this cache's: it may have to say active.  If the
 * first device was changed, the cache does not rely on the state that it had before, even if the
 * new superblock cannot be taken over.
 *
 * Return: 0; -EIO or -ENOMEM; -EINVAL or -ESTALE if a superblock no longer matches the cache:
 * the user has to remove the dm device.
 */
int nc_meta_reread(struct nc_cache *c)
{
	struct nc_super now = { };
	int r = nc_super_init(&now);

	if (!r)
		r = reread_first(c, &now);
	nc_super_destroy(&now);
	if (r)
		c->meta->super.read = false;
	else
		r = nc_members_reread(c);
	if (r)
		nc_members_unread(c);
	return r;
}

/* Compare the superblock of the first device with that in memory.  Return: 0: equal; -ESTALE: no;
 * or the error of reading it.
 */
static int confirm_first(struct nc_cache *c)
{
	int r = nc_super_confirm(&c->meta->super, c->dev.bdev);

	if (r && r != -ESTALE) {
		/* Others may have used it: no later load by this dm device may trust it. */
		c->life.dirty_unrecorded = true;
		nc_intent_doubt(c);
	}
	return r;
}

/* Take note that others changed the medium.  Returns the reason for the log. */
static const char *note_moved(struct nc_cache *c)
{
	c->meta->moved = true;
	/* No state is certain until nc_meta_reread() succeeds. */
	WRITE_ONCE(c->meta->super.durable, -1);
	return "was changed while this system slept";
}

/**
 * nc_meta_super_moved() - did others change the superblock that a bypassed cache relies on?
 * @c: bypassed cache, asleep; see nc_meta_moved()
 *
 * A superblock that cannot be read counts as unchanged; in a session with a witness
 * nc_intent_doubt() makes the witness record "left" again.  The witness alone proves nothing, since
 * the cache has no data to lose.
 *
 * Context: may sleep; nc_life.lock.
 * Return: NULL: not known; otherwise why the medium cannot be relied on, for the log.
 */
const char *nc_meta_super_moved(struct nc_cache *c)
{
	lockdep_assert_held(&c->life.lock);
	return confirm_first(c) == -ESTALE ? note_moved(c) : NULL;
}

/**
 * nc_meta_moved() - was the medium changed since this cache last read or wrote it?
 * @c: loaded cache, asleep; a dm table that names its devices is or goes live
 *
 * Every session, commit and drop changes a number on the medium, so equal numbers mean that no
 * other system used the medium, and that it was not set back to an older state.  Each
 * rewrite of the superblock has a new random write_id: so another system cannot have counted to the
 * same numbers.
 *
 * Context: may sleep; nc_life.lock.
 * Return: NULL: no; otherwise why the cached data cannot be trusted, for the log.
 */
const char *nc_meta_moved(struct nc_cache *c)
{
	int r;

	lockdep_assert_held(&c->life.lock);
	r = confirm_first(c) ?: nc_members_confirm(c) ?: nc_commit_confirm(c);
	if (r == -ESTALE)
		return note_moved(c);
	if (r)
		return "cannot be read after this system slept";
	return nc_session_moved(c) ? "may be stale after this system slept, by its witness" : NULL;
}
