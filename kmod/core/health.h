/* SPDX-License-Identifier: GPL-2.0-only */
/* Health of the cache device: decides whether hits may use it. */
#ifndef NEARCACHE_CORE_HEALTH_H
#define NEARCACHE_CORE_HEALTH_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "nearcache_counters.h"

/* I/O errors within an hour of the first after which the cache device is bypassed.  A hit may take
 * the device's timeout (30 s and more) to fail; a rare bad sector is no reason to bypass.
 */
#define NC_HEALTH_ERRORS_MAX	16

/* Number of event kinds. */
#define NC_EVENTS	(NEARCACHE_EVENT_JOB_OVER + 1)

struct nc_cache;

/* Kind of damage found in cached data. */
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
 * @failed: cache device that last failed or returned wrong data; 0: none
 * @errors: errors since @errors_since
 * @errors_since: jiffies; written without locks: of two errors at once, each may count
 *	in either period
 * @events: bit n: event n of enum nearcache_event is pending
 * @event: reports @events by netlink and raises the dm event
 * @watch: checks periodically that hits complete, while there are hits; owns the members below
 * @begun: @cookie is valid
 * @dozing: the watch closed the gate because there were no reads
 * @cookie: round of nc_cache.holds, after which all hits in flight at its start are complete
 * @late: checks since @cookie was taken
 * @stuck: checks since the last hit completed
 * @hits: completed hits at the last check
 * @calm: checks, while degraded, since hits were last overdue
 * @hold: calm checks needed to leave the degraded state
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
