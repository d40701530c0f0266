// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metadata on the cache device, as the rest of the cache sees it: loaded once, kept current
 * by commits (commit.c), and its state recorded in the superblock (superblock.c).  The table on
 * the medium is always true, except in a session that writes to the origin without marks: then
 * the superblock says active, and the next load drops the table by a new table_epoch.
 */
#include <linux/blkdev.h>
#include <linux/dm-io.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "cache.h"
#include "meta/flush.h"
#include "meta/origin.h"
#include "meta/intent.h"
#include "io/invalidate.h"
#include "meta/members.h"
#include "meta/meta.h"
#include "dm/registry.h"
#include "meta/session.h"

/**
 * nc_meta_open() - read and validate the superblock of a device
 * @bdev: cache device
 * @geo: set
 * @uuid: set, 16 bytes
 * @why: NC_WHY_SIZE bytes; set on failure
 *
 * Return: metadata with nothing else loaded, or ERR_PTR.
 */
struct nc_meta *nc_meta_open(struct block_device *bdev,
			     struct nc_geometry *geo, u8 *uuid, char *why)
{
	struct nc_meta *m = kzalloc(sizeof(*m), GFP_KERNEL);
	int r = -ENOMEM;

	snprintf(why, NC_WHY_SIZE, "out of memory");
	if (!m)
		return ERR_PTR(r);
	m->ends = vmalloc(2 * NC_IDENTITY_END);
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

/**
 * nc_meta_reread() - read the superblock again, before the first resume relies on it
 * @c: live cache, built from the superblock that the constructor read
 *
 * Between the constructor and the first resume the device may have been
 * formatted, or used by another dm device.
 *
 * Return: 0; -EIO; -EINVAL or -ESTALE if the superblock no longer matches the cache:
 * the user has to remove the dm device.
 */
int nc_meta_reread(struct nc_cache *c)
{
	struct nc_meta *m = c->meta;
	char why[NC_WHY_SIZE];
	struct nc_geometry geo;
	int r = nc_super_read(&m->super, c->bdev, &geo, why);

	if (r) {
		DMERR("%s: cache device: %s", nc_cache_name(c), why);
		return r;
	}
	/* The table_epoch may differ: another dm device may have used the cache since. */
	if (memcmp(c->uuid, m->super.sb->uuid, sizeof(c->uuid)) ||
	    c->geo.device_size != geo.device_size ||
	    c->geo.origin_size != geo.origin_size ||
	    c->geo.slot_count != geo.slot_count ||
	    c->geo.data_offset != geo.data_offset ||
	    c->geo.table_offset != geo.table_offset ||
	    c->geo.table_pages != geo.table_pages ||
	    c->geo.commit_offset != geo.commit_offset ||
	    c->geo.intent_offset != geo.intent_offset ||
	    c->geo.intent_region != geo.intent_region ||
	    c->geo.sums_offset != geo.sums_offset ||
	    c->geo.sums_length != geo.sums_length ||
	    c->geo.block_size != geo.block_size ||
	    c->geo.subblock_size != geo.subblock_size) {
		DMERR("%s: cache device was formatted since table load: load a new one",
		      nc_cache_name(c));
		return -ESTALE;
	}
	return nc_members_reread(c);
}

static void start_cold(struct nc_cache *c, const char *why)
{
	struct nc_meta *m = c->meta;

	DMWARN("%s: cache %s: starting cold", nc_cache_name(c), why);
	/* An epoch that no member has: a member missing in this start must not match later. */
	c->geo.table_epoch = max(le64_to_cpu(m->super.sb->table_epoch), nc_members_epoch(c)) + 1;
	m->super.sb->table_epoch = cpu_to_le64(c->geo.table_epoch);
	nc_table_empty(&m->table);
	c->loaded = NEARCACHE_LOADED_UNCLEAN;
	c->intent.untrue = true;
	nc_session_catch_up(c);
	/* The crashed session may have written to the origin. */
	m->fingerprint_old = true;
}

static void forget_file_system(struct nearcache_super *sb)
{
	sb->file_system_type = cpu_to_le32(NEARCACHE_FP_NONE);
	memset(sb->file_system_fingerprint, 0,
	       sizeof(sb->file_system_fingerprint));
}

static void push_free_slots(struct nc_cache *c)
{
	u32 i = c->index.count;

	while (i--)
		if (!(c->index.slots[i].flags & NC_SLOT_LINKED))
			nc_index_push(&c->index, i);
	atomic64_set(&c->used, c->index.count - c->index.free_count);
}

/* The reason why the medium cannot be trusted, or NULL. */
static const char *why_cold(struct nc_cache *c)
{
	struct nearcache_super *sb = c->meta->super.sb;
	const char *why;
	int older;

	if (c->untold)
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
		/* The file system's fingerprint is older than the session's writes. */
		if (!why)
			forget_file_system(sb);
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
 * Sets c->loaded and c->warm.  The table of an unfinished write session is read only if
 * its marks can be trusted.  Damaged pages and slots are dropped and counted.
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
		c->untold = true;
	/* A cache that was never used has no stale content. */
	if (state == NEARCACHE_STATE_CLEAN && !m->commit.sequence)
		c->untold = false;
	why = why_cold(c);
	if (why) {
		/* The helper emptied the cache after a clean stop. */
		bool emptied = state == NEARCACHE_STATE_CLEAN && nc_members_emptied(c);

		start_cold(c, why);
		if (emptied)
			c->loaded = NEARCACHE_LOADED_WARM;
		push_free_slots(c);
		return 0;
	}
	r = nc_table_load(c, &m->table, last);
	if (!r && c->warm)
		r = nc_sums_load(c);
	if (r) {
		c->warm = 0;
		atomic64_set(&c->valid_subblocks, 0);
		return r;
	}
	m->commit.behind = nc_members_begun(c) > m->commit.sequence;
	m->commit.sequence = max3(m->commit.sequence, m->table.sequence, nc_members_begun(c));
	push_free_slots(c);
	if (!bitmap_empty(m->table.both, m->table.pages))
		c->loaded = NEARCACHE_LOADED_DAMAGED;
	else if (state != NEARCACHE_STATE_CLEAN)
		c->loaded = NEARCACHE_LOADED_RECOVERED;
	else if (c->warm || le64_to_cpu(m->super.sb->commit_sequence))
		c->loaded = NEARCACHE_LOADED_WARM;
	else
		c->loaded = NEARCACHE_LOADED_NEW;
	return 0;
}

static int write_super(struct nc_cache *c, u32 state)
{
	struct nc_meta *m = c->meta;

	m->super.sb->commit_sequence =
		cpu_to_le64(READ_ONCE(m->commit.sequence));
	return nc_super_write(&m->super, c->bdev, state);
}

/* Record the new session on all members.  If one of them fails and the origin will be written, the
 * first one has to record that its table is no longer true.
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

/* Choose the superblock state of the new session, and prepare for it. */
static int begin_session(struct nc_cache *c, bool writes, bool live, u32 *state)
{
	int r;

	*state = NEARCACHE_STATE_ACTIVE;
	if (!live || (writes && !c->active->witness))
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
 * nc_meta_flush_written() - flush the origin after writes to it
 * @c: live cache
 *
 * The origin may report a flush error only once.  The next flush of a writer returns it.
 *
 * Context: may sleep.
 * Return: the result of the flush.
 */
int nc_meta_flush_written(struct nc_cache *c)
{
	int r = nc_flush_origin(c);

	if (r)
		WRITE_ONCE(c->meta->flush_failed, true);
	return r;
}

/* Make the writes of others to the origin durable.  If the flush fails, they count as writes of
 * this session: the stop flushes again, and a crash leaves nothing cached.
 */
static bool flush_origin(struct nc_cache *c)
{
	bool written = READ_ONCE(c->origin_written);
	int r = nc_meta_flush_written(c);

	if (!r)
		return true;
	if (written)
		nc_invalidate_lost(c);
	WRITE_ONCE(c->origin_written, true);
	DMWARN("%s: origin %pg cannot be flushed (%d): a crash will leave nothing cached",
	       nc_cache_name(c), c->origin, r);
	return false;
}

/**
 * nc_meta_go() - begin a session: afterwards slots may be overwritten
 * @c: live cache, suspended
 * @writes: the origin may be written as well
 *
 * Entries dropped at load, or because the origin grew, are removed from the medium
 * before their slots are used again.
 *
 * Return: 0 or -EIO; on error nothing may be overwritten.
 */
int nc_meta_go(struct nc_cache *c, bool writes)
{
	bool live, numbered = false;
	struct nc_meta *m = c->meta;
	u32 state;
	int r;

	lockdep_assert_held(&c->life);
	/* Flush earlier writes to the origin, from any host or program.  Cached data outlives the
	 * session, so it must not be newer than what the origin has after a power cut.
	 */
	if (!m->origin_durable)
		m->origin_durable = flush_origin(c);
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
		c->intent.recovered = false;
		c->intent.untrue = false;
		if (numbered)
			nc_session_tell(c, NEARCACHE_WITNESS_LEFT);
	}
	/* After an error the medium's last state stays true as long as nothing is written.  The
	 * witness covers earlier writes.
	 */
	if (r ? c->intent.mode == NC_INTENT_ON :
		state != NEARCACHE_STATE_WRITING)
		nc_intent_end(c);
	WRITE_ONCE(m->commit.live, state != NEARCACHE_STATE_ACTIVE && !r);
	return r;
}

/* Will the next load surely drop the table, by the medium's state or the witness's record?  A hint
 * without nc_cache.life.
 */
bool nc_meta_starts_cold(const struct nc_cache *c)
{
	int durable = READ_ONCE(c->meta->super.durable);

	/* The load of a clean medium does not read "left" on the witness. */
	return durable == NEARCACHE_STATE_ACTIVE ||
	       (durable == NEARCACHE_STATE_WRITING &&
		nc_intent_has_left(&c->intent));
}

/* Drop the last sub-block if the origin ended inside it: the cached zeros behind the old end may
 * now differ from the origin.
 */
static void drop_short_subblock(struct nc_cache *c)
{
	u64 end = c->geo.origin_size;
	u64 block = end >> (c->block_shift + SECTOR_SHIFT);
	struct nc_stripe *stripe = nc_index_stripe(&c->index, block);
	u32 sub = (end & (c->geo.block_size - 1)) >>
		  (c->sub_shift + SECTOR_SHIFT);
	u32 i;

	spin_lock(&stripe->lock);
	i = nc_index_find(&c->index, block);
	if (end & (c->geo.subblock_size - 1) && i != NC_NIL)
		nc_invalidate_bits(c, stripe, i, BIT_ULL(sub));
	spin_unlock(&stripe->lock);
}

/**
 * nc_meta_resize() - change the size of the origin
 * @c: live cache, suspended
 * @size: new size in bytes: the origin has grown, or the growth is undone because the
 *	superblock could not be written
 *
 * The next superblock write records it.
 */
void nc_meta_resize(struct nc_cache *c, u64 size)
{
	struct nc_meta *m = c->meta;

	drop_short_subblock(c);
	c->geo.origin_size = size;
	nc_super_resize(&m->super, size);
	c->geo.intent_region = le64_to_cpu(m->super.sb->intent_region);
	m->fingerprint_old = true;
}

/* Does nc_meta_settle() have work to do on the origin? */
bool nc_meta_unsettled(const struct nc_cache *c)
{
	return c->origin_written || c->meta->fingerprint_old;
}

static bool has_fingerprint(const struct nc_meta *m)
{
	return le32_to_cpu(m->super.sb->origin_fingerprint_type) ==
	       NEARCACHE_FP_ENDS;
}

/* Compute the fingerprint of the origin with the recorded size. */
static int take_fingerprint(struct nc_cache *c, u8 *digest)
{
	return nc_identity_ends(c->origin, c->meta->super.io,
				c->geo.origin_size, c->meta->ends, digest);
}

/**
 * nc_meta_origin_changed() - did another host write to the ends of the origin?
 * @c: live cache
 *
 * Compares the fingerprint; returns 0 while it is older than the cache's own writes.
 *
 * Return: 1, 0, or the read error.
 */
int nc_meta_origin_changed(struct nc_cache *c)
{
	u8 now[NC_FINGERPRINT_SIZE];
	int r;

	if (!has_fingerprint(c->meta) || nc_meta_unsettled(c))
		return 0;
	r = take_fingerprint(c, now);
	return r ? r : !!memcmp(now, c->meta->super.sb->origin_fingerprint,
				sizeof(now));
}

/* Compute the fingerprint again, and discard that of the file system: only the helper computes it,
 * and the file system has changed.
 */
static int renew_fingerprint(struct nc_cache *c)
{
	struct nearcache_super *sb = c->meta->super.sb;

	forget_file_system(sb);
	return has_fingerprint(c->meta) ?
	       take_fingerprint(c, sb->origin_fingerprint) : 0;
}

/**
 * nc_meta_accept_origin() - accept the origin's current content as the cache's origin
 * @c: live cache; all cached data will be dropped
 *
 * Call it before the first new fill: then fills are never older than the fingerprint.
 *
 * Return: 0 or the read error.
 */
int nc_meta_accept_origin(struct nc_cache *c)
{
	return nc_meta_unsettled(c) && !nc_intent_knows_ends(&c->intent) ?
	       0 : renew_fingerprint(c);
}

/**
 * nc_meta_settle() - make the writes to the origin durable there
 * @c: live cache, suspended; the superblock is written afterwards
 *
 * Slots may hold data that the origin acknowledged but loses at a power cut.  Also renews
 * the fingerprint.  If the flush fails, the origin's content is unknown: all cached data
 * is dropped.
 *
 * Return: 0 or the flush or read error: then the cache must not be marked clean.
 */
int nc_meta_settle(struct nc_cache *c)
{
	struct nc_meta *m = c->meta;
	int r = 0;

	if (!nc_meta_unsettled(c))
		return 0;
	if (c->origin_written) {
		r = nc_meta_flush_written(c);
		if (r) {
			nc_invalidate_all(c);
			return r;
		}
		/* An earlier flush reported the loss, so this one may succeed in spite of it. */
		if (m->flush_failed)
			nc_invalidate_all(c);
		m->flush_failed = false;
		c->origin_written = false;
		m->fingerprint_old = true;
	}
	r = renew_fingerprint(c);
	if (!r)
		m->fingerprint_old = false;
	return r;
}

/**
 * nc_meta_read_ends() - compute the current fingerprint of the origin's ends
 * @c: live cache; any write to the ends meanwhile sets their mark again
 * @digest: NC_FINGERPRINT_SIZE bytes; set if the superblock has a fingerprint
 *
 * Context: may sleep; nc_cache.life.
 * Return: 0 or the read error.
 */
int nc_meta_read_ends(struct nc_cache *c, u8 *digest)
{
	lockdep_assert_held(&c->life);
	return has_fingerprint(c->meta) ? take_fingerprint(c, digest) : 0;
}

/**
 * nc_meta_write_ends() - write the fingerprint that the next load will compare
 * @c: live cache in a write session
 * @digest: from nc_meta_read_ends()
 *
 * Context: may sleep; nc_cache.life.
 * Return: 0 or -EIO.
 */
int nc_meta_write_ends(struct nc_cache *c, const u8 *digest)
{
	struct nearcache_super *sb = c->meta->super.sb;

	lockdep_assert_held(&c->life);
	forget_file_system(sb);
	if (has_fingerprint(c->meta))
		memcpy(sb->origin_fingerprint, digest, NC_FINGERPRINT_SIZE);
	/* Not write_super(): it would record the number of a commit that may just begin and that
	 * the other members do not know.  The ring has the number of the last commit.
	 */
	return nc_super_write(&c->meta->super, c->bdev, le32_to_cpu(sb->state));
}

/* Empty the table on the medium with one superblock write: a new epoch. */
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
	/* Under the lock: no page is built with an epoch that the medium lacks. */
	if (r)
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_SUPER);
	else
		bitmap_zero(m->table.dirty, m->table.pages);
	mutex_unlock(&m->commit.lock);
	return r;
}

/* Continue the session without commits.  Slots that the medium still describes may be reused only
 * after the medium durably says active.
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
 * nc_meta_record_drop() - make a drop of cached data durable
 * @c: live cache, active; the dropped blocks have no fill in flight
 * @all: all cached data was dropped
 *
 * Return: 0 or -EIO; on error the medium still describes the dropped data.
 */
int nc_meta_record_drop(struct nc_cache *c, bool all)
{
	int r;

	lockdep_assert_held(&c->life);
	/* New fills may hold writes that the origin has not made durable.  In a session that starts
	 * cold after a crash, the flush at the stop is early enough.
	 */
	if (nc_meta_starts_cold(c)) {
		WRITE_ONCE(c->origin_written, true);
		return 0;
	}
	if (flush_origin(c) && c->meta->commit.live &&
	    READ_ONCE(c->state) != NEARCACHE_BYPASS) {
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
 * Return: 0 or -EIO; on error the medium has its old state, or "clean" in a copy
 * that is true.
 */
int nc_meta_stop(struct nc_cache *c)
{
	struct nc_meta *m = c->meta;
	bool numbered;
	int r;

	lockdep_assert_held(&c->life);
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

/* A slot differs from its entry in the slot table on the medium.  Any context. */
void nc_meta_dirty(struct nc_cache *c, u32 slot)
{
	struct nc_table *t = &c->meta->table;
	u32 page = slot / NEARCACHE_SLOTS_PER_PAGE;

	/* The slot before the dirty bit: pairs with nc_table_collect(). */
	smp_mb();
	if (test_bit(page, t->dirty))
		return;
	set_bit(page, t->dirty);
	nc_commit_arm(c);
}

/* The generation of slots that get a block now, see struct nearcache_slot. */
u32 nc_meta_generation(const struct nc_meta *m)
{
	return (u32)READ_ONCE(m->commit.sequence) + 1;
}

/* Memory of the page bitmaps, bytes. */
size_t nc_meta_memory(const struct nc_meta *m)
{
	return 3 * BITS_TO_LONGS(m->table.pages) * sizeof(long);
}
