// SPDX-License-Identifier: GPL-2.0-only
/* The status line: uapi/nearcache_counters.h defines the positions. */
#include "cache.h"
#include "meta/meta.h"
#include "dm/status.h"

/* Sum of a counter over all CPUs. */
u64 nc_stats_sum(struct nc_cache *c, enum nearcache_counter counter)
{
	u64 total = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		total += READ_ONCE(per_cpu_ptr(c->stats, cpu)->count[counter]);
	return total;
}

/* Would the cache be warm after a crash? */
static u64 witness(const struct nc_target *t)
{
	if (!t->witness)
		return NEARCACHE_WITNESS_NONE;
	return !nc_target_writes(t) ||
	       READ_ONCE(t->cache->intent.mode) == NC_INTENT_ON ?
		       NEARCACHE_WITNESS_WARM : NEARCACHE_WITNESS_COLD;
}

/* Value of a status field.  Must not do I/O. */
u64 nc_stats_field(struct nc_target *t, enum nearcache_status_field which)
{
	struct nc_cache *c = t->cache;

	switch (which) {
	case NEARCACHE_FIELD_STATUS_VERSION:
		return NEARCACHE_STATUS_VERSION_NOW;
	case NEARCACHE_FIELD_MODE:
		return t->mode;
	case NEARCACHE_FIELD_STATE:
		return READ_ONCE(c->state);
	case NEARCACHE_FIELD_REASON:
		return READ_ONCE(c->health.reason);
	case NEARCACHE_FIELD_LOADED:
		return c->loaded;
	case NEARCACHE_FIELD_BLOCK_SIZE:
		return c->geo.block_size;
	case NEARCACHE_FIELD_SUBBLOCK_SIZE:
		return c->geo.subblock_size;
	case NEARCACHE_FIELD_BLOCKS:
		return c->geo.slot_count;
	case NEARCACHE_FIELD_BLOCKS_USED:
		return atomic64_read(&c->used);
	case NEARCACHE_FIELD_BLOCKS_WARM:
		return c->warm;
	case NEARCACHE_FIELD_BYTES_VALID:
		return atomic64_read(&c->valid_subblocks) *
		       c->geo.subblock_size;
	case NEARCACHE_FIELD_FILLS_IN_FLIGHT:
		return atomic_read(&c->fills);
	case NEARCACHE_FIELD_FILL_MEMORY:
		return atomic64_read(&c->fill_memory);
	case NEARCACHE_FIELD_FILL_MEMORY_PEAK:
		return atomic64_read(&c->fill_memory_peak);
	case NEARCACHE_FIELD_FILL_MEMORY_MAX:
		return READ_ONCE(c->fill_memory_max);
	case NEARCACHE_FIELD_METADATA_MEMORY:
		return nc_index_memory(c->index.count) + nc_meta_memory(c->meta) +
		       nc_sums_memory(&c->sums) + nc_ranges_memory(c);
	case NEARCACHE_FIELD_READS_WAITING:
		return atomic_read(&c->outage.count);
	case NEARCACHE_FIELD_INTEGRITY:
		return nc_sums_present(&c->sums) ? NEARCACHE_INTEGRITY_CRC32C :
						   NEARCACHE_INTEGRITY_NONE;
	case NEARCACHE_FIELD_VERIFY:
		return t->verify;
	case NEARCACHE_FIELD_SCRUB_LEFT:
		return nc_scrub_left(c);
	case NEARCACHE_FIELD_WITNESS:
		return witness(t);
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

/* Print the status line to @result.  Must not do I/O.  Returns the number of bytes printed. */
size_t nc_stats_print(struct nc_target *t, char *result, size_t room)
{
	size_t n = 0;
	int i;

	for (i = 0; i < NEARCACHE_STATUS_FIELD_COUNT; i++)
		n += scnprintf(result + n, room - n, "%s%llu", i ? " " : "",
			       nc_stats_field(t, i));
	for (i = 0; i < NEARCACHE_COUNTER_COUNT; i++)
		n += scnprintf(result + n, room - n, " %llu",
			       nc_stats_sum(t->cache, i));
	return n;
}
