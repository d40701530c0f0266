/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write intent: before a region of the origin is written, the cache device durably
 * says so; see intent.c.
 */
#ifndef NEARCACHE_META_INTENT_H
#define NEARCACHE_META_INTENT_H

#include <linux/bio.h>
#include <linux/bitmap.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "meta/recover.h"
#include "meta/witness.h"

struct nc_cache;

/* A region is as clean as it was when nothing was written there for so long: what a
 * crash costs are the regions that were written in the last two periods.
 */
#define NC_INTENT_PERIOD	(2 * HZ)

/* The bit that stands for both ends of the origin, of which there is a fingerprint. */
#define NC_INTENT_ENDS		NEARCACHE_INTENT_REGIONS
#define NC_INTENT_BITS		(NEARCACHE_INTENT_REGIONS + 1)

/* Sectors of a page, which is written at once. */
#define NC_INTENT_PAGE		(NEARCACHE_PAGE_SIZE / NEARCACHE_INTENT_SIZE)

enum nc_intent_mode {
	NC_INTENT_OFF,		/* the medium relies on nothing of this */
	NC_INTENT_ON,		/* the medium is told first */
	NC_INTENT_LEAVING,	/* it cannot be: what it was not told of waits for the
				 * witness
				 */
	NC_INTENT_LEFT,		/* the witness knows: nothing is told any more */
};

/**
 * struct nc_intent_maps - bits per region, and what is on the medium
 * @image: the area as it was written last, or is being written; io_lock
 * @record: see struct nc_witness
 * @set: durable on the medium; set under io_lock, cleared there, too, and tested
 *	by writers without
 * @recent: written since the last sweep; set by writers, cleared by the sweep
 * @wanted: somebody waits for it
 * @marking: being written to the medium; io_lock
 * @idle: the sweep's
 */
struct nc_intent_maps {
	struct nearcache_intent image[NC_RECOVER_INTENT];
	struct nearcache_witness record;
	DECLARE_BITMAP(set, NC_INTENT_BITS);
	DECLARE_BITMAP(recent, NC_INTENT_BITS);
	DECLARE_BITMAP(wanted, NC_INTENT_BITS);
	DECLARE_BITMAP(marking, NC_INTENT_BITS);
	DECLARE_BITMAP(idle, NC_INTENT_BITS);
};

/**
 * struct nc_intent - write intent of a live cache
 * @mode: enum nc_intent_mode; from and to OFF while suspended, or when the superblock
 *	durably says active; else under @lock
 * @region_shift: log2 of a region, in sectors; constant while the cache is live
 * @session: that is under way, see struct nearcache_super
 * @recovered: a session was taken over at load: @maps has its marks; nc_cache.life
 * @untrue: what the superblock on the medium says was not believed at load; nc_cache.life
 * @maps: allocated with the first table that names a witness, or NULL
 * @witness: record of the cache
 * @bdev: witness device; the active table has it open, unless @mode is OFF or LEFT;
 *	NULL: none that the active table has
 * @io_lock: one writer of the area; taken under nc_cache.life, or alone
 * @lock: protects the lists, @since and @mode; taken in any context
 * @waiting: writes to regions that are not @set
 * @batch: those of them whose regions are being marked
 * @ready: to be sent to the origin by @ready_work
 * @since: jiffies when the oldest of @waiting and @batch came
 * @mark_work: marks what is wanted
 * @ready_work: submits @ready
 * @leave_work: tells the witness
 * @slow_work: has somebody waited for too long?
 * @sweep_work: clears regions that nobody writes to
 */
struct nc_intent {
	int mode;
	u8 region_shift;
	u64 session;
	bool recovered;
	bool untrue;
	struct nc_intent_maps *maps;
	struct nc_witness witness;
	struct block_device *bdev;
	struct mutex io_lock;	/* see above */
	spinlock_t lock;	/* see above */
	struct bio_list waiting;
	struct bio_list batch;
	struct bio_list ready;
	unsigned long since;
	struct work_struct mark_work;
	struct work_struct ready_work;
	struct work_struct leave_work;
	struct delayed_work slow_work;
	struct delayed_work sweep_work;
};

void nc_intent_init(struct nc_intent *i);
int nc_intent_alloc(struct nc_intent *i);
void nc_intent_destroy(struct nc_intent *i);
void nc_intent_end(struct nc_cache *c);
void nc_intent_stop(struct nc_cache *c);
void nc_intent_leave(struct nc_cache *c);
void nc_intent_retime(struct nc_cache *c);
void nc_intent_ask_again(struct nc_cache *c);
void nc_intent_cancel(struct nc_cache *c);
bool nc_intent_wait(struct nc_cache *c, struct bio *bio);
int nc_intent_write(struct nc_cache *c, u32 pages, blk_opf_t flags);
u32 nc_intent_put(struct nc_intent_maps *maps, u32 bit, bool on);
u32 nc_intent_count(const struct nc_intent *i);

/* The superblock has the fingerprint of the ends as they are. */
static inline bool nc_intent_knows_ends(const struct nc_intent *i)
{
	return READ_ONCE(i->mode) == NC_INTENT_ON &&
	       !test_bit(NC_INTENT_ENDS, i->maps->set);
}

static inline bool nc_intent_has_left(const struct nc_intent *i)
{
	return READ_ONCE(i->mode) == NC_INTENT_LEFT;
}

/**
 * nc_intent_admit() - may a write go to the origin?
 * @c: live cache
 * @i: its write intent
 * @bio: write, discard or write-zeroes as it will be sent there; in nc_cache.inflight
 *
 * Context: any that may submit bios; does not sleep.
 * Return: false when it was taken over and will be sent later.
 */
static inline bool nc_intent_admit(struct nc_cache *c, struct nc_intent *i,
				   struct bio *bio)
{
	int mode = READ_ONCE(i->mode);

	if (likely(mode == NC_INTENT_OFF || mode == NC_INTENT_LEFT))
		return true;
	return !nc_intent_wait(c, bio);
}

#endif /* NEARCACHE_META_INTENT_H */
