// SPDX-License-Identifier: GPL-2.0-only
/*
 * Settings of a table that can change while the table is live.  A change also updates the words of
 * the table line, so that a reload of the printed table line keeps the setting.
 */
#include "cache.h"
#include "dm/live_settings.h"

/**
 * nc_tune_fill_memory() - set the memory cap of fills and checks
 * @t: live table
 * @bytes: NEARCACHE_FILL_MEMORY_MIN to NEARCACHE_FILL_MEMORY_MAX; if more is in use, no fill or
 *	check starts until enough of them have ended
 *
 * Context: nc_life.lock, as for the functions below.
 */
void nc_tune_fill_memory(struct nc_target *t, u64 bytes)
{
	WRITE_ONCE(t->fill_memory_max, bytes);
	WRITE_ONCE(t->fill_memory_given, true);
	nc_cache_apply_settings(t);
}

/* Set how many hits are compared with the origin: one in @hits; 0: none. */
void nc_tune_verify(struct nc_target *t, u32 hits)
{
	WRITE_ONCE(t->verify, hits);
	WRITE_ONCE(t->verify_given, true);
	nc_cache_apply_settings(t);
}

/* Set after how many milliseconds a hung cache device is degraded; 0: never.  The caller has
 * checked NEARCACHE_CACHE_TIMEOUT_MIN and NEARCACHE_CACHE_TIMEOUT_MAX.
 */
void nc_tune_cache_timeout(struct nc_target *t, u32 milliseconds)
{
	WRITE_ONCE(t->cache_timeout, milliseconds);
	WRITE_ONCE(t->cache_timeout_given, true);
	nc_cache_apply_settings(t);
	nc_intent_retime(t->cache);
}

/* Set how many seconds reads wait for a failed origin: 0 to NEARCACHE_ORIGIN_TIMEOUT_MAX. */
void nc_tune_origin_timeout(struct nc_target *t, u32 seconds)
{
	WRITE_ONCE(t->origin_timeout, seconds);
	WRITE_ONCE(t->origin_timeout_given, true);
	nc_cache_apply_settings(t);
}
