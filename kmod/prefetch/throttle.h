/* SPDX-License-Identifier: GPL-2.0-only */
/* Throttle: limits amount and rate of prefetch jobs, which yield to all other I/O. */
#ifndef NEARCACHE_PREFETCH_THROTTLE_H
#define NEARCACHE_PREFETCH_THROTTLE_H

#include <linux/types.h>

struct nc_cache;
struct nc_demand;
struct nc_prefetch;

void nc_throttle_init(struct nc_prefetch *p);
unsigned long nc_throttle_wait(struct nc_cache *c);
void nc_throttle_measure_user(struct nc_demand *d, u64 took, bool undisturbed);
void nc_throttle_see_read(struct nc_cache *c, u32 bytes, u64 took, bool success);
void nc_throttle_fit_memory(struct nc_cache *c);
void nc_throttle_set_memory(struct nc_cache *c, u64 least, u64 most);

#endif /* NEARCACHE_PREFETCH_THROTTLE_H */
