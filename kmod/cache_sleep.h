/* SPDX-License-Identifier: GPL-2.0-only */
/* One cache in a system sleep. */
#ifndef NEARCACHE_CACHE_SLEEP_H
#define NEARCACHE_CACHE_SLEEP_H

#include <linux/types.h>

struct nc_cache;
struct work_struct;

bool nc_cache_compare(struct nc_cache *c);
void nc_cache_hold(struct nc_cache *c, bool settle);
int nc_cache_held(struct nc_cache *c, unsigned long end);
void nc_cache_unhold(struct nc_cache *c);
void nc_cache_hold_work(struct work_struct *work);
void nc_cache_wake_work(struct work_struct *work);

#endif /* NEARCACHE_CACHE_SLEEP_H */
