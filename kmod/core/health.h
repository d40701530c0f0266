/* SPDX-License-Identifier: GPL-2.0-only */
/* Is the cache device well enough to be used? */
#ifndef NEARCACHE_CORE_HEALTH_H
#define NEARCACHE_CORE_HEALTH_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "nearcache_counters.h"

/* Errors of the cache device that make it be bypassed, when they come within an
 * hour of the first: a hit may take the device's timeout (30 s and more) to fail,
 * a bad sector now and then is no reason.
 */
#define NC_HEALTH_ERRORS_MAX	16

/* Kinds of events. */
#define NC_EVENTS	(NEARCACHE_EVENT_JOB_OVER + 1)

struct nc_cache;

/* What was found of cached data. */
enum nc_damage {
	NC_DAMAGE_UNREADABLE,
	NC_DAMAGE_CHECKSUM,
	NC_DAMAGE_DIFFERS,	/* from the origin */
};

/**
 * struct nc_health - health of a cache device
 * @lock: protects changes of nc_cache.state, nc_cache.gate and @reason; taken in
 *	interrupts
 * @reason: enum nearcache_reason of the state
 * @failed: cache device that failed last, or had wrong data, 0: none did
 * @errors: errors since @errors_since
 * @errors_since: jiffies; written without locks: two errors at once may count in
 *	either period
 * @events: bit n: the event n of enum nearcache_event is to be told
 * @event: tells @events, and raises the dm event
 * @watch: looks whether hits come back, while there are any; owns what follows
 * @begun: @cookie is valid
 * @dozing: the gate is closed because nobody read
 * @cookie: of nc_cache.holds; tells when the hits that were under way then are over
 * @late: looks since @cookie was taken
 * @stuck: looks since any hit completed
 * @hits: hits completed, at the last look
 * @calm: looks, while degraded, since hits were waiting
 * @hold: looks that it takes to believe in a degraded device again
 */
struct nc_health {
	spinlock_t lock;	/* see above */
	enum nearcache_reason reason;
	dev_t failed;
	atomic_t errors;
	unsigned long errors_since;
	unsigned long events;
	struct work_struct event;
	struct delayed_work watch;
	bool begun;
	bool dozing;
	u64 cookie;
	u32 late;
	u32 stuck;
	u64 hits;
	u32 calm;
	u32 hold;
};

void nc_health_init(struct nc_cache *c);
void nc_health_destroy(struct nc_cache *c);
void nc_health_loaded(struct nc_cache *c);
void nc_health_stop(struct nc_cache *c);
bool nc_health_admit(struct nc_cache *c);
void nc_health_event(struct nc_cache *c, enum nearcache_event event);
void nc_health_damage(struct nc_cache *c, const struct block_device *bdev,
		      enum nc_damage what, u64 sector, u32 sectors);
void nc_health_differs(struct nc_cache *c, const struct block_device *bdev);
void nc_health_error(struct nc_cache *c, const struct block_device *bdev,
		     const char *what);
void nc_health_bypass(struct nc_cache *c, enum nearcache_reason reason);

#endif /* NEARCACHE_CORE_HEALTH_H */
