/* SPDX-License-Identifier: GPL-2.0-only */
/* Members of struct nc_cache that no single file of core/ owns. */
#ifndef NEARCACHE_CORE_TYPES_H
#define NEARCACHE_CORE_TYPES_H

#include <linux/blk_types.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "core/counters.h"
#include "core/user_load.h"
#include "core/hit_srcu.h"

struct mapped_device;
struct nc_cache;
struct nc_members;
struct nc_policy_ops;
struct nc_target;

/**
 * struct nc_hot - fields that each hit reads; while I/O runs, few of them change, and these rarely
 * @hit_srcu: a hit is in a hit section from look-up to I/O completion, so that reclaim
 *	cannot give its slot to another block
 * @counters: per-CPU counters
 * @policy_ops: eviction policy
 * @tick_bytes: bytes read through the device per tick of the policy's clock
 * @clock_portion: bytes that a CPU counts before it adds them to the shared clock
 * @now: current tick of the policy's clock; only grows; written by tasks that read
 * @state: enum nearcache_state; changed under nc_health.lock
 * @slow_path: any of the next four fields is set, so hits must leave the fast path of read.c
 * @gate: a hit must call nc_health_admit(); changed under nc_health.lock
 * @checks: hits are checked (checksums or @verify); changed under nc_life.lock
 * @planned: a plan needs to see hits; changed under nc_plan.lock
 * @needs_alignment: the cache device does not accept every bio that the origin accepts:
 *	@lbs_mask or @dma_mask is not 0
 * @block_mask: sectors of a block, less 1
 * @block_shift: log2 of a block, in sectors
 * @sub_shift: log2 of a sub-block, in sectors
 * @lbs_mask: largest logical block of the cache devices in sectors, less 1
 * @dma_mask: bits that must be 0 in the address of memory for the cache device; 0: the cache device
 *	accepts all memory that the origin accepts
 * @data_start: first sector of slot 0 on the (first) cache device
 * @verify: compare one of this many hits with the origin; 0: none.  Changed under nc_life.lock,
 *	also while I/O runs
 */
struct nc_hot {
	struct nc_hit_srcu hit_srcu;
	struct nc_counters __percpu *counters;
	const struct nc_policy_ops *policy_ops;
	u64 tick_bytes;
	u32 clock_portion;
	u32 now;
	int state;
	union {
		u32 slow_path;
		struct {
			bool gate;
			bool checks;
			bool planned;
			bool needs_alignment;
		};
	};
	u32 block_mask;
	u8 block_shift;
	u8 sub_shift;
	u32 lbs_mask;
	u32 dma_mask;
	sector_t data_start;
	u32 verify;
};

/* All fields that change while I/O runs are in one cache line. */
static_assert(offsetofend(struct nc_hot, slow_path) <= SMP_CACHE_BYTES);

/**
 * struct nc_devices - the cache device and the dm device
 * @members: all cache devices, if there are several; see members.h
 * @bdev: the (first) cache device; a dm table keeps the device open
 * @owner: the only dm device that may use the cache device
 * @dm_devt: number of @owner, for trace events
 * @devt: number of @bdev
 * @uuid: UUID of the cache, constant after the superblock was read
 */
struct nc_devices {
	struct nc_members *members;
	struct block_device *bdev;
	struct mapped_device *owner;
	dev_t dm_devt;
	dev_t devt;
	u8 uuid[16];
};

/**
 * struct nc_life - state of the cache as a whole
 * @active: the target whose table is live, NULL while suspended
 * @lock: held while the cache is activated or suspended, and by code that must not run at
 *	the same time; protects the other fields
 * @loaded: enum nearcache_loaded
 * @warm: number of slots that the load found valid on the medium
 * @dirty_unrecorded: no load may trust the medium, as data was invalidated, or the origin was
 *	written, and the medium has no record of this
 * @was_live: a dm table of this cache was resumed at least once
 * @load_failed: the medium has changed since the constructor read it
 * @stopping: the live table is being suspended: work that a system sleep stopped stays stopped
 * @asleep: because of a system sleep no work may change the cache device.  Changed under @lock,
 *	also while I/O runs; read without it
 * @doubted: an image of the memory may have been taken, and the cache device was not compared since
 *	then: reads go to the origin.  Set while tasks are frozen, cleared under @lock or if no
 *	image was taken; read without it
 * @settled: when the last image of the memory was about to be taken, the fingerprint was current
 * @images: value of nc_sleep_images() after which the medium is known to match the memory
 *
 * No I/O runs when fields change, except @dirty_unrecorded and those from @stopping on.  The work
 * nc_health.event reads @active without the lock: the work is flushed before @active is cleared.
 */
struct nc_life {
	struct nc_target *active;
	struct mutex lock;	/* protects the other members */
	int loaded;
	u64 warm;
	bool dirty_unrecorded;
	bool was_live;
	bool load_failed;
	bool stopping;
	bool asleep;
	bool doubted;
	bool settled;
	unsigned int images;
};

/**
 * struct nc_workers - work queues, and work that belongs to several files
 * @completion: completions of long or failed fills.  No work on it waits for a device, so that
 *	readers get their data even when the other queues are stuck
 * @origin: submissions to the origin that may wait for a request
 * @cache: submissions to the cache device that may wait for a request, and reclaim, which waits
 *	for hits
 * @probe: see probe.c
 * @drop_all: drops all cached data; only queued while I/O runs
 * @commit: see commit.h
 * @wake: ends a system sleep, or releases writes during it: see cache_sleep.c
 * @hold: prepares for an image of the memory: see nc_cache_hold()
 * @hold_error: result of @hold, valid when @hold is idle
 */
struct nc_workers {
	struct workqueue_struct *completion;
	struct workqueue_struct *origin;
	struct workqueue_struct *cache;
	struct workqueue_struct *probe;
	struct work_struct drop_all;
	struct delayed_work commit;
	struct work_struct wake;
	struct work_struct hold;
	int hold_error;
};

/**
 * struct nc_origin - the origin that the slots were filled from
 * @bdev: origin device, open in the dm table that is or was live.  Changed under nc_life.lock
 * @replaced: @bdev is another device than before, not yet compared with the fingerprint; protected
 *	by nc_life.lock
 * @written: since the last clean stop the origin was written by this cache, or by others whose
 *	writes cannot be flushed.  Set by writers and under nc_life.lock; cleared under
 *	nc_life.lock while nothing is written
 * @flush_owed: a flush that the cache sent to the origin failed, and no writer got the error: so
 *	the next flush of a user must fail.  Set and cleared in any context
 * @demand: users' I/O on the origin
 * @changed: cancels the prefetch jobs that read at a peer, as the peer's data may now be older than
 *	the origin's; set by the prefetch.  Called before the fills of the changed sectors are
 *	marked stale
 */
struct nc_origin {
	struct block_device *bdev;
	bool replaced;
	bool written;
	bool flush_owed;
	struct nc_demand demand;
	void (*changed)(struct nc_cache *c);
};

/* Kind of request that needs a slot for its block. */
enum nc_slot_user {
	NC_SLOT_READER,		/* a read, a readahead window or a write */
	NC_SLOT_JOB,		/* a prefetch job, which may use the prefetch reserve */
	NC_SLOT_STREAM,		/* the stream of a plan */
};

#endif /* NEARCACHE_CORE_TYPES_H */
