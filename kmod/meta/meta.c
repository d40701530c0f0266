// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads, updates and closes the metadata on the cache device.  Commits (commit.c) keep the slot
 * table on the medium correct, except in a session that writes to the origin without write-intent
 * marks.  The superblock then says active, and the next load drops the table by a new table_epoch.
 */
#include <linux/blkdev.h>
#include <linux/dm-io.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "cache.h"
#include "meta/origin_fingerprint.h"
#include "meta/write_intent.h"
#include "meta/members.h"
#include "meta/meta.h"
#include "meta/recorded_fingerprint.h"
#include "meta/write_session.h"

/**
 * nc_meta_open() - read and validate the superblock of a device
 * @bdev: cache device
 * @geo: set to the geometry
 * @uuid: set to the UUID of the cache, 16 bytes
 * @why: NC_WHY_SIZE bytes; set on failure
 *
 * Return: metadata for nc_meta_close(), with only the superblock loaded, or ERR_PTR.
 */
struct nc_meta *nc_meta_open(struct block_device *bdev,
			     struct nc_geometry *geo, u8 *uuid, char *why)
{
	struct nc_meta *m = kzalloc(sizeof(*m), GFP_KERNEL);
	int r = -ENOMEM;

	snprintf(why, NC_WHY_SIZE, "out of memory");
	if (!m)
		return ERR_PTR(r);
	m->ends = vmalloc(2 * NC_FINGERPRINT_END);
	if (nc_super_init(&m->super) || nc_commit_init(&m->commit) || !m->ends)
		goto bad;
	r = nc_super_read(&m->super, bdev, geo, why);
	if (r)
		goto bad;
	memcpy(uuid, m->super.sb->uuid, sizeof(m->super.sb->uuid));
	m->commit.offset = geo->commit_offset;
	r = nc_table_init(&m->table, geo->table_pages);
	if (!r)
		return m;
	snprintf(why, NC_WHY_SIZE, "out of memory");
bad:
	nc_meta_close(m);
	return ERR_PTR(r);
}

void nc_meta_close(struct nc_meta *m)
{
	if (!m)
		return;
	nc_table_destroy(&m->table);
	nc_commit_destroy(&m->commit);
	vfree(m->ends);
	nc_super_destroy(&m->super);
	kfree(m);
}

static void start_cold(struct nc_cache *c, const char *why)
{
	struct nc_meta *m = c->meta;

	DMWARN("%s: cache %s: starting cold", nc_cache_name(c), why);
	/* An epoch that no member has: a member that is missing now must not match later. */
	c->geo.table_epoch = max(le64_to_cpu(m->super.sb->table_epoch), nc_members_epoch(c)) + 1;
	m->super.sb->table_epoch = cpu_to_le64(c->geo.table_epoch);
	nc_table_empty(&m->table);
	c->life.loaded = NEARCACHE_LOADED_UNCLEAN;
	c->intent.untrue = true;
	nc_session_catch_up(c);
	/* The crashed session may have written to the origin. */
	m->fingerprint_old = true;
}

static void push_free_slots(struct nc_cache *c)
{
	u32 i = c->index.count;

	while (i--)
		if (!(c->index.slots[i].flags & NC_SLOT_LINKED))
			nc_index_push(&c->index, i);
	atomic64_set(&c->slots.used, c->index.count - c->index.free.count);
}

/* The reason why the slot table on the medium cannot be trusted, for the log, or NULL. */
static const char *why_cold(struct nc_cache *c)
{
	struct nearcache_super *sb = c->meta->super.sb;
	const char *why;
	int older;

	if (c->life.dirty_unrecorded)
		return "has no record of the last writes or invalidations";
	if (le32_to_cpu(sb->state) == NEARCACHE_STATE_CLEAN && nc_members_emptied(c))
		return "was emptied after the last use of its other devices";
	if (le32_to_cpu(sb->state) != NEARCACHE_STATE_ACTIVE &&
	    nc_members_differ(c))
		return "has a device that does not match the others";
	switch (le32_to_cpu(sb->state)) {
	case NEARCACHE_STATE_ACTIVE:
		return "was not stopped cleanly in a writing mode";
	case NEARCACHE_STATE_WRITING:
		why = nc_session_load(c);
		/* Drop the fingerprint of the file system: the session's writes are newer. */
		if (!why)
			nc_meta_forget_file_system(sb);
		return why;
	default:
		older = nc_session_is_older(c);
		if (older < 0)
			return "may be a stale copy, and the witness cannot be read";
		return older ? "is a stale copy: the witness knows a later session" : NULL;
	}
}

/**
 * nc_meta_load() - fill the index from the slot table
 * @c: live cache with an empty index
 * @known: lower limits of the sequence numbers on the medium
 *
 * Sets nc_life.loaded and nc_life.warm.  If the table on the medium cannot be trusted, the index
 * stays empty.  Damaged pages and slots are dropped and counted.
 *
 * Return: 0; -EIO after too many errors: the index is then unusable.
 */
int nc_meta_load(struct nc_cache *c, const struct nc_known *known)
{
	struct nc_meta *m = c->meta;
	u32 state = le32_to_cpu(m->super.sb->state);
	const struct nearcache_commit *last = nc_commit_load(c);
	const char *why;
	int r;

	c->geo.table_epoch = le64_to_cpu(m->super.sb->table_epoch);
	if (le64_to_cpu(m->super.sb->sequence) < known->super ||
	    m->commit.sequence < known->commit)
		c->life.dirty_unrecorded = true;
	/* A cache that was never used has no stale content. */
	if (state == NEARCACHE_STATE_CLEAN && !m->commit.sequence)
		c->life.dirty_unrecorded = false;
	why = why_cold(c);
	if (why) {
		/* The helper emptied the cache after a clean stop: report no unclean stop. */
		bool emptied = state == NEARCACHE_STATE_CLEAN && nc_members_emptied(c);

		start_cold(c, why);
		if (emptied)
			c->life.loaded = NEARCACHE_LOADED_WARM;
		push_free_slots(c);
		return 0;
	}
	r = nc_table_load(c, &m->table, last);
	if (!r && c->life.warm)
		r = nc_sums_load(c);
	if (r) {
		c->life.warm = 0;
		atomic64_set(&c->slots.valid_subblocks, 0);
		return r;
	}
	m->commit.behind = nc_members_begun(c) > m->commit.sequence;
	m->commit.sequence = max3(m->commit.sequence, m->table.sequence, nc_members_begun(c));
	push_free_slots(c);
	if (!bitmap_empty(m->table.both, m->table.pages))
		c->life.loaded = NEARCACHE_LOADED_DAMAGED;
	else if (state != NEARCACHE_STATE_CLEAN)
		c->life.loaded = NEARCACHE_LOADED_RECOVERED;
	else if (c->life.warm || le64_to_cpu(m->super.sb->commit_sequence))
		c->life.loaded = NEARCACHE_LOADED_WARM;
	else
		c->life.loaded = NEARCACHE_LOADED_NEW;
	return 0;
}

/**
 * nc_meta_forget() - continue with the present medium, but with none of its data
 * @c: cache without valid data, asleep; nc_meta_reread() has read the superblocks again
 * @why: reason for the log
 *
 * nc_meta_go() must follow: it empties the table on the medium.
 *
 * Context: may sleep; nc_life.lock.
 */
void nc_meta_forget(struct nc_cache *c, const char *why)
{
	lockdep_assert_held(&c->life.lock);
	mutex_lock(&c->meta->commit.lock);
	nc_commit_load(c);
	mutex_unlock(&c->meta->commit.lock);
	start_cold(c, why);
}

/**
 * nc_meta_mark_changed() - change the superblock's number but not its state
 * @c: live cache
 *
 * An image of the memory that was taken before then no longer matches the medium.
 *
 * Context: may sleep; nc_life.lock.
 * Return: 0 or -EIO.
 */
int nc_meta_mark_changed(struct nc_cache *c)
{
	struct nc_super *super = &c->meta->super;

	lockdep_assert_held(&c->life.lock);
	/* Not write_super(), see nc_meta_write_ends(). */
	return nc_super_write(super, c->dev.bdev, le32_to_cpu(super->sb->state));
}

static int write_super(struct nc_cache *c, u32 state)
{
	struct nc_meta *m = c->meta;

	m->super.sb->commit_sequence =
		cpu_to_le64(READ_ONCE(m->commit.sequence));
	return nc_super_write(&m->super, c->dev.bdev, state);
}

/* Record the new session on all members.  If a member fails and the origin will be written, the
 * first member has to record that its table is no longer correct.
 */
static int tell_all(struct nc_cache *c, bool writes, u32 state)
{
	int r = nc_members_go(c, state == NEARCACHE_STATE_ACTIVE);

	if (!r)
		return write_super(c, state);
	if (writes)
		write_super(c, NEARCACHE_STATE_ACTIVE);
	return r;
}

/* Choose and prepare the superblock state of a new session.  @live: the fingerprint is current. */
static int begin_session(struct nc_cache *c, bool writes, bool live, u32 *state)
{
	int r;

	*state = NEARCACHE_STATE_ACTIVE;
	if (!live || (writes && !c->life.active->witness))
		return 0;
	r = nc_commit_catch_up(c);
	if (!r)
		r = nc_commit_run(c);
	if (!writes) {
		*state = NEARCACHE_STATE_LIVE;
		return r;
	}
	/* A failed commit or bitmap write leaves "active": a crash then drops all cached data. */
	if (!r && nc_session_begin(c) > 0)
		*state = NEARCACHE_STATE_WRITING;
	c->meta->commit.failed = false;
	return 0;
}

/**
 * nc_meta_flush_written() - flush the origin after writes
 * @c: live cache
 *
 * The origin may report an error only once, but the writers need to get it: so the next flush of a
 * user fails as well (nc_origin.flush_owed).  nc_meta.flush_failed records that writes may be lost
 * even if a later flush succeeds.
 *
 * Context: may sleep.
 * Return: 0 or the error of the flush.
 */
int nc_meta_flush_written(struct nc_cache *c)
{
	int r = nc_origin_flush(c);

	if (r)
		WRITE_ONCE(c->meta->flush_failed, true);
	return r;
}

/**
 * nc_meta_go() - record on the medium that slots may be overwritten from now on
 * @c: live cache, suspended; the caller tried to flush the origin, see nc_meta.origin_durable
 * @writes: the origin will be written as well
 *
 * Slots dropped at load, or because the origin grew, are removed from the medium here, before they
 * are used again.
 *
 * Return: 0; -EIO: neither slots nor the origin may be overwritten.
 */
int nc_meta_go(struct nc_cache *c, bool writes)
{
	bool live, numbered = false;
	struct nc_meta *m = c->meta;
	u32 state;
	int r;

	lockdep_assert_held(&c->life.lock);
	live = !nc_meta_unsettled(c);
	WRITE_ONCE(m->commit.live, false);
	m->commit.failed = false;
	r = begin_session(c, writes, live, &state);
	if (r)
		return r;
	if (state == NEARCACHE_STATE_ACTIVE)
		numbered = nc_session_number(c);
	r = tell_all(c, writes, state);
	if (!r && state == NEARCACHE_STATE_WRITING && nc_session_begun(c)) {
		state = NEARCACHE_STATE_ACTIVE;
		numbered = nc_session_number(c);
		r = tell_all(c, writes, state);
	}
	if (!r) {
		m->moved = false;
		c->intent.recovered = false;
		c->intent.untrue = false;
		if (numbered)
			nc_session_tell(c, NEARCACHE_WITNESS_LEFT);
	}
	/* After an error the last state on the medium stays true as long as neither slots nor the
	 * origin are written.  If earlier writes made it untrue, the witness says so.
	 */
	if (r ? c->intent.mode == NC_INTENT_ON :
		state != NEARCACHE_STATE_WRITING)
		nc_intent_end(c);
	WRITE_ONCE(m->commit.live, state != NEARCACHE_STATE_ACTIVE && !r);
	return r;
}

/* Is it certain that the next load drops the slot table, because of the superblock's state or of
 * the witness's record?  Without nc_life.lock the answer is a hint.
 */
bool nc_meta_starts_cold(const struct nc_cache *c)
{
	int durable = READ_ONCE(c->meta->super.durable);

	if (READ_ONCE(c->meta->foreign))
		return true;
	/* The load of a clean medium does not read "left" on the witness. */
	return durable == NEARCACHE_STATE_ACTIVE ||
	       (durable == NEARCACHE_STATE_WRITING &&
		nc_intent_has_left(&c->intent));
}

/**
 * nc_meta_resize() - change the size of the origin
 * @c: live cache, suspended
 * @size: new size in bytes if the origin has grown, or the old size if after that the
 *	superblock could not be written
 *
 * The next superblock write records the size.
 */
void nc_meta_resize(struct nc_cache *c, u64 size)
{
	struct nc_meta *m = c->meta;

	c->geo.origin_size = size;
	nc_super_resize(&m->super, size);
	c->geo.intent_region = le64_to_cpu(m->super.sb->intent_region);
	m->fingerprint_old = true;
}

/* Empty the table on the medium: write superblocks with a new table_epoch. */
static int empty_table(struct nc_cache *c)
{
	struct nc_meta *m = c->meta;
	int r;

	mutex_lock(&m->commit.lock);
	le64_add_cpu(&m->super.sb->table_epoch, 1);
	c->geo.table_epoch = le64_to_cpu(m->super.sb->table_epoch);
	r = nc_members_settle(c);
	if (!r)
		r = write_super(c, le32_to_cpu(m->super.sb->state));
	/* Still under the lock: no page may be built with an epoch that the medium lacks. */
	if (r)
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_SUPER);
	else
		bitmap_zero(m->table.dirty, m->table.pages);
	mutex_unlock(&m->commit.lock);
	return r;
}

/* Continue the session without commits; on error bypass the cache.  Slots that the medium still
 * describes may be reused only after the medium durably says active.
 */
static int go_active(struct nc_cache *c)
{
	int r = write_super(c, NEARCACHE_STATE_ACTIVE);

	if (!r)
		r = nc_members_go(c, true);
	if (r)
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_SUPER);
	else
		WRITE_ONCE(c->meta->commit.live, false);
	if (!r)
		nc_intent_end(c);
	return r;
}

/**
 * nc_meta_record_drop() - record on the medium that cached data was dropped
 * @c: live cache, active and not nc_meta_starts_cold(); no fill covers the dropped data
 * @all: all cached data was dropped
 * @durable: the origin was flushed
 *
 * Return: 0; -EIO: the medium still describes the dropped data.
 */
int nc_meta_record_drop(struct nc_cache *c, bool all, bool durable)
{
	int r;

	lockdep_assert_held(&c->life.lock);
	if (durable && c->meta->commit.live &&
	    READ_ONCE(c->hot.state) != NEARCACHE_BYPASS) {
		r = all ? empty_table(c) : nc_commit_run(c);
		if (!r)
			return 0;
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_TABLE);
	}
	return go_active(c);
}

/**
 * nc_meta_stop() - write the table and mark the superblock clean
 * @c: live cache; no read, fill or eviction is in flight
 *
 * Return: 0; -EIO: the medium has its old state, or one copy of the superblock says clean, which is
 * correct because the slot table was committed before.
 */
int nc_meta_stop(struct nc_cache *c)
{
	struct nc_meta *m = c->meta;
	bool numbered;
	int r;

	lockdep_assert_held(&c->life.lock);
	bitmap_or(m->table.dirty, m->table.dirty, m->table.both,
		  m->table.pages);
	nc_members_stop(c);
	r = nc_commit_run(c);
	if (!r)
		r = nc_members_go(c, false);
	if (r)
		return r;
	numbered = nc_session_number(c);
	r = write_super(c, NEARCACHE_STATE_CLEAN);
	if (r)
		return r;
	if (numbered)
		nc_session_tell(c, NEARCACHE_WITNESS_ENDED);
	nc_intent_end(c);
	return 0;
}

/* The generation of slots that get a block now, see struct nearcache_slot. */
u32 nc_meta_generation(const struct nc_meta *m)
{
	return (u32)READ_ONCE(m->commit.sequence) + 1;
}

/* Memory of the three bitmaps of struct nc_table, bytes. */
size_t nc_meta_memory(const struct nc_meta *m)
{
	return 3 * BITS_TO_LONGS(m->table.pages) * sizeof(long);
}
