/* SPDX-License-Identifier: GPL-2.0-only */
/* Throttle: limits amount and rate of prefetch jobs, which yield to all other I/O. */
#ifndef NEARCACHE_PREFETCH_THROTTLE_H
#define NEARCACHE_PREFETCH_THROTTLE_H

#include <linux/types.h>

struct nc_cache;
struct nc_prefetch;

void nc_pace_init(struct nc_prefetch *p);
unsigned long nc_pace_wait(struct nc_cache *c);
bool nc_pace_is_shared(const struct nc_prefetch *p);
void nc_pace_met(struct nc_cache *c, u64 bytes);

#endif /* NEARCACHE_PREFETCH_THROTTLE_H */
