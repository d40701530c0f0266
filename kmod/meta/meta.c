// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metadata on the cache device as the rest of the cache sees it: loaded once,
 * followed by commits (commit.c), and marked in the superblock (super.c).  The
 * table on the medium is always true, unless the session writes to the origin:
 * then the superblock says so, and the next load drops the table by a new
 * table_epoch.
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
 * nc_meta_open() - read and judge the superblock of a device
 * @bdev: cache device
 * @geo: filled in
 * @uuid: filled in, 16 bytes
 * @why: NC_WHY_SIZE bytes; filled in on failure
 *
 * Return: metadata, nothing loaded yet; or ERR_PTR.
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
 * nc_meta_reread() - the superblock again, right before it is relied on
 * @c: live cache, built from what the constructor read
 *
 * Between the constructor and the first resume the device may have been
 * formatted again, or used under another name.
 *
 * Return: 0; -EIO; -EINVAL or -ESTALE when the device is not what the cache was
 * built for: then only removing the dm device helps.
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
	/* The epoch differs when another dm device used the cache since. */
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
	/* One that no device has seen: what was kept away from this start is not to fit later. */
	c->geo.table_epoch = max(le64_to_cpu(m->super.sb->table_epoch), nc_members_epoch(c)) + 1;
	m->super.sb->table_epoch = cpu_to_le64(c->geo.table_epoch);
	nc_table_empty(&m->table);
	c->loaded = NEARCACHE_LOADED_UNCLEAN;
	c->intent.untrue = true;
	nc_session_catch_up(c);
	/* The session that was cut off may have written to the origin. */
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

/* Why nothing of what the medium says may be trusted, or NULL. */
static const char *why_cold(struct nc_cache *c)
{
	struct nearcache_super *sb = c->meta->super.sb;
	const char *why;
	int older;

	if (c->untold)
		return "does not know what was written or invalidated";
	if (le32_to_cpu(sb->state) == NEARCACHE_STATE_CLEAN && nc_members_emptied(c))
		return "was emptied since its other devices were told anything";
	if (le32_to_cpu(sb->state) != NEARCACHE_STATE_ACTIVE &&
	    nc_members_differ(c))
		return "has a device that does not fit the others";
	switch (le32_to_cpu(sb->state)) {
	case NEARCACHE_STATE_ACTIVE:
		return "was not stopped cleanly in a writing mode";
	case NEARCACHE_STATE_WRITING:
		why = nc_session_load(c);
		/* That of the file system is of what was there before. */
		if (!why)
			forget_file_system(sb);
		return why;
	default:
		older = nc_session_is_older(c);
		if (older < 0)
			return "may be older than the witness knows, which cannot be read";
		return older ? "is older than what the witness knows of it" : NULL;
	}
}

/**
 * nc_meta_load() - fill the index from the slot table
 * @c: live cache with an empty index
 * @known: what the medium must have, at least
 *
 * Sets c->loaded and c->warm.  The table of a session that wrote and was not
 * stopped is not read, unless it is known what it wrote.  Pages and slots that cannot be
 * relied on are dropped and counted.
 *
 * Return: 0; -EIO when the device fails too often: then the index is in no
 * state to be used.
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
	/* One that was never used speaks of nothing. */
	if (state == NEARCACHE_STATE_CLEAN && !m->commit.sequence)
		c->untold = false;
	why = why_cold(c);
	if (why) {
		/* On purpose, after a clean stop. */
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

/* All devices are to say what begins.  When one of several cannot be told, the first one has to say
 * that its table is not true any more if the origin is going to be written.
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

/* What the superblock is to say of the session that begins. */
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
	/* What cannot be written is of no use after a crash, and "active" says so. */
	if (!r && nc_session_begin(c) > 0)
		*state = NEARCACHE_STATE_WRITING;
	c->meta->commit.failed = false;
	return 0;
}

/**
 * nc_meta_flush_written() - flush the origin, to which was written
 * @c: live cache
 *
 * Such an error may be told once, and it is who wrote that has to hear it: with the next
 * flush of theirs.
 *
 * Context: may sleep.
 * Return: what flushing it returned.
 */
int nc_meta_flush_written(struct nc_cache *c)
{
	int r = nc_flush_origin(c);

	if (r)
		WRITE_ONCE(c->meta->flush_failed, true);
	return r;
}

/* Is what others wrote to the origin durable there?  If not, it is as if we had
 * written it: the stop flushes again, and nothing survives a crash.
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
 * nc_meta_go() - from here on slots may be overwritten
 * @c: live cache, suspended
 * @writes: the origin, too
 *
 * What was dropped at load, or because the origin grew, is gone from the medium
 * before a slot is used again.
 *
 * Return: 0 or -EIO; then nothing may be overwritten.
 */
int nc_meta_go(struct nc_cache *c, bool writes)
{
	bool live, numbered = false;
	struct nc_meta *m = c->meta;
	u32 state;
	int r;

	lockdep_assert_held(&c->life);
	/* Whoever wrote to it before: what is cached of it outlives this session, and
	 * must not be newer than what the origin has after a power cut.
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
	/* What the medium says when it failed is true as long as nobody writes; of what was
	 * written before, the witness knows.
	 */
	if (r ? c->intent.mode == NC_INTENT_ON :
		state != NEARCACHE_STATE_WRITING)
		nc_intent_end(c);
	WRITE_ONCE(m->commit.live, state != NEARCACHE_STATE_ACTIVE && !r);
	return r;
}

/* Can the medium, or the witness, be relied on to make the next load drop the table?
 * Without nc_cache.life this is a hint.
 */
bool nc_meta_starts_cold(const struct nc_cache *c)
{
	int durable = READ_ONCE(c->meta->super.durable);

	/* What says clean does not ask the witness. */
	return durable == NEARCACHE_STATE_ACTIVE ||
	       (durable == NEARCACHE_STATE_WRITING &&
		nc_intent_has_left(&c->intent));
}

/* The last sub-block, if the origin ended inside, holds zeros where there may be
 * data now.
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
 * nc_meta_resize() - the origin has another size
 * @c: live cache, suspended
 * @size: of the origin, bytes: it has grown, or growing is taken back because
 *	the superblock could not be written
 *
 * On the medium with the superblock's next write.
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

/* Is there anything that nc_meta_settle() has to do on the origin? */
bool nc_meta_unsettled(const struct nc_cache *c)
{
	return c->origin_written || c->meta->fingerprint_old;
}

static bool has_fingerprint(const struct nc_meta *m)
{
	return le32_to_cpu(m->super.sb->origin_fingerprint_type) ==
	       NEARCACHE_FP_ENDS;
}

/* Of the origin as it is, with the size that it had. */
static int take_fingerprint(struct nc_cache *c, u8 *digest)
{
	return nc_identity_ends(c->origin, c->meta->super.io,
				c->geo.origin_size, c->meta->ends, digest);
}

/**
 * nc_meta_origin_changed() - did somebody else write to the ends of the origin?
 * @c: live cache
 *
 * As far as the fingerprint tells: not while it is older than our own writes.
 *
 * Return: 1, 0, or what reading the origin returned.
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

/* Take it anew.  That of the file system, which only the helper knows, is of what was
 * there before.
 */
static int renew_fingerprint(struct nc_cache *c)
{
	struct nearcache_super *sb = c->meta->super.sb;

	forget_file_system(sb);
	return has_fingerprint(c->meta) ?
	       take_fingerprint(c, sb->origin_fingerprint) : 0;
}

/**
 * nc_meta_accept_origin() - all that is cached will be dropped: what the origin
 *	holds now is what the next load has to find
 * @c: live cache
 *
 * Before anything is filled again: that cannot be older, then.
 *
 * Return: 0 or what reading the origin returned.
 */
int nc_meta_accept_origin(struct nc_cache *c)
{
	return nc_meta_unsettled(c) && !nc_intent_knows_ends(&c->intent) ?
	       0 : renew_fingerprint(c);
}

/**
 * nc_meta_settle() - make what was written to the origin durable there
 * @c: live cache, suspended, before the superblock is written
 *
 * Slots may hold what the origin acknowledged but would lose with its power;
 * and its fingerprint is another one now.  If it cannot be flushed, nobody knows
 * what it holds: all that is cached is dropped.
 *
 * Return: 0 or what flushing or reading the origin returned: then the cache must
 * not be marked clean.
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
		/* Such an error is told once: this flush may be lying. */
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
 * nc_meta_read_ends() - the fingerprint of the origin as it is now
 * @c: live cache, nothing of the ends being written but what makes it void
 * @digest: NC_FINGERPRINT_SIZE bytes; filled in, if the superblock has one
 *
 * Context: may sleep; nc_cache.life.
 * Return: 0 or what reading the origin returned.
 */
int nc_meta_read_ends(struct nc_cache *c, u8 *digest)
{
	lockdep_assert_held(&c->life);
	return has_fingerprint(c->meta) ? take_fingerprint(c, digest) : 0;
}

/**
 * nc_meta_write_ends() - it is what the next load has to find
 * @c: live cache in a session that writes
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
	/* Not write_super(): a commit may be about to begin that the other devices do not know of
	 * yet.  The ring has the number of what was.
	 */
	return nc_super_write(&c->meta->super, c->bdev, le32_to_cpu(sb->state));
}

/* A new epoch empties the table on the medium by one write. */
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
	/* Under the lock: no page gets an epoch that the medium does not have. */
	if (r)
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_SUPER);
	else
		bitmap_zero(m->table.dirty, m->table.pages);
	mutex_unlock(&m->commit.lock);
	return r;
}

/* The session goes on without commits.  Only when the medium says so for sure are
 * slots used again that it still speaks of.
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
 * nc_meta_record_drop() - cached data was dropped; it must not come back
 * @c: live cache, active; nothing is filled where it was
 * @all: nothing is cached any more
 *
 * Return: 0 or -EIO; then the medium still speaks of it.
 */
int nc_meta_record_drop(struct nc_cache *c, bool all)
{
	int r;

	lockdep_assert_held(&c->life);
	/* What was written there has to last as long as what is cached of it: here, to
	 * the stop.
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
 * @c: live cache; no read, fill or eviction is under way
 *
 * Return: 0 or -EIO; on error the medium says what it said, or "clean" in a copy
 * that tells the truth.
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

/**
 * nc_meta_dirty() - a slot differs from its entry in the table
 * @c: live cache
 * @slot: slot
 *
 * Context: any.
 */
void nc_meta_dirty(struct nc_cache *c, u32 slot)
{
	struct nc_table *t = &c->meta->table;
	u32 page = slot / NEARCACHE_SLOTS_PER_PAGE;

	/* The slot first: pairs with nc_table_collect(). */
	smp_mb();
	if (test_bit(page, t->dirty))
		return;
	set_bit(page, t->dirty);
	nc_commit_arm(c);
}

/* Number that slots given out now carry, see struct nearcache_slot. */
u32 nc_meta_generation(const struct nc_meta *m)
{
	return (u32)READ_ONCE(m->commit.sequence) + 1;
}

/* RAM of the page bitmaps, bytes. */
size_t nc_meta_memory(const struct nc_meta *m)
{
	return 3 * BITS_TO_LONGS(m->table.pages) * sizeof(long);
}
