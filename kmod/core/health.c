// SPDX-License-Identifier: GPL-2.0-only
/*
 * Health of the cache device.  Readers get data from the origin when the cache device fails.
 * This file decides when to stop using the device.  Each change of state is logged once:
 *
 *	normal <---> degraded ---> bypass
 *	   |                         ^
 *	   +-------------------------+
 *
 * degraded: hits do not complete; reads go to the origin until the device has completed all hits
 * or all probes in flight, and for a hold time after that.  bypass: the device failed too often, or
 * cannot write metadata; only a table reload, which reads the superblock again, ends this state.
 *
 * The watch, a delayed work, checks whether hits complete.  Each hit is in a hit section
 * (nc_hot.hit_srcu), so a finished round proves that all hits in flight at its start are
 * complete.  A round that lasts long does not prove that the device hangs: perhaps a reader does
 * not get a processor.  A probe (probe.c) that the device does not complete either proves it.  The
 * watch runs ten times a second while there are hits.  Without hits it sleeps, with nc_hot.gate
 * closed; the next hit then calls nc_health_admit(), which wakes it.
 */
#include "cache.h"
#include "core/health.h"
#include "core/members.h"
#include "core/probe.h"
#include "core/tracepoints.h"

/* Period of the watch in jiffies, and the number of its looks in a second. */
#define LOOK		(HZ / 10)
#define LOOKS_PER_S	10U
/* While other hits complete, a hit may take this many times cache_timeout. */
#define LATE_FACTOR	8
/* Limits of nc_health.hold, in looks.  The hold time doubles with each recovery of the device. */
#define HOLD_MIN	(1 * LOOKS_PER_S)
#define HOLD_MAX	(60 * LOOKS_PER_S)

#define ERRORS_PERIOD	(60 * 60 * HZ)

/* Buffer size for name_device(). */
#define NAME_SIZE	48

static const char *const reason_text[] = {
	[NEARCACHE_REASON_NONE]		= "well",
	[NEARCACHE_REASON_ERRORS]	= "too many I/O errors",
	[NEARCACHE_REASON_READ_METADATA] = "superblock or slot table cannot be read",
	[NEARCACHE_REASON_WRITE_TABLE]	= "the slot table cannot be written",
	[NEARCACHE_REASON_WRITE_SUPER]	= "the superblock cannot be written",
	[NEARCACHE_REASON_SLOW]		= "it does not answer",
	[NEARCACHE_REASON_DIFFERS]	= "it has other data than the origin",
	[NEARCACHE_REASON_WRITE_INTENT]	= "the write-intent bitmap cannot be written",
};

/* NULL: no listener.  Changes only while no dm table exists, so readers take no lock. */
static nc_health_listener *event_listener;

/* Set the listener of events; NULL removes it.  Call this only while no dm table exists. */
void nc_health_listen(nc_health_listener *listener)
{
	event_listener = listener;
}

static void raise_event(struct work_struct *work)
{
	struct nc_cache *c = container_of(work, struct nc_cache, health.event);
	struct nc_target *t = READ_ONCE(c->life.active);
	unsigned long bit, events = xchg(&c->health.events, 0);

	if (!t)
		return;
	for_each_set_bit(bit, &events, NC_EVENTS)
		if (event_listener)
			event_listener(t, bit);
	dm_table_event(t->ti->table);
}

/* Raise an event for dm event waiters and netlink listeners.  Any context.  Pending events of one
 * kind are merged into one.
 */
void nc_health_event(struct nc_cache *c, enum nearcache_event event)
{
	set_bit(event, &c->health.events);
	queue_work(c->workers.completion, &c->health.event);
}

/* Change the state to @to.  Returns false if the old state is @to, or is bypass, which is final. */
static bool health_change(struct nc_cache *c, enum nearcache_state to,
			  enum nearcache_reason reason)
{
	struct nc_health *h = &c->health;
	unsigned long flags;
	int old;

	spin_lock_irqsave(&h->lock, flags);
	old = c->hot.state;
	if (old == to || old == NEARCACHE_BYPASS) {
		spin_unlock_irqrestore(&h->lock, flags);
		return false;
	}
	WRITE_ONCE(c->hot.gate, true);
	WRITE_ONCE(c->hot.state, to);
	WRITE_ONCE(h->reason, reason);
	spin_unlock_irqrestore(&h->lock, flags);
	trace_nearcache_mode(c->dev.dm_devt, old, to,
			     old == NEARCACHE_NOT_LOADED && to == NEARCACHE_NORMAL ?
				     "loaded" : reason_text[reason]);
	if (old != NEARCACHE_NOT_LOADED || to == NEARCACHE_BYPASS)
		nc_health_event(c, NEARCACHE_EVENT_STATE);
	return true;
}

/* The superblock and slot table are loaded, so hits may begin.  The device is suspended. */
void nc_health_loaded(struct nc_cache *c)
{
	health_change(c, NEARCACHE_NORMAL, NEARCACHE_REASON_NONE);
}

/* Format the name of member @devt for the log.  @devt is 0 if the member is not known. */
static const char *name_device(const struct nc_cache *c, dev_t devt, char *text)
{
	int n;

	n = scnprintf(text, NAME_SIZE, "%u:%u", MAJOR(devt ?: c->dev.devt),
		      MINOR(devt ?: c->dev.devt));
	if (!devt && c->dev.members)
		scnprintf(text + n, NAME_SIZE - n, ", or another of its %u,",
			  nc_members_count(c));
	return text;
}

/* Return the member that the log blames for a bypass; 0: not known.  The first member has all
 * metadata; each other member has only a superblock, whose failure nc_members_failed() reports.
 */
static dev_t reason_culprit(const struct nc_cache *c, enum nearcache_reason reason)
{
	switch (reason) {
	case NEARCACHE_REASON_ERRORS:
	case NEARCACHE_REASON_DIFFERS:
		return READ_ONCE(c->health.failed);
	case NEARCACHE_REASON_SLOW:
		return 0;
	default:
		return nc_members_failed(c) ?: c->dev.devt;
	}
}

/**
 * nc_health_bypass() - stop using the cache device until a new table is loaded
 * @c: live cache
 * @reason: enum nearcache_reason
 *
 * All reads go to the origin, and no later stop marks the superblock clean.  The superblock may
 * still say clean since an earlier stop; nc_meta_starts_cold() checks that.
 *
 * Context: any.
 */
void nc_health_bypass(struct nc_cache *c, enum nearcache_reason reason)
{
	char name[NAME_SIZE];

	if (!health_change(c, NEARCACHE_BYPASS, reason))
		return;
	/* All members are bypassed together: no member has a copy of another one's data. */
	DMERR("%s: cache device %s is bypassed: %s", nc_cache_name(c),
	      name_device(c, reason_culprit(c, reason), name), reason_text[reason]);
	c->health.ops->left(c);
}

/* Count an error.  Returns false if that bypassed the device (NC_HEALTH_ERRORS_MAX). */
static bool count_error(struct nc_cache *c, enum nearcache_reason reason)
{
	struct nc_health *h = &c->health;

	if (time_after(jiffies, READ_ONCE(h->errors_since) + ERRORS_PERIOD)) {
		WRITE_ONCE(h->errors_since, jiffies);
		WRITE_ONCE(h->hold, HOLD_MIN);
		atomic_set(&h->errors, 0);
	}
	if (atomic_inc_return(&h->errors) < NC_HEALTH_ERRORS_MAX)
		return true;
	nc_health_bypass(c, reason);
	return false;
}

/* Record for the log which member failed; 0 if @bdev is only a path below a multipath member. */
static void remember_name(struct nc_cache *c, const struct block_device *bdev)
{
	u32 i;

	for (i = 0; i < nc_members_count(c); i++)
		if (nc_members_bdev(c, i) == bdev)
			break;
	WRITE_ONCE(c->health.failed, i < nc_members_count(c) ? bdev->bd_dev : 0);
}

/* Count and log an I/O error of member @bdev; @what: the operation.  Any context. */
void nc_health_error(struct nc_cache *c, const struct block_device *bdev,
		     const char *what)
{
	DMERR_LIMIT("%s: %s failed on cache device %u:%u", nc_cache_name(c),
		    what, MAJOR(bdev->bd_dev), MINOR(bdev->bd_dev));
	remember_name(c, bdev);
	count_error(c, NEARCACHE_REASON_ERRORS);
}

/**
 * nc_health_damage() - log cached data that was found damaged and dropped
 * @c: live cache
 * @bdev: member with the data
 * @what: kind of damage
 * @sector: first damaged sector, on the dm device
 * @sectors: number of damaged sectors; not necessarily contiguous
 *
 * Context: any.
 */
void nc_health_damage(struct nc_cache *c, const struct block_device *bdev,
		      enum nc_damage what, u64 sector, u32 sectors)
{
	static const char *const text[] = {
		[NC_DAMAGE_UNREADABLE]	= "cannot be read",
		[NC_DAMAGE_CHECKSUM]	= "are not what was cached",
		[NC_DAMAGE_DIFFERS]	= "are not what the origin has",
	};

	DMERR_LIMIT("%s: cache device %u:%u: %u sectors from %llu on %s: dropped",
		    nc_cache_name(c), MAJOR(bdev->bd_dev), MINOR(bdev->bd_dev),
		    sectors, sector, text[what]);
	nc_health_event(c, NEARCACHE_EVENT_DAMAGE);
}

/* Count an error: cached data on member @bdev differs from the origin.  Any context. */
void nc_health_differs(struct nc_cache *c, const struct block_device *bdev)
{
	remember_name(c, bdev);
	count_error(c, NEARCACHE_REASON_DIFFERS);
}

/* Hits are overdue: send reads to the origin. */
static void health_degrade(struct nc_cache *c)
{
	struct nc_health *h = &c->health;
	char name[NAME_SIZE];

	if (!count_error(c, NEARCACHE_REASON_SLOW) ||
	    !health_change(c, NEARCACHE_DEGRADED, NEARCACHE_REASON_SLOW))
		return;
	DMWARN("%s: cache device %s does not answer: reads go to the origin until it does",
	       nc_cache_name(c), name_device(c, 0, name));
	h->calm = 0;
}

/* All hits in flight completed: a degraded device becomes normal. */
static void trust_again(struct nc_cache *c)
{
	struct nc_health *h = &c->health;
	char name[NAME_SIZE];

	if (!health_change(c, NEARCACHE_NORMAL, NEARCACHE_REASON_NONE))
		return;
	DMINFO("%s: cache device %s answers again", nc_cache_name(c),
	       name_device(c, 0, name));
	WRITE_ONCE(h->hold, min(h->hold * 2, HOLD_MAX));
}

/* Keep in nc_health.busy only the parts of the index that have hits now: after some looks, those in
 * which a hit takes long.
 */
static void narrow_busy(struct nc_cache *c)
{
	struct nc_health *h = &c->health;
	u32 part;

	for_each_set_bit(part, h->busy, NC_HIT_PARTS)
		if (nc_hit_part_idle(&c->hot.hit_srcu, part))
			clear_bit(part, h->busy);
}

/* Are hits overdue, and the probe of a member as well?  @over: the round of @cookie ended; @hits:
 * number of hits so far.  Has the members probed from the second look on at which no hit completed;
 * while hits complete, from the third, because a round may last two looks although no hit hangs.
 */
static bool hits_wait(struct nc_cache *c, bool over, u64 hits)
{
	struct nc_health *h = &c->health;
	u32 limit = READ_ONCE(c->health.cache_timeout) * LOOKS_PER_S / MSEC_PER_SEC;

	if (over) {
		h->cookie = nc_hit_start_poll(&c->hot.hit_srcu);
		h->late = 0;
		bitmap_fill(h->busy, NC_HIT_PARTS);
		/* A hit after the last start of a round may have missed that round. */
		WRITE_ONCE(h->since, h->ticked);
		h->ticked = READ_ONCE(c->hot.now);
	} else if (limit) {
		narrow_busy(c);
	}
	h->stuck = over || hits != h->hits ? 0 : h->stuck + 1;
	h->late++;
	nc_probes_look(c, limit && (h->stuck || h->late > 2));
	/* The first probe is sent one look after the hits that it stands for. */
	return limit && nc_probes_wait(c, max(limit, 2U) - 1) &&
	       (h->stuck >= limit || h->late > limit * LATE_FACTOR);
}

/* Make the next hit call nc_health_admit().  Context: process. */
void nc_health_close_gate(struct nc_cache *c)
{
	spin_lock_irq(&c->health.lock);
	WRITE_ONCE(c->hot.gate, true);
	spin_unlock_irq(&c->health.lock);
}

/* May the watch sleep?  At its first idle look the watch closes the gate.  If the next look is idle
 * too, all hits that passed the gate are complete, and the watch sleeps.  It may miss a hit between
 * the gate and nc_hit_lock(): if that hit hangs, the watch notices once a later hit wakes it.
 */
static bool fall_asleep(struct nc_cache *c, bool idle)
{
	struct nc_health *h = &c->health;
	bool asleep = idle && h->dozing && READ_ONCE(c->hot.gate);

	h->dozing = idle && !asleep;
	if (h->dozing)
		nc_health_close_gate(c);
	return asleep;
}

static void watch_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(to_delayed_work(work),
					  struct nc_cache, health.watch);
	struct nc_health *h = &c->health;
	u64 hits = nc_counters_sum(c->hot.counters, NEARCACHE_COUNTER_HITS);
	bool over = !h->begun || nc_hit_poll(&c->hot.hit_srcu, h->cookie);
	bool idle = h->begun && over && hits == h->hits;
	int state = READ_ONCE(c->hot.state);
	bool wait;

	/* Before a suspend devices stop with hits in flight: count the time anew afterwards. */
	if (READ_ONCE(c->life.asleep)) {
		h->begun = false;
		h->dozing = false;
		queue_delayed_work(c->workers.completion, &h->watch, LOOK);
		return;
	}
	if (fall_asleep(c, idle && state == NEARCACHE_NORMAL)) {
		h->begun = false;
		h->ticked = READ_ONCE(c->hot.now);
		return;
	}
	wait = hits_wait(c, over, hits);
	h->begun = true;
	h->hits = hits;
	switch (state) {
	case NEARCACHE_NORMAL:
		if (wait)
			health_degrade(c);
		break;
	case NEARCACHE_DEGRADED:
		if (over || (h->late > 2 && !nc_probes_wait(c, 1)))
			h->calm++;
		else if (h->late > 2)
			h->calm = 0;
		if (h->calm >= h->hold)
			trust_again(c);
		break;
	default:
		h->begun = false;
		return;
	}
	queue_delayed_work(c->workers.completion, &h->watch, LOOK);
}

/* May a read that finds the gate closed use the cache device?  Wakes the watch.  Context: map. */
bool nc_health_admit(struct nc_cache *c)
{
	struct nc_health *h = &c->health;
	unsigned long flags;
	bool ok;

	if (READ_ONCE(c->hot.state) != NEARCACHE_NORMAL)
		return false;
	spin_lock_irqsave(&h->lock, flags);
	ok = c->hot.state == NEARCACHE_NORMAL && !READ_ONCE(c->life.doubted);
	if (ok && c->hot.gate) {
		WRITE_ONCE(c->hot.gate, false);
		queue_delayed_work(c->workers.completion, &h->watch, LOOK);
	}
	spin_unlock_irqrestore(&h->lock, flags);
	return ok;
}

/* Stop the watch and the probes.  The cache is being suspended; all hits are complete.  May sleep
 * as long as a probe hangs.
 */
void nc_health_stop(struct nc_cache *c)
{
	cancel_delayed_work_sync(&c->health.watch);
	nc_probes_stop(c);
	nc_health_close_gate(c);
	c->health.begun = false;
	c->health.dozing = false;
	if (READ_ONCE(c->hot.state) == NEARCACHE_DEGRADED)
		trust_again(c);
	flush_work(&c->health.event);
}

void nc_health_init(struct nc_cache *c, const struct nc_health_ops *ops)
{
	struct nc_health *h = &c->health;

	c->hot.state = NEARCACHE_NOT_LOADED;
	c->hot.gate = true;
	h->ops = ops;
	spin_lock_init(&h->lock);
	h->errors_since = jiffies;
	h->hold = HOLD_MIN;
	INIT_WORK(&h->event, raise_event);
	INIT_DELAYED_WORK(&h->watch, watch_work);
}

/* Cancel all work.  The cache is about to be freed; no dm table refers to it.  May sleep. */
void nc_health_destroy(struct nc_cache *c)
{
	cancel_delayed_work_sync(&c->health.watch);
	cancel_work_sync(&c->health.event);
	nc_probes_free(c);
}
