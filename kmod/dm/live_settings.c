// SPDX-License-Identifier: GPL-2.0-only
/*
 * Settings of a table that can change while it is live.  A change updates the table as well, so
 * that the table still reloads to itself.
 */
#include "cache.h"
#include "dm/live_settings.h"

/**
 * nc_tune_fill_memory() - set the memory cap of fills and checks
 * @t: live table
 * @bytes: NEARCACHE_FILL_MEMORY_MIN to NEARCACHE_FILL_MEMORY_MAX; memory in use above it is
 *	freed as fills and checks end
 *
 * Context: nc_life.lock, as for the functions below.
 */
void nc_tune_fill_memory(struct nc_target *t, u64 bytes)
{
	WRITE_ONCE(t->fill_memory_max, bytes);
	WRITE_ONCE(t->fill_memory_given, true);
	nc_cache_apply_settings(t);
}

/* @hits: compare one of this many hits with the origin; 0: none. */
void nc_tune_verify(struct nc_target *t, u32 hits)
{
	WRITE_ONCE(t->verify, hits);
	WRITE_ONCE(t->verify_given, true);
	nc_cache_apply_settings(t);
}

/* @milliseconds: 0, or NEARCACHE_CACHE_TIMEOUT_MIN to NEARCACHE_CACHE_TIMEOUT_MAX. */
void nc_tune_cache_timeout(struct nc_target *t, u32 milliseconds)
{
	WRITE_ONCE(t->cache_timeout, milliseconds);
	WRITE_ONCE(t->cache_timeout_given, true);
	nc_cache_apply_settings(t);
	nc_intent_retime(t->cache);
}

/* @seconds: up to NEARCACHE_ORIGIN_TIMEOUT_MAX. */
void nc_tune_origin_timeout(struct nc_target *t, u32 seconds)
{
	WRITE_ONCE(t->origin_timeout, seconds);
	WRITE_ONCE(t->origin_timeout_given, true);
	nc_cache_apply_settings(t);
}
