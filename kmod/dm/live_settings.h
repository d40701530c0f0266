/* SPDX-License-Identifier: GPL-2.0-only */
/* Settings of a table that can change while the table is live. */
#ifndef NEARCACHE_DM_LIVE_SETTINGS_H
#define NEARCACHE_DM_LIVE_SETTINGS_H

#include <linux/types.h>

struct nc_target;

void nc_tune_fill_memory(struct nc_target *t, u64 bytes);
void nc_tune_verify(struct nc_target *t, u32 hits);
void nc_tune_cache_timeout(struct nc_target *t, u32 milliseconds);
void nc_tune_origin_timeout(struct nc_target *t, u32 seconds);

#endif /* NEARCACHE_DM_LIVE_SETTINGS_H */
