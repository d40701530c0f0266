/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The origin's fingerprint as the superblock records it.
 *
 * Functions that read or write the origin or the cache device sleep.  nc_life.lock, which all
 * callers hold, protects nc_meta.ends, nc_meta.fingerprint_old, and the fingerprint in nc_super.sb.
 * Writers set nc_origin.written without the lock.
 */
#ifndef NEARCACHE_META_RECORDED_FINGERPRINT_H
#define NEARCACHE_META_RECORDED_FINGERPRINT_H

#include <linux/types.h>

struct nc_cache;
struct nearcache_super;

bool nc_meta_unsettled(const struct nc_cache *c);
int nc_meta_settle(struct nc_cache *c);
int nc_meta_origin_changed(struct nc_cache *c);
int nc_meta_ends_changed(struct nc_cache *c);
int nc_meta_accept_origin(struct nc_cache *c);
int nc_meta_read_ends(struct nc_cache *c, u8 *digest);
int nc_meta_write_ends(struct nc_cache *c, const u8 *digest);
void nc_meta_forget_file_system(struct nearcache_super *sb);

#endif /* NEARCACHE_META_RECORDED_FINGERPRINT_H */
