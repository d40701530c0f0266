/* SPDX-License-Identifier: GPL-2.0-only */
/* Flushes of the origin issued by the module. */
#ifndef NEARCACHE_META_FLUSH_H
#define NEARCACHE_META_FLUSH_H

struct nc_cache;

int nc_flush_origin(struct nc_cache *c);

#endif /* NEARCACHE_META_FLUSH_H */
