/* SPDX-License-Identifier: GPL-2.0-only */
/* Sweep: clears the write-intent marks of idle regions. */
#ifndef NEARCACHE_META_INTENT_CLEAR_H
#define NEARCACHE_META_INTENT_CLEAR_H

struct nc_cache;
struct work_struct;

void nc_sweep_arm(struct nc_cache *c);
void nc_sweep_stop(struct nc_cache *c);
void nc_sweep_work(struct work_struct *work);

#endif /* NEARCACHE_META_INTENT_CLEAR_H */
