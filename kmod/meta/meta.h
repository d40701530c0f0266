/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metadata on the cache device.  Only the files of meta/ read or write the metadata.
 *
 * Functions that do I/O sleep.  Once the cache is live, nc_life.lock serialises them; only
 * nc_commit_run() has a lock of its own.
 */
#ifndef NEARCACHE_META_META_H
#define NEARCACHE_META_META_H

#include <linux/types.h>

#include "meta/commit.h"
#include "meta/superblock.h"
#include "meta/slot_table.h"

struct block_device;
struct nc_cache;
struct nc_geometry;

/**
 * struct nc_known - knowledge of earlier caches of the dm device about a medium
 * @super: least sequence that the superblock must have
 * @commit: least sequence that the last commit record must have
 * @doubtful: an earlier cache wrote to the origin without a record on this medium, or failed to
 *	write the record: the medium may be wrong
 * @flush_owed: an earlier cache had nc_origin.flush_owed
 *
 * A medium with a lower sequence is a copy, or has lost acknowledged writes.
 */
struct nc_known {
	u64 super;
	u64 commit;
	bool doubtful;
	bool flush_owed;
};

/**
 * struct nc_meta - metadata of one cache device
 * @super: superblock
 * @table: slot table
 * @commit: commits of the table
 * @origin_durable: the origin was flushed since this cache was loaded, so writes from before
 *	the load survive a power cut
 * @flush_failed: the origin failed a flush, and may lose writes that are cached; set in
 *	any context
 * @fingerprint_old: the superblock's fingerprint of the origin may be older than
 *	the cache's own writes
 * @moved: others changed the medium while this system slept, and no nc_meta_go() succeeded since
 * @foreign: nc_meta_reread() found another cache on the first device
 * @ends: buffer for the ends of the origin; freed by nc_meta_close()
 */
struct nc_meta {
	struct nc_super super;
	struct nc_table table;
	struct nc_commit commit;
	bool origin_durable;
	bool flush_failed;
	bool fingerprint_old;
	bool moved;
	bool foreign;
	void *ends;
};

struct nc_meta *nc_meta_open(struct block_device *bdev,
			     struct nc_geometry *geo, u8 *uuid, char *why);
void nc_meta_close(struct nc_meta *m);
int nc_meta_load(struct nc_cache *c, const struct nc_known *known);
int nc_meta_go(struct nc_cache *c, bool writes);
void nc_meta_forget(struct nc_cache *c, const char *why);
int nc_meta_mark_changed(struct nc_cache *c);
bool nc_meta_starts_cold(const struct nc_cache *c);
void nc_meta_resize(struct nc_cache *c, u64 size);
int nc_meta_flush_written(struct nc_cache *c);
int nc_meta_record_drop(struct nc_cache *c, bool all, bool durable);
int nc_meta_stop(struct nc_cache *c);
size_t nc_meta_memory(const struct nc_meta *m);
u32 nc_meta_generation(const struct nc_meta *m);

#endif /* NEARCACHE_META_META_H */
