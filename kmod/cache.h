/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A live cache: the in-memory state of one formatted cache device.  It outlives a single
 * dm table: a reload passes it from the old table to the new one.
 */
#ifndef NEARCACHE_CACHE_H
#define NEARCACHE_CACHE_H

#include <linux/device-mapper.h>

#include "core/bio.h"
#include "core/compat.h"
#include "core/health.h"
#include "core/index.h"
#include "core/types.h"
#include "core/write_range.h"
#include "dm/claim_registry.h"
#include "evict/read_plan.h"
#include "evict/policy.h"
#include "evict/reclaim.h"
#include "evict/free_slots.h"
#include "io/fill.h"
#include "io/origin_retry.h"
#include "io/scrub.h"
#include "io/stream.h"
#include "meta/checksum.h"
#include "meta/ondisk_check.h"
#include "meta/write_intent.h"
#include "prefetch/prefetch.h"
#include "prefetch/readahead.h"
#include "ranges/lookup.h"

#define DM_MSG_PREFIX "nearcache"

struct nc_known;
struct nc_target;

/**
 * struct nc_cache - a live cache
 * @index: slots and look-up
 * @hot: fields that each hit reads
 * @dev: cache device and dm device
 * @life: state of the cache as a whole; its lock protects @geo and @meta
 * @reg: see claim_registry.h
 * @workers: work queues
 * @geo: geometry, constant while I/O runs
 * @sums: checksums of cached data
 * @policy: eviction policy
 * @fills: see fill.h
 * @write_ranges: sectors of the origin that are being written
 * @intent: see write_intent.h
 * @origin: the origin
 * @slots: see free_slots.h
 * @reclaim: see reclaim.h
 * @ranges: see lookup.h
 * @plan: see read_plan.h
 * @prefetch: see prefetch.h
 * @streams: see stream.h
 * @readahead: see readahead.h
 * @retry: see bio.h
 * @origin_retry: reads that wait for the origin
 * @health: health of the cache device
 * @scrub: see scrub.c
 * @meta: metadata on the cache device, see meta.c
 *
 * Each hit reads @index (except its free list), @hot and the start of @dev.  They come first, and
 * no field in their cache lines is written more often than those of @hot.
 */
struct nc_cache {
	struct nc_index index;
	struct nc_hot hot;
	struct nc_devices dev;

	/* management */
	struct nc_life life ____cacheline_aligned;
	struct nc_geometry geo;
	struct nc_sums sums;
	struct nc_workers workers;

	/* written by misses */
	struct nc_policy_state policy ____cacheline_aligned;
	struct nc_fills fills;
	struct nc_write_ranges write_ranges;
	struct nc_intent intent;
	struct nc_origin origin;
	struct nc_slots slots;
	struct nc_ranges ranges;
	struct nc_plan plan;
	struct nc_prefetch prefetch;
	struct nc_streams streams;
	struct nc_readahead readahead;
	struct nc_reclaim reclaim;

	/* management */
	struct nc_registration reg;
	struct nc_meta *meta;
	struct nc_retry retry;
	struct nc_origin_retry origin_retry;
	struct nc_health health;
	struct nc_scrub scrub;
};

static_assert(offsetof(struct nc_cache, hot) % SMP_CACHE_BYTES == 0 &&
	      offsetof(struct nc_cache, dev) == offsetofend(struct nc_cache, hot) &&
	      offsetof(struct nc_cache, life) % SMP_CACHE_BYTES == 0 &&
	      offsetof(struct nc_cache, policy) % SMP_CACHE_BYTES == 0);

/**
 * struct nc_target - one dm table line
 * @list: in nc_registration.targets
 * @ti: the target in device-mapper
 * @cache: the live cache of the table's cache device
 * @origin: remote device
 * @dev: cache device, the first member
 * @others: number of members behind the first one
 * @other: members behind the first one
 * @other_path: paths of @other, valid in the constructor only
 * @witness: device that records whether the cache device left, or NULL
 * @witness_path: path of @witness, valid in the constructor only
 * @mode: enum nearcache_mode
 * @noflush: the suspend must not wait for the origin.  Set in presuspend for postsuspend, before
 *	which device-mapper forgets it; invalid at other times, because a signal may end a suspend
 * @fill_memory_max: cap of fill memory, bytes; the lowest cap unless @fill_memory_given
 * @fill_memory_given: the table has option fill_memory
 * @cache_timeout: milliseconds, see struct nc_health
 * @cache_timeout_given: the table has option cache_timeout
 * @origin_timeout: seconds that reads wait while the origin fails; 0: they do not wait
 * @origin_timeout_given: the table has option origin_timeout
 * @verify: see struct nc_hot
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
int nc_cache_activate(struct nc_cache *c, struct nc_target *t, const struct nc_known *known);
void nc_cache_apply_settings(const struct nc_target *t);
void nc_cache_deactivate(struct nc_cache *c);
void nc_cache_drop_all(struct nc_cache *c);
int nc_cache_settle_origin(struct nc_cache *c);
int nc_cache_start(struct nc_cache *c, const struct nc_target *t);
void nc_cache_start_work(struct nc_cache *c);

static inline bool nc_target_writes(const struct nc_target *t)
{
	return t->mode != NEARCACHE_READ_ONLY;
}

/* Are @a and @b the same device, or a disk and its partition?  A write to one changes both then. */
static inline bool nc_overlap(struct block_device *a, struct block_device *b)
{
	return a == b ||
	       (a->bd_disk == b->bd_disk &&
		(!bdev_is_partition(a) || !bdev_is_partition(b)));
}

/* "major:minor" of the dm device, for messages. */
static inline const char *nc_cache_name(struct nc_cache *c)
{
	return dm_device_name(c->dev.owner);
}

#endif /* NEARCACHE_CACHE_H */
