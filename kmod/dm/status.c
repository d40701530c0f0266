// SPDX-License-Identifier: GPL-2.0-only
/* The status line.  uapi/nearcache_counters.h defines the position of each field and counter. */
#include "cache.h"
#include "meta/meta.h"
#include "dm/status.h"

/* Return NEARCACHE_WITNESS_NONE, or whether a crash now would leave the cache warm or cold. */
static u64 witness_number(const struct nc_target *t)
{
	if (!t->witness)
		return NEARCACHE_WITNESS_NONE;
	return !nc_target_writes(t) ||
	       READ_ONCE(t->cache->intent.mode) == NC_INTENT_ON ?
		       NEARCACHE_WITNESS_WARM : NEARCACHE_WITNESS_COLD;
}

/* Return the value of a status field.  Must not do I/O, because a device may hang. */
u64 nc_status_field(struct nc_target *t, enum nearcache_status_field which)
{
	struct nc_cache *c = t->cache;

	switch (which) {
	case NEARCACHE_FIELD_STATUS_VERSION:
		return NEARCACHE_STATUS_VERSION_NOW;
	case NEARCACHE_FIELD_MODE:
		return t->mode;
	case NEARCACHE_FIELD_STATE:
		return READ_ONCE(c->hot.state);
	case NEARCACHE_FIELD_REASON:
		return READ_ONCE(c->health.reason);
	case NEARCACHE_FIELD_LOADED:
		return c->life.loaded;
	case NEARCACHE_FIELD_BLOCK_SIZE:
		return c->geo.block_size;
	case NEARCACHE_FIELD_SUBBLOCK_SIZE:
		return c->geo.subblock_size;
	case NEARCACHE_FIELD_BLOCKS:
		return c->geo.slot_count;
	case NEARCACHE_FIELD_BLOCKS_USED:
		return atomic64_read(&c->slots.used);
	case NEARCACHE_FIELD_BLOCKS_WARM:
		return c->life.warm;
	case NEARCACHE_FIELD_BYTES_VALID:
		return atomic64_read(&c->slots.valid_subblocks) *
		       c->geo.subblock_size;
	case NEARCACHE_FIELD_FILLS_IN_FLIGHT:
		return atomic_read(&c->fills.count);
	case NEARCACHE_FIELD_FILL_MEMORY:
		return atomic64_read(&c->fills.memory);
	case NEARCACHE_FIELD_FILL_MEMORY_PEAK:
		return atomic64_read(&c->fills.memory_peak);
	case NEARCACHE_FIELD_FILL_MEMORY_MAX:
		return READ_ONCE(c->fills.memory_max);
	case NEARCACHE_FIELD_METADATA_MEMORY:
		return nc_index_memory(c->index.count) + nc_meta_memory(c->meta) +
		       nc_sums_memory(&c->sums) + nc_ranges_memory(c);
	case NEARCACHE_FIELD_READS_WAITING:
		return atomic_read(&c->origin_retry.count);
	case NEARCACHE_FIELD_INTEGRITY:
		return nc_sums_present(&c->sums) ? NEARCACHE_INTEGRITY_CRC32C :
						   NEARCACHE_INTEGRITY_NONE;
	case NEARCACHE_FIELD_VERIFY:
		return t->verify;
	case NEARCACHE_FIELD_SCRUB_LEFT:
		return nc_scrub_left(c);
	case NEARCACHE_FIELD_WITNESS:
		return witness_number(t);
	case NEARCACHE_FIELD_INTENT_REGIONS:
		return nc_intent_count(&c->intent);
	case NEARCACHE_FIELD_RANGES:
		return READ_ONCE(c->ranges.count);
	case NEARCACHE_FIELD_BLOCKS_RESERVED:
		return READ_ONCE(c->ranges.reserved);
	case NEARCACHE_FIELD_BLOCKS_PINNED:
		return atomic64_read(&c->ranges.pinned);
	case NEARCACHE_STATUS_FIELD_COUNT:
		break;
	}
	return 0;
}

/* Print the status line to @result, cut at @room bytes.  Returns its length.  Does no I/O. */
size_t nc_status_print(struct nc_target *t, char *result, size_t room)
{
	size_t n = 0;
	int i;

	for (i = 0; i < NEARCACHE_STATUS_FIELD_COUNT; i++)
		n += scnprintf(result + n, room - n, "%s%llu", i ? " " : "",
			       nc_status_field(t, i));
	for (i = 0; i < NEARCACHE_COUNTER_COUNT; i++)
		n += scnprintf(result + n, room - n, " %llu",
			       nc_counters_sum(t->cache->hot.counters, i));
	return n;
}
