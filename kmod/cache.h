/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A live cache: the in-memory state of one formatted cache device.  It outlives a single
 * dm table: a reload passes it from the old table to the new one.
 */
#ifndef NEARCACHE_CACHE_H
#define NEARCACHE_CACHE_H

#include <linux/atomic.h>
#include <linux/bio.h>
#include <linux/bitmap.h>
#include <linux/device-mapper.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "evict/prefetched.h"
#include "core/compat.h"
#include "evict/plan.h"
#include "meta/format.h"
#include "core/health.h"
#include "core/hit_srcu.h"
#include "core/index.h"
#include "core/write_range.h"
#include "meta/intent.h"
#include "io/origin_retry.h"
#include "evict/keep.h"
#include "prefetch/prefetch.h"
#include "ranges/lookup.h"
#include "io/scrub.h"
#include "evict/spread.h"
#include "dm/status.h"
#include "io/fill_writer.h"
#include "io/stream.h"
#include "meta/checksum.h"
#include "prefetch/readahead.h"

#define DM_MSG_PREFIX "nearcache"

/* Slots freed per round of reclaim: hits in flight may take milliseconds, and after a checkpoint
 * every new block waits for a slot that a write held.
 */
#define NC_RECLAIM_BATCH	1024U

struct nc_members;
struct nc_target;

/**
 * struct nc_cache - a live cache
 * @list: in the registry
 * @refs: number of @targets
 * @writers: number of @targets in a writing mode
 * @users: references without a table, see nc_registry_hold()
 * @ready: the superblock was validated; before, the entry only reserves the device
 * @untold: the medium may describe stale data as valid: an invalidation or write was
 *	not recorded on it
 * @was_live: a table with this cache was resumed
 * @load_failed: the medium is not the one that the constructor read
 * @owner: the only dm device that may use it
 * @dm_devt: number of @owner, for trace events
 * @devt: cache device, the first member
 * @targets: tables that hold it
 * @origin: the origin that the slots were filled from; opened by the table that is or was
 *	live
 * @origin_new: @origin is another block device than before, and was not compared yet
 * @uuid: of the cache
 * @geo: sizes, constant
 * @block_mask: sectors of a block, minus 1
 * @block_shift: log2 of a block, in sectors
 * @sub_shift: log2 of a sub-block, in sectors
 * @data_start: first sector of slot 0
 * @members: the cache devices, if there are several; see members.h
 * @cache_lbs_mask: largest logical block of the cache devices in sectors, minus 1
 * @cache_dma_mask: bits that must be clear in a memory offset for I/O to the cache
 *	devices; 0 if they accept every offset that the origin accepts
 * @bdev: cache device, the first member; some table has it open
 * @life: held while the cache goes live or is suspended, and by operations that must
 *	not run meanwhile
 * @active: the target of the live table, NULL while suspended
 * @loaded: enum nearcache_loaded
 * @state: enum nearcache_state; see health.c
 * @special: hits take the slow path, see read.c: any of the next three
 * @gate: a hit has to call nc_health_admit()
 * @cache_timeout: milliseconds without a completed hit after which the cache device is
 *	degraded, from the live table; 0: never
 * @health: of the cache device
 * @checks: hits are verified, by @sums or @verify; or a plan follows them
 * @picky: a cache device accepts less than the origin: one of the masks is not 0
 * @verify: one hit in @verify is compared with the origin, from the live table; 0:
 *	none
 * @sums: checksums of cached data
 * @scrub: see scrub.c
 * @index: slots and look-up
 * @holds: hit sections: a hit is in one from look-up to I/O completion, so that its slot gets
 *	no other block meanwhile
 * @stats: per-CPU counters
 * @wq: long or failed completions of fills: no work on it waits for a device, so readers
 *	get their data even while the other queues are stuck
 * @origin_wq: submissions to the origin that may wait for a request
 * @cache_wq: submissions to the cache device that may wait for a request, and
 *	reclaim, which waits for hits
 * @policy: state of @policy_ops
 * @policy_lock: protects @policy; reads of sampled blocks only try it
 * @policy_ops: decides what may be evicted
 * @ghost: entries of @policy's ghost
 * @spread: see spread.h
 * @tick_bytes: bytes read through the device per tick of the policy's clock
 * @clock: bytes read, updated in portions
 * @now: current tick
 * @reclaim: see reclaim.c
 * @reclaim_on: @reclaim may be queued: the table is live
 * @reclaim_emptied: slots that lost their last valid sub-block since the last hint
 * @reclaim_batch: victims of a round, while the worker waits for hits; the reclaim worker's
 * @reclaim_hand: next slot to examine; only the reclaim worker uses it
 * @reclaim_tick: tick of the last pass without a victim, plus one
 * @fills: fills in flight
 * @fill_memory: bytes they hold
 * @fill_memory_peak: highest value of @fill_memory
 * @fill_memory_max: limit, from the live table
 * @fill_idle: woken when @fills falls to zero
 * @store: see store.h
 * @ranges: see ranges.h
 * @foresight: see foresight.h
 * @prefetch: see prefetch.h
 * @transit: see ahead.h
 * @streams: see stream.h
 * @windows: see window.h
 * @inflight: write ranges: sectors of the origin that are being written
 * @intent: see intent.h
 * @origin_written: since the last clean stop the origin was written: by this host, or by
 *	others and the flush failed
 * @flush_owed: the origin failed a flush of the module, and no writer has seen the error;
 *	set and cleared in any context
 * @used: slots that hold a block
 * @valid_subblocks: valid bits set in all slots
 * @warm: slots taken over at load
 * @meta: metadata on the cache device, see meta.c
 * @retry_lock: protects @retry_bios; taken from I/O completion
 * @retry_bios: reads that @retry_work sends to the origin
 * @retry_work: submits @retry_bios again
 * @outage: reads that wait for the origin
 * @commit_work: see commit.h
 * @lost_work: drops all cached data; only queued while I/O runs
 *
 * Locks.  @list, @targets, @refs, @writers, @users and @ready: the registry's mutex.
 * @active, @origin, @origin_new, @untold, @was_live, @load_failed, @loaded, @geo and @meta:
 * @life; they change only while no I/O runs.  The health event work reads @active without
 * @life, and is flushed before @active is cleared.  @reclaim_on, @fill_memory_max,
 * @cache_timeout and @verify change under @life, also while I/O runs (see tune.c), and are
 * read without.  @checks is also read without; the active plan lock protects it.
 * @origin_written is set by writers and under @life, and cleared under @life while no write
 * is in flight.  Metadata: see commit.h and meta.h.  The index: see index.h.  @sums: see
 * sums.h.  @state and @gate change under the health lock and are read without.  Readers
 * advance @now, which only grows.  @reclaim_tick: a hint to others from the reclaim worker.
 */
struct nc_cache {
	/* read by each hit; after load only state, gate and now are written */
	struct nc_index index;
	struct nc_holds holds;
	struct nc_stats __percpu *stats;
	const struct nc_policy_ops *policy_ops;
	u64 tick_bytes;
	u32 clock_portion;
	u32 now;
	int state;
	union {
		u32 special;
		struct {
			bool gate;
			bool checks;
			bool picky;
		};
	};
	u32 block_mask;
	u8 block_shift;
	u8 sub_shift;
	u32 cache_lbs_mask;
	u32 cache_dma_mask;
	sector_t data_start;
	struct nc_members *members;
	struct nc_target *active;
	dev_t dm_devt;
	struct workqueue_struct *wq;
	struct workqueue_struct *origin_wq;
	struct workqueue_struct *cache_wq;
	struct nc_geometry geo;
	struct nc_sums sums;
	u32 verify;

	/* written by misses */
	struct nc_policy policy ____cacheline_aligned_in_smp;
	spinlock_t policy_lock;	/* see above */
	struct nc_spread spread;
	atomic64_t clock;
	atomic_t fills;
	atomic64_t fill_memory;
	atomic64_t fill_memory_peak;
	u64 fill_memory_max;
	wait_queue_head_t fill_idle;
	struct nc_store store;
	struct nc_inflight inflight;
	struct nc_intent intent;
	bool origin_written;
	bool flush_owed;
	atomic64_t used;
	atomic64_t valid_subblocks;
	struct nc_ranges ranges;
	struct nc_foresight foresight;
	struct nc_prefetch prefetch;
	struct nc_transit transit;
	struct nc_streams streams;
	struct nc_windows windows;
	struct work_struct reclaim;
	bool reclaim_on;
	atomic_t reclaim_emptied;
	u32 reclaim_hand;
	u32 reclaim_tick;
	u32 reclaim_batch[NC_RECLAIM_BATCH];

	/* management */
	struct list_head list;
	struct list_head targets;
	unsigned int refs;
	unsigned int writers;
	unsigned int users;
	bool ready;
	bool untold;
	bool was_live;
	bool load_failed;
	struct mutex life;	/* see above */
	struct mapped_device *owner;
	dev_t devt;
	struct block_device *bdev;
	struct block_device *origin;
	bool origin_new;
	u8 uuid[16];
	int loaded;
	u64 warm;
	struct nc_meta *meta;
	spinlock_t retry_lock;	/* see above */
	struct bio_list retry_bios;
	struct work_struct retry_work;
	struct nc_outage outage;
	struct nc_health health;
	u32 cache_timeout;
	struct nc_scrub scrub;
	struct work_struct lost_work;
	struct delayed_work commit_work;
	u64 *ghost;
};

/**
 * struct nc_target - one dm table line
 * @list: in nc_cache.targets
 * @ti: the target in device-mapper
 * @cache: the live cache of the table's cache device
 * @origin: remote device
 * @dev: cache device, the first member
 * @others: number of members behind the first one
 * @other: these members
 * @other_path: their paths, valid in the constructor only
 * @witness: device that records whether the cache device left, or NULL
 * @witness_path: its path, valid in the constructor only
 * @mode: enum nearcache_mode
 * @noflush: the current suspend must not wait for the origin
 * @fill_memory_max: bytes
 * @fill_memory_given: the table has option fill_memory
 * @cache_timeout: milliseconds, see struct nc_cache
 * @cache_timeout_given: the table has option cache_timeout
 * @origin_timeout: seconds that reads wait while the origin fails; 0: they do not wait
 * @origin_timeout_given: the table has option origin_timeout
 * @verify: see struct nc_cache
 * @verify_given: the table has option verify
 */
struct nc_target {
	struct list_head list;
	struct dm_target *ti;
	struct nc_cache *cache;
	struct dm_dev *origin;
	struct dm_dev *dev;
	struct dm_dev *witness;
	const char *witness_path;
	int mode;
	bool noflush;
	u64 fill_memory_max;
	bool fill_memory_given;
	u32 cache_timeout;
	bool cache_timeout_given;
	u32 origin_timeout;
	bool origin_timeout_given;
	u32 verify;
	bool verify_given;
	u32 others;
	struct dm_dev *other[NEARCACHE_MEMBERS_MAX - 1];
	const char *other_path[NEARCACHE_MEMBERS_MAX - 1];
};

struct nc_cache *nc_cache_new(const struct nc_target *t);
int nc_cache_open(struct nc_cache *c, struct nc_target *t);
void nc_cache_free(struct nc_cache *c);
int nc_cache_activate(struct nc_cache *c, struct nc_target *t);
void nc_cache_deactivate(struct nc_cache *c);

static inline bool nc_target_writes(const struct nc_target *t)
{
	return t->mode != NEARCACHE_READ_ONLY;
}

/* The same device, or a disk and its partition: a write to one changes the other. */
static inline bool nc_overlap(struct block_device *a, struct block_device *b)
{
	return a == b ||
	       (a->bd_disk == b->bd_disk &&
		(!bdev_is_partition(a) || !bdev_is_partition(b)));
}

/* "major:minor" of the dm device, for messages. */
static inline const char *nc_cache_name(struct nc_cache *c)
{
	return dm_device_name(c->owner);
}

#endif /* NEARCACHE_CACHE_H */
