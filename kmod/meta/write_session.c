// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write sessions are numbered.  After a crash, the superblock, the write-intent bitmap and
 * the witness are used only if their session numbers match.  doc/writing.md has the order
 * in which they are written.
 */
#include <linux/log2.h>

#include "cache.h"
#include "meta/write_intent.h"
#include "meta/meta.h"
#include "meta/write_session.h"

/* Read the bitmap page by page.  Zeroes unreadable pages: all of their regions count as marked. */
static void read_area(struct nc_cache *c, struct nearcache_intent *area)
{
	u32 i;

	for (i = 0; i < NC_RECOVER_INTENT; i += NC_INTENT_PAGE)
		if (nc_super_io(c->meta->super.io, c->dev.bdev,
				REQ_OP_READ | REQ_META,
				c->geo.intent_offset + i * NEARCACHE_INTENT_SIZE,
				&area[i], NEARCACHE_PAGE_SIZE))
			memset(&area[i], 0, NEARCACHE_PAGE_SIZE);
}

/* Read the cache's record on the witness.  Return: 0; -ENOENT: none, or in state moved; -EIO. */
static int find_record(struct nc_cache *c)
{
	struct nc_intent *i = &c->intent;
	int r;

	lockdep_assert_held(&c->life.lock);
	/* Wait for leave_work, which may be writing the same record. */
	flush_work(&i->leave_work);
	i->witness.record = &i->maps->record;
	r = nc_witness_find(c, c->life.active->witness->bdev, &i->witness);
	if (!r && le32_to_cpu(i->witness.record->state) == NEARCACHE_WITNESS_MOVED)
		return -ENOENT;
	return r;
}

/**
 * nc_session_load() - can a write session that a crash ended be recovered?
 * @c: live cache; its superblock says writing
 *
 * Context: may sleep; nc_life.lock.
 * Return: NULL if it can; nc_session_written() returns the marked sub-blocks from now on.
 * If not, a text for the log: the reason why no cached data may be trusted.
 */
const char *nc_session_load(struct nc_cache *c)
{
	const struct nc_target *t = c->life.active;
	const struct nearcache_super *sb = c->meta->super.sb;
	struct nc_intent *i = &c->intent;
	int r;

	if (!t->witness)
		return "was cut off in a writing mode, and the table names no witness";
	r = find_record(c);
	if (r)
		return r == -ENOENT ?
		       "was cut off in a writing mode, and the witness does not know it" :
		       "was cut off in a writing mode, and the witness cannot be read";
	if (!nc_recover_stayed(sb, i->witness.record))
		return "was cut off in a writing mode, and the witness knows of missed writes";
	read_area(c, i->maps->image);
	nc_recover_intent(i->maps->image, sb, i->witness.record);
	if (nc_recover_ends(i->maps->image))
		return "was cut off while the ends of the origin were written";
	i->recovered = true;
	return NULL;
}

/**
 * nc_session_is_older() - does the witness know a later session than the superblock?
 * @c: live cache, suspended
 *
 * Context: may sleep; nc_life.lock.
 * Return: 1: yes; 0: no, or there is no record; -EIO: the witness cannot be read.
 */
int nc_session_is_older(struct nc_cache *c)
{
	int r = c->life.active->witness ? find_record(c) : -ENOENT;

	if (r)
		return r == -ENOENT ? 0 : r;
	return nc_recover_older(c->meta->super.sb, c->intent.witness.record);
}

/**
 * nc_session_moved() - does the witness know of writes or sessions that this cache does not?
 * @c: live cache, asleep
 *
 * Context: may sleep; nc_life.lock.
 * Return: true also if the witness cannot be read.
 */
bool nc_session_moved(struct nc_cache *c)
{
	if (READ_ONCE(c->intent.mode) != NC_INTENT_ON)
		return nc_session_is_older(c);
	return !c->life.active->witness || find_record(c) ||
	       !nc_recover_stayed(c->meta->super.sb, c->intent.witness.record);
}

/**
 * nc_session_catch_up() - take the session number of the witness if it is higher
 * @c: live cache, suspended; none of its cached data is used
 *
 * Context: may sleep; nc_life.lock.
 */
void nc_session_catch_up(struct nc_cache *c)
{
	if (nc_session_is_older(c) > 0)
		c->meta->super.sb->session = c->intent.witness.record->session;
}

/* Bitmap of the sub-blocks of @block in regions that the crashed session had marked. */
u64 nc_session_written(const struct nc_cache *c, u64 block)
{
	return c->intent.recovered ?
	       nc_recover_written(&c->geo, c->intent.maps->image, block) : 0;
}

/* Write an empty bitmap with the number of the new session: the marks of older sessions become
 * invalid.
 */
static int write_empty(struct nc_cache *c, u64 session)
{
	struct nc_intent_maps *maps = c->intent.maps;
	u32 n;
	int r;

	mutex_lock(&c->intent.io_lock);
	bitmap_zero(maps->set, NC_INTENT_BITS);
	bitmap_zero(maps->recent, NC_INTENT_BITS);
	bitmap_zero(maps->wanted, NC_INTENT_BITS);
	for (n = 0; n < NC_RECOVER_INTENT; n++)
		nc_intent_sector_init(&maps->image[n], c->dev.uuid, session, n);
	r = nc_intent_write(c, ~0U, REQ_FUA);
	mutex_unlock(&c->intent.io_lock);
	return r;
}

static void no_witness(struct nc_cache *c, const char *why)
{
	DMWARN("%s: witness %pg %s: a crash will leave nothing cached",
	       nc_cache_name(c), c->life.active->witness->bdev, why);
}

/* Give the superblock a session number that no copy of this device has.  The number is used up even
 * if the caller fails later.  Call find_record() first.  Return: 0; -ERANGE: none is left.
 */
static int take_number(struct nc_cache *c)
{
	struct nearcache_super *sb = c->meta->super.sb;
	u64 seen = max(le64_to_cpu(sb->session),
		       le64_to_cpu(c->intent.witness.record->session));

	if (seen >= NEARCACHE_MAX_SEQUENCE)
		return -ERANGE;
	sb->session = cpu_to_le64(seen + 1);
	return 0;
}

static int write_session(struct nc_cache *c, u64 previous, u32 state)
{
	u64 session = le64_to_cpu(c->meta->super.sb->session);

	lockdep_assert_held(&c->life.lock);
	return nc_witness_write(c, c->life.active->witness->bdev, &c->intent.witness,
				session, previous, state);
}

/**
 * nc_session_begin() - begin a write session
 * @c: live cache, suspended; its slot table on the medium is correct
 *
 * Writes the witness first: from then on the bitmap counts only for a superblock whose
 * session the witness names.  The witness also names the previous session, unless the load did
 * not trust the superblock.  Writes an empty bitmap next; the caller then writes the
 * superblock.
 *
 * Context: may sleep; nc_life.lock.
 * Return: 1: begun, nc_session_begun() or nc_intent_end() must follow; 0: no usable
 * witness; -EIO: the bitmap cannot be written.
 */
int nc_session_begin(struct nc_cache *c)
{
	struct nearcache_super *sb = c->meta->super.sb;
	u64 before = le64_to_cpu(sb->session);
	const struct nc_target *t = c->life.active;
	struct nc_intent *i = &c->intent;
	int r;

	if (!t->witness)
		return 0;
	i->bdev = t->witness->bdev;
	r = find_record(c);
	if (r) {
		no_witness(c, r == -ENOENT ? "does not know this cache" :
					     "cannot be read");
		return 0;
	}
	if (take_number(c))
		return 0;
	if (write_session(c, i->untrue ? 0 : before, NEARCACHE_WITNESS_STAYED)) {
		no_witness(c, "cannot be written");
		return 0;
	}
	i->session = le64_to_cpu(sb->session);
	r = write_empty(c, i->session);
	if (r)
		return r;
	i->region_shift = ilog2(c->geo.intent_region) - SECTOR_SHIFT;
	WRITE_ONCE(i->doubt, false);
	WRITE_ONCE(i->mode, NC_INTENT_ON);
	return 1;
}

/**
 * nc_session_begun() - both superblock copies name the new session
 * @c: live cache, suspended, after nc_session_begin()
 *
 * Removes the previous session from the witness: older copies of the device are stale now.
 *
 * Context: may sleep; nc_life.lock.
 * Return: 0 or -EIO.
 */
int nc_session_begun(struct nc_cache *c)
{
	int r = write_session(c, 0, NEARCACHE_WITNESS_STAYED);

	if (r)
		no_witness(c, "cannot be written");
	return r;
}

static void not_told_apart(struct nc_cache *c, int r)
{
	/* No warning if the witness never had a record of this cache. */
	if (r != -ENOENT)
		DMWARN("%s: cannot update witness %pg: stale copies will not be detected",
		       nc_cache_name(c), c->life.active->witness->bdev);
}

/**
 * nc_session_number() - give a number to a superblock that will say active, or clean after writes
 * @c: live cache, suspended
 *
 * The new number makes stale all copies of the device that are older than this superblock.
 *
 * Context: may sleep; nc_life.lock.
 * Return: true if nc_session_tell() must follow once both superblock copies are written;
 * false if the superblock got no number.
 */
bool nc_session_number(struct nc_cache *c)
{
	int r;

	if (!nc_target_writes(c->life.active) || !c->life.active->witness)
		return false;
	r = find_record(c);
	if (!r)
		r = take_number(c);
	if (r)
		not_told_apart(c, r);
	return !r;
}

/**
 * nc_session_tell() - both superblock copies have the number: record it on the witness
 * @c: live cache, suspended, after nc_session_number()
 * @state: NEARCACHE_WITNESS_LEFT if a session without marks begins, NEARCACHE_WITNESS_ENDED
 *	after a stop
 *
 * Context: may sleep; nc_life.lock.
 */
void nc_session_tell(struct nc_cache *c, u32 state)
{
	int r = write_session(c, 0, state);

	if (r)
		not_told_apart(c, r);
}
