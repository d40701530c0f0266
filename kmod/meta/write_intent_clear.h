/* SPDX-License-Identifier: GPL-2.0-only */
/* Sweep: clears the write-intent marks of idle regions. */
#ifndef NEARCACHE_META_WRITE_INTENT_CLEAR_H
#define NEARCACHE_META_WRITE_INTENT_CLEAR_H

struct work_struct;

void nc_intent_clear_work(struct work_struct *work);

#endif /* NEARCACHE_META_WRITE_INTENT_CLEAR_H */
