/* SPDX-License-Identifier: GPL-2.0-only */
/* Health of the cache device: decides whether hits may use it. */
#ifndef NEARCACHE_CORE_HEALTH_H
#define NEARCACHE_CORE_HEALTH_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "core/hit_srcu.h"
#include "nearcache_counters.h"

/* This many I/O errors within an hour bypass the cache device.  More would take too long, because a
 * hit may need the device's timeout (30 s and more) to fail.  Fewer may be harmless bad sectors.
 */
#define NC_HEALTH_ERRORS_MAX	16

/* Number of event kinds. */
#define NC_EVENTS	(NEARCACHE_EVENT_JOB_OVER + 1)

struct nc_cache;
struct nc_probe;
struct nc_target;

/**
 * struct nc_health_ops - calls from the health into higher layers, set by cache.c
 * @left: called once when the cache device is bypassed, after reads have stopped using the device;
 *	any context
 */
struct nc_health_ops {
	void (*left)(struct nc_cache *c);
};

/* Called for each event; the dm table of @t stays live meanwhile.  May sleep, must not do I/O. */
typedef void nc_health_listener(struct nc_target *t, enum nearcache_event event);

/* Kind of damage found in cached data. */
enum nc_damage {
	NC_DAMAGE_UNREADABLE,
	NC_DAMAGE_CHECKSUM,
	NC_DAMAGE_DIFFERS,	/* differs from the origin */
};

/**
 * struct nc_health - health of a cache device
 * @ops: set by cache.c
 * @lock: protects changes of nc_hot.state, nc_hot.gate and @reason; taken in
 *	interrupts
 * @reason: enum nearcache_reason of the state
 * @failed: the last member that failed or had wrong data; 0: not known
 * @errors: number of errors since @errors_since
 * @errors_since: jiffies when the current hour of errors began.  Written without a lock: an
 *	error at the end of an hour may count in that hour or in the next
 * @events: bit n is set while event n of enum nearcache_event is not yet reported
 * @event: reports @events and raises the dm event
 * @watch: checks periodically, while there are hits, that they complete; owns @begun to @calm
 *	and @busy to @ticked
 * @begun: @cookie is valid
 * @dozing: the gate is closed because no hit came; the watch sleeps if its next look sees no hit
 * @cookie: round of nc_hot.hit_srcu after which the hits in flight at its start are complete
 * @late: number of looks since @cookie was taken
 * @stuck: number of looks since any hit completed
 * @hits: number of hits completed before the last look
 * @calm: number of looks, while degraded, since a hit last hung
 * @probes: one for each member, see probe.c
 * @busy: parts of the index (nc_hit_part()) that had hits in flight at each look since @cookie was
 *	taken; the probes read it and @since as hints
 * @since: tick of the policy's clock before which no hit began that is in flight now
 * @ticked: tick at which @cookie was taken, or at which the watch fell asleep
 * @cache_timeout: the cache device is degraded if hits are in flight but neither a hit nor a probe
 *	completes for so many milliseconds; 0: never.  From the live table; changed under
 *	nc_life.lock, also during I/O
 * @hold: value of @calm at which a degraded device becomes normal
 */
struct nc_health {
	const struct nc_health_ops *ops;
	spinlock_t lock;	/* protects changes of state, gate and reason */
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
	struct nc_probe *probes;
	DECLARE_BITMAP(busy, NC_HIT_PARTS);
	u32 since;
	u32 ticked;
	u32 hold;
	u32 cache_timeout;
};

void nc_health_listen(nc_health_listener *listener);
void nc_health_init(struct nc_cache *c, const struct nc_health_ops *ops);
void nc_health_destroy(struct nc_cache *c);
void nc_health_loaded(struct nc_cache *c);
void nc_health_stop(struct nc_cache *c);
bool nc_health_admit(struct nc_cache *c);
void nc_health_close_gate(struct nc_cache *c);
void nc_health_event(struct nc_cache *c, enum nearcache_event event);
void nc_health_damage(struct nc_cache *c, const struct block_device *bdev,
		      enum nc_damage what, u64 sector, u32 sectors);
void nc_health_differs(struct nc_cache *c, const struct block_device *bdev);
void nc_health_error(struct nc_cache *c, const struct block_device *bdev,
		     const char *what);
void nc_health_bypass(struct nc_cache *c, enum nearcache_reason reason);

#endif /* NEARCACHE_CORE_HEALTH_H */
