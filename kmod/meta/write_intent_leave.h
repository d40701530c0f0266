/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Record on the witness that the cache device left, and so lacks marks of later writes.
 *
 * nc_intent.lock protects the mode, the waiting writes and nc_intent.doubt.  nc_intent_maps.left
 * belongs to leave_work.  nc_intent.bdev changes only under nc_life.lock.  leave_work changes
 * nc_intent.session; while the mode is OFF, the holder of nc_life.lock does.
 */
#ifndef NEARCACHE_META_WRITE_INTENT_LEAVE_H
#define NEARCACHE_META_WRITE_INTENT_LEAVE_H

struct nc_cache;
struct work_struct;

void nc_intent_leave_work(struct work_struct *work);
void nc_intent_ask_again(struct nc_cache *c);
void nc_intent_doubt(struct nc_cache *c);

#endif /* NEARCACHE_META_WRITE_INTENT_LEAVE_H */
