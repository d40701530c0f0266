/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write intent: a region of the origin is marked durably on the cache device before a write
 * to it; see write_intent.c.
 */
#ifndef NEARCACHE_META_WRITE_INTENT_H
#define NEARCACHE_META_WRITE_INTENT_H

#include <linux/bio.h>
#include <linux/bitmap.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "meta/recover.h"
#include "meta/witness.h"

struct nc_cache;

/* A mark is cleared after its region had no write for this many jiffies.  So a crash costs the
 * regions written in the last two periods.
 */
#define NC_INTENT_PERIOD	(2 * HZ)

/* Bit of the mark for both ends of the origin, which the origin's fingerprint covers. */
#define NC_INTENT_ENDS		NEARCACHE_INTENT_REGIONS
#define NC_INTENT_BITS		(NEARCACHE_INTENT_REGIONS + 1)

/* Sectors of the bitmap in a page; writes cover whole pages. */
#define NC_INTENT_PAGE		(NEARCACHE_PAGE_SIZE / NEARCACHE_INTENT_SIZE)

enum nc_intent_mode {
	NC_INTENT_OFF,		/* no marks: the superblock's state does not rely on them */
	NC_INTENT_ON,		/* a write waits until its regions are marked */
	NC_INTENT_LEAVING,	/* marking failed: unmarked writes wait for the witness */
	NC_INTENT_LEFT,		/* the witness says "left": no write waits any more */
};

/**
 * struct nc_intent_maps - bitmaps with a bit per region, and the image of the area on the medium
 * @image: content of the area as last written, or being written; io_lock
 * @record: buffer for nc_intent.witness
 * @left: buffer of nc_intent.leave_work
 * @set: marks that are durable on the medium; changed under io_lock, tested by writers without it
 * @recent: regions written since the last pass of write_intent_clear.c; set by writers, cleared by
 *	the pass
 * @wanted: marks that writes wait for
 * @marking: marks that are being written to the medium; io_lock
 * @idle: scratch space of write_intent_clear.c
 */
struct nc_intent_maps {
	struct nearcache_intent image[NC_RECOVER_INTENT];
	struct nearcache_witness record;
	struct nearcache_witness left;
	DECLARE_BITMAP(set, NC_INTENT_BITS);
	DECLARE_BITMAP(recent, NC_INTENT_BITS);
	DECLARE_BITMAP(wanted, NC_INTENT_BITS);
	DECLARE_BITMAP(marking, NC_INTENT_BITS);
	DECLARE_BITMAP(idle, NC_INTENT_BITS);
};

/**
 * struct nc_intent_ops - calls from the write intent into higher layers, set by cache.c
 * @flush_lost: the origin failed a flush after it acknowledged writes; may sleep
 */
struct nc_intent_ops {
	void (*flush_lost)(struct nc_cache *c);
};

/**
 * struct nc_intent - write intent of a live cache
 * @ops: set by cache.c
 * @mode: enum nc_intent_mode; changes to and from OFF while suspended, or once the superblock
 *	durably says active; other changes are made under @lock
 * @region_shift: log2 of a region, in sectors; constant while the cache is live
 * @session: number of the current session, see struct nearcache_super; @leave_work raises it if the
 *	witness names a later session, or if @doubt is set
 * @recovered: the load took over an unfinished session, whose marks are in @maps; nc_life.lock
 * @untrue: the load did not trust the medium's superblock; nc_life.lock
 * @maps: allocated with the first dm table that names a witness; NULL before
 * @witness: record of the cache on its witness
 * @bdev: witness device, which the active dm table keeps open unless @mode is OFF or LEFT;
 *	NULL: no usable witness
 * @io_lock: held while the bitmap is written; taken under nc_life.lock, or alone
 * @lock: protects the lists, @since and @mode; taken in any context
 * @waiting: writes to regions that are not @set
 * @batch: waiting writes whose regions are being marked
 * @ready: writes that @ready_work submits to the origin
 * @held: an image of the memory may have been taken: each write waits in @asleep.  Changed under
 *	@lock, read without it
 * @refused: @held writes fail instead of waiting: see nc_intent_refuse(); changed and read under
 *	@lock
 * @doubt: see nc_intent_doubt(); changed under @lock
 * @asleep: writes that wait for nc_intent_release()
 * @since: jiffies when the oldest of @waiting and @batch was queued
 * @mark_work: writes the wanted marks
 * @ready_work: submits @ready
 * @leave_work: writes "left" to the witness
 * @slow_work: checks whether a write has waited longer than cache_timeout
 * @clear_work: clears marks of regions without recent writes
 */
struct nc_intent {
	const struct nc_intent_ops *ops;
	int mode;
	u8 region_shift;
	u64 session;
	bool recovered;
	bool untrue;
	struct nc_intent_maps *maps;
	struct nc_witness witness;
	struct block_device *bdev;
	struct mutex io_lock;	/* held while the bitmap is written */
	spinlock_t lock;	/* protects the lists, since and mode */
	struct bio_list waiting;
	struct bio_list batch;
	struct bio_list ready;
	bool held;
	bool refused;
	bool doubt;
	struct bio_list asleep;
	unsigned long since;
	struct work_struct mark_work;
	struct work_struct ready_work;
	struct work_struct leave_work;
	struct delayed_work slow_work;
	struct delayed_work clear_work;
};

void nc_intent_init(struct nc_intent *i, const struct nc_intent_ops *ops);
int nc_intent_alloc(struct nc_intent *i);
void nc_intent_destroy(struct nc_intent *i);
void nc_intent_end(struct nc_cache *c);
void nc_intent_stop(struct nc_cache *c);
void nc_intent_hold(struct nc_cache *c);
bool nc_intent_any_held(struct nc_intent *i);
void nc_intent_finish(struct nc_cache *c);
void nc_intent_release(struct nc_cache *c, unsigned int images);
bool nc_intent_refuses(struct nc_intent *i);
void nc_intent_refuse(struct nc_cache *c);
void nc_intent_accept(struct nc_cache *c);
void nc_intent_leave(struct nc_cache *c);
void nc_intent_retime(struct nc_cache *c);
void nc_intent_cancel(struct nc_cache *c);
void nc_intent_arm_clear(struct nc_cache *c);
bool nc_intent_wait(struct nc_cache *c, struct bio *bio);
void nc_intent_queue_ready(struct nc_cache *c, struct bio_list *bios);
int nc_intent_write(struct nc_cache *c, u32 pages, blk_opf_t flags);
u32 nc_intent_put(struct nc_intent_maps *maps, u32 bit, bool on);
u32 nc_intent_count(const struct nc_intent *i);

/* Does the superblock have the current fingerprint of the origin's ends? */
static inline bool nc_intent_knows_ends(const struct nc_intent *i)
{
	return READ_ONCE(i->mode) == NC_INTENT_ON &&
	       !test_bit(NC_INTENT_ENDS, i->maps->set);
}

static inline bool nc_intent_has_left(const struct nc_intent *i)
{
	return READ_ONCE(i->mode) == NC_INTENT_LEFT;
}

/* Is the witness about to record that the cache device left, or has it done so? */
static inline bool nc_intent_leaves(const struct nc_intent *i)
{
	int mode = READ_ONCE(i->mode);

	return mode == NC_INTENT_LEAVING || mode == NC_INTENT_LEFT;
}

/**
 * nc_intent_admit() - may a write go to the origin now?
 * @c: live cache
 * @i: write intent of @c
 * @bio: write, discard or write-zeroes, remapped to the origin; in nc_cache.write_ranges
 *
 * Context: any that may submit bios; does not sleep.
 * Return: true; false if the write waits for its marks or for the end of a hibernation: then a
 * work will submit it.
 */
static inline bool nc_intent_admit(struct nc_cache *c, struct nc_intent *i,
				   struct bio *bio)
{
	int mode = READ_ONCE(i->mode);

	if (likely((mode == NC_INTENT_OFF || mode == NC_INTENT_LEFT) && !READ_ONCE(i->held)))
		return true;
	return !nc_intent_wait(c, bio);
}

#endif /* NEARCACHE_META_WRITE_INTENT_H */
