/* SPDX-License-Identifier: GPL-2.0-only */
/* Flushes of the origin that no user asked for. */
#ifndef NEARCACHE_FLUSH_H
#define NEARCACHE_FLUSH_H

struct nc_cache;

int nc_flush_origin(struct nc_cache *c);

#endif /* NEARCACHE_FLUSH_H */
