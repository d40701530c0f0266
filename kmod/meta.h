/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metadata on the cache device.  All that reads or writes it is in meta.c and
 * super.c.
 *
 * Functions that do I/O sleep; nc_cache.life is their lock once the cache is
 * live.
 */
#ifndef NEARCACHE_META_H
#define NEARCACHE_META_H

#include <linux/types.h>

struct block_device;
struct nc_cache;
struct nc_geometry;
struct nc_meta;

struct nc_meta *nc_meta_open(struct block_device *bdev,
			     struct nc_geometry *geo, u8 *uuid, char *why);
void nc_meta_close(struct nc_meta *m);
int nc_meta_reread(struct nc_cache *c);
int nc_meta_load(struct nc_cache *c);
int nc_meta_mark_active(struct nc_cache *c);
bool nc_meta_is_active(const struct nc_meta *m);
void nc_meta_resize(struct nc_cache *c, u64 size);
bool nc_meta_unsettled(const struct nc_cache *c);
int nc_meta_settle(struct nc_cache *c);
int nc_meta_origin_changed(struct nc_cache *c);
int nc_meta_accept_origin(struct nc_cache *c);
int nc_meta_commit_clean(struct nc_cache *c);
size_t nc_meta_memory(const struct nc_meta *m);
u32 nc_meta_generation(const struct nc_meta *m);
void nc_meta_dirty(struct nc_meta *m, u32 slot);

#endif /* NEARCACHE_META_H */
