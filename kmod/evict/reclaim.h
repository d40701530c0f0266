/* SPDX-License-Identifier: GPL-2.0-only */
/* Reclaim: keeps slots free by evicting the blocks that the policy finds idle. */
#ifndef NEARCACHE_EVICT_RECLAIM_H
#define NEARCACHE_EVICT_RECLAIM_H

#include <linux/workqueue.h>

struct nc_cache;
struct nc_slot;

u32 nc_reclaim_take(struct nc_cache *c, u64 block, bool ahead);
bool nc_reclaim_room(struct nc_cache *c, u64 block, bool ahead);
u64 nc_reclaim_pinnable(const struct nc_cache *c);
bool nc_reclaim_may_empty(const struct nc_slot *slot);
void nc_reclaim_again(struct nc_cache *c);
bool nc_reclaim_spare(const struct nc_cache *c);
void nc_reclaim_check(struct nc_cache *c);
void nc_reclaim_emptied(struct nc_cache *c);
void nc_reclaim_work(struct work_struct *work);

#endif /* NEARCACHE_EVICT_RECLAIM_H */
