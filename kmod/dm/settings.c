// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a table says and may be changed while it is live.  The table says so from then on, so
 * that it still reloads to itself.
 */
#include "cache.h"
#include "dm/settings.h"

/**
 * nc_tune_apply() - from now on the cache does as a table says
 * @t: live table
 *
 * Also while I/O runs: who looks sees the old value or the new one.
 *
 * Context: nc_cache.life.
 */
void nc_tune_apply(const struct nc_target *t)
{
	struct nc_cache *c = t->cache;

	lockdep_assert_held(&c->life);
	WRITE_ONCE(c->fill_memory_max, t->fill_memory_max);
	WRITE_ONCE(c->cache_timeout, t->cache_timeout);
	WRITE_ONCE(c->verify, t->verify);
	nc_foresight_checks(c, t->verify || nc_sums_present(&c->sums));
}

/**
 * nc_tune_fill_memory() - cap of the memory of fills and checks
 * @t: live table
 * @bytes: NEARCACHE_FILL_MEMORY_MIN to NEARCACHE_FILL_MEMORY_MAX; what they hold above it is
 *	given back as they end
 *
 * Context: nc_cache.life, as of those below.
 */
void nc_tune_fill_memory(struct nc_target *t, u64 bytes)
{
	WRITE_ONCE(t->fill_memory_max, bytes);
	WRITE_ONCE(t->fill_memory_given, true);
	nc_tune_apply(t);
}

/* @hits: one of so many is compared with the origin; 0: none. */
void nc_tune_verify(struct nc_target *t, u32 hits)
{
	WRITE_ONCE(t->verify, hits);
	WRITE_ONCE(t->verify_given, true);
	nc_tune_apply(t);
}

/* @milliseconds: 0, or NEARCACHE_CACHE_TIMEOUT_MIN to NEARCACHE_CACHE_TIMEOUT_MAX. */
void nc_tune_cache_timeout(struct nc_target *t, u32 milliseconds)
{
	WRITE_ONCE(t->cache_timeout, milliseconds);
	WRITE_ONCE(t->cache_timeout_given, true);
	nc_tune_apply(t);
	nc_intent_retime(t->cache);
}

/* @seconds: up to NEARCACHE_ORIGIN_TIMEOUT_MAX. */
void nc_tune_origin_timeout(struct nc_target *t, u32 seconds)
{
	WRITE_ONCE(t->origin_timeout, seconds);
	WRITE_ONCE(t->origin_timeout_given, true);
	nc_tune_apply(t);
}
