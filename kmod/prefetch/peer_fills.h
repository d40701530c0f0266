/* SPDX-License-Identifier: GPL-2.0-only */
/* Fills at a peer: prefetch jobs that read another device than the origin. */
#ifndef NEARCACHE_PREFETCH_PEER_FILLS_H
#define NEARCACHE_PREFETCH_PEER_FILLS_H

#include <linux/types.h>

struct nc_cache;
struct nc_fill;
struct nc_job;
struct nc_prefetch;

bool nc_peer_fills_enough(const struct nc_cache *c);
bool nc_peer_fill_begin(struct nc_prefetch *p);
void nc_peer_fill_end(struct nc_prefetch *p);
void nc_peer_fill_aim(struct nc_cache *c, const struct nc_job *job, struct nc_fill *f);
unsigned long nc_peer_jobs_look(struct nc_prefetch *p);
void nc_peer_jobs_cancel(struct nc_cache *c);

#endif /* NEARCACHE_PREFETCH_PEER_FILLS_H */
