/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Detects changes of the medium by others, made while this cache did not use it.
 *
 * nc_life.lock serialises these functions once the cache is live.
 */
#ifndef NEARCACHE_META_REREAD_H
#define NEARCACHE_META_REREAD_H

struct nc_cache;

int nc_meta_reread(struct nc_cache *c);
const char *nc_meta_moved(struct nc_cache *c);
const char *nc_meta_super_moved(struct nc_cache *c);

#endif /* NEARCACHE_META_REREAD_H */
