/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * nearcache counters and status line: the one table that feeds the kernel's
 * per-CPU counters, the dm status line, the helper's text and JSON and the
 * documents.  Append only: a position in the status line never changes its
 * meaning, unless status_version does.
 */
#ifndef NEARCACHE_COUNTERS_H
#define NEARCACHE_COUNTERS_H

#include "nearcache.h"

/**
 * NEARCACHE_STATUS_FIELDS - leading fields of the status line
 *
 * X(symbol, name, unit, help), in the line's order.  All are unsigned decimal
 * integers.  The counters of NEARCACHE_COUNTERS follow them.
 */
#define NEARCACHE_STATUS_FIELDS(X)					       \
	X(STATUS_VERSION, "status_version", "",				       \
	  "layout of this line, 5; fields are only ever appended")	       \
	X(MODE, "mode", "enum", "0 read-only, 1 writearound, 2 writethrough")  \
	X(STATE, "state", "enum",					       \
	  "0 normal, 1 bypass (cache device not used), 2 not loaded, "	       \
	  "3 degraded (cache device left alone until it answers)")	       \
	X(REASON, "reason", "enum",					       \
	  "why so: 0 -, 1 I/O errors, 2 metadata cannot be read, 3 slot table "   \
	  "or 4 superblock cannot be written, 5 no answer, 6 other data than "     \
	  "the origin, 7 write-intent bitmap cannot be written")		       \
	X(LOADED, "loaded", "enum",					       \
	  "0 not loaded, 1 new, 2 warm, 3 cold after an unclean stop, "	       \
	  "4 damaged pages dropped, 5 warm after an unclean stop")	       \
	X(BLOCK_SIZE, "block_size", "bytes", "cache block size")	       \
	X(SUBBLOCK_SIZE, "subblock_size", "bytes", "sub-block size")	       \
	X(BLOCKS, "blocks", "blocks", "cache blocks in all")		       \
	X(BLOCKS_USED, "blocks_used", "blocks", "blocks that hold an origin block") \
	X(BLOCKS_WARM, "blocks_warm", "blocks",				       \
	  "blocks taken over from the slot table at load")		       \
	X(BYTES_VALID, "bytes_valid", "bytes", "cached bytes, by valid sub-blocks") \
	X(FILLS_IN_FLIGHT, "fills_in_flight", "fills", "fills and checks under way")    \
	X(FILL_MEMORY, "fill_memory", "bytes", "memory held by fills and checks now") \
	X(FILL_MEMORY_PEAK, "fill_memory_peak", "bytes",		       \
	  "highest fill memory since load")				       \
	X(FILL_MEMORY_MAX, "fill_memory_max", "bytes", "cap of fill memory") \
	X(METADATA_MEMORY, "metadata_memory", "bytes",			       \
	  "RAM of the slot table, its index, the checksums and ranges")			       \
	X(READS_WAITING, "reads_waiting", "reads",			       \
	  "reads that wait for an origin that fails")			       \
	X(INTEGRITY, "integrity", "enum", "0 none, 1 crc32c")		       \
	X(VERIFY, "verify", "hits",					       \
	  "one of so many hits is compared with the origin; 0: none")	       \
	X(SCRUB_LEFT, "scrub_left", "blocks",				       \
	  "blocks that the scrub under way has still to look at")	       \
	X(WITNESS, "witness", "enum",					       \
	  "0 none, 1 a crash leaves what is cached, 2 it leaves nothing: the "    \
	  "cache device was not told of a write, or there is no record")	       \
	X(INTENT_REGIONS, "intent_regions", "regions",			       \
	  "regions of the origin marked as being written")			       \
	X(RANGES, "ranges", "ranges", "ranges that were added")		       \
	X(BLOCKS_RESERVED, "blocks_reserved", "blocks",			       \
	  "cache blocks that pinned ranges need")			       \
	X(BLOCKS_PINNED, "blocks_pinned", "blocks",			       \
	  "cache blocks that hold a pinned block of the origin")

/**
 * NEARCACHE_COUNTERS - monotonic counters since load, 64 bit, per CPU
 *
 * X(symbol, name, unit, help)
 *
 * A read is counted once per piece: a read that covers several runs (hit, then
 * miss) or blocks is split and each piece is counted by its own verdict.
 */
#define NEARCACHE_COUNTERS(X)						       \
	X(HITS, "hits", "reads", "reads served by the cache device")	       \
	X(HIT_BYTES, "hit_bytes", "bytes", "bytes served by the cache device") \
	X(PARTIALS, "partials", "reads",				       \
	  "reads split because only a part of the block was valid")	       \
	X(MISSES, "misses", "reads", "reads that started a fill")	       \
	X(MISS_BYTES, "miss_bytes", "bytes", "bytes of those reads")	       \
	X(JOINS, "joins", "reads", "reads that joined a fill under way")     \
	X(JOIN_BYTES, "join_bytes", "bytes", "bytes of those reads")	       \
	X(BYPASS_FULL, "bypass_full", "reads",				       \
	  "reads sent to the origin: no block free and nothing idle")	       \
	X(BYPASS_MEMORY, "bypass_memory", "reads",			       \
	  "reads sent to the origin: fill memory cap or no memory")	       \
	X(BYPASS_UNALIGNED, "bypass_unaligned", "reads",		       \
	  "reads sent to the origin: not aligned to the cache device's logical blocks") \
	X(BYPASS_STATE, "bypass_state", "reads",			       \
	  "reads sent to the origin: state is bypass or degraded")		       \
	X(BYPASS_RETRY, "bypass_retry", "reads",			       \
	  "reads sent to the origin after an error of the cache device or of a fill") \
	X(BYPASS_BYTES, "bypass_bytes", "bytes", "bytes of all bypassed reads") \
	X(FILLS, "fills", "fills", "fills completed and published")	       \
	X(FILL_ORIGIN_BYTES, "fill_origin_bytes", "bytes",		       \
	  "bytes that fills read from the origin")			       \
	X(FILL_CACHE_BYTES, "fill_cache_bytes", "bytes",		       \
	  "bytes that fills wrote to the cache device")			       \
	X(FILLS_FAILED_ORIGIN, "fills_failed_origin", "fills",		       \
	  "fills dropped: origin read failed")				       \
	X(FILLS_FAILED_CACHE, "fills_failed_cache", "fills",		       \
	  "fills dropped: cache write failed")				       \
	X(HIT_ERRORS, "hit_errors", "reads",				       \
	  "hits that the cache device failed, read again from the origin")   \
	X(EVICTIONS, "evictions", "blocks", "blocks taken from idle data")   \
	X(COMMITS, "commits", "commits", "slot table commits")		       \
	X(COMMIT_PAGES, "commit_pages", "pages", "slot table pages written") \
	X(PAGES_DAMAGED, "pages_damaged", "pages",			       \
	  "slot table pages dropped at load because a copy did not verify")  \
	X(SLOTS_DROPPED, "slots_dropped", "slots",			       \
	  "slots dropped at load: duplicate, out of range, or being written "	  \
	  "before the crash")						       \
	X(BYPASS_P2P, "bypass_p2p", "reads",				       \
	  "reads sent to the origin: into another device's memory")	       \
	X(BYPASS_WRITE, "bypass_write", "reads",			       \
	  "reads sent to the origin: their data was being written or invalidated") \
	X(WRITES, "writes", "writes", "writes that the origin completed")    \
	X(WRITE_BYTES, "write_bytes", "bytes", "bytes of those writes")      \
	X(WRITE_ERRORS, "write_errors", "writes",			       \
	  "writes, flushes, discards and write-zeroes that the origin failed") \
	X(UPDATES, "updates", "writes",					       \
	  "writethrough: writes whose data the cache device has, too")       \
	X(UPDATE_BYTES, "update_bytes", "bytes", "bytes of those updates")   \
	X(UPDATES_SKIPPED, "updates_skipped", "writes",			       \
	  "writethrough: writes whose data stayed out of the cache")	       \
	X(INVALIDATED_BYTES, "invalidated_bytes", "bytes",		       \
	  "cached bytes dropped: written, discarded or invalidated")	       \
	X(FILLS_STALE, "fills_stale", "fills",				       \
	  "fills and updates whose data was written meanwhile, in part or whole") \
	X(DISCARDS, "discards", "discards", "discards that the origin completed") \
	X(DISCARD_BYTES, "discard_bytes", "bytes", "bytes of those discards") \
	X(ZEROES, "zeroes", "writes", "write-zeroes that the origin completed") \
	X(ZERO_BYTES, "zero_bytes", "bytes", "bytes of those write-zeroes")  \
	X(FLUSHES, "flushes", "flushes", "flushes that the origin completed") \
	X(DAMAGED, "damaged", "sub-blocks",				       \
	  "sub-blocks dropped: a scrub could not read them, or a check found " \
	  "other data than was cached or the origin has")				       \
	X(VERIFIED, "verified", "reads",				       \
	  "pieces of cached data that were compared with the origin")	       \
	X(SCRUBBED_BYTES, "scrubbed_bytes", "bytes", "bytes that scrubs read") \
	X(SCRUBS, "scrubs", "scrubs", "scrubs that came to their end")	       \
	X(INTENT_MARKS, "intent_marks", "regions",			       \
	  "regions that the cache device was told of before they were written")  \
	X(INTENT_WAITS, "intent_waits", "writes",			       \
	  "writes that waited for that")				       \
	X(BYPASS_RANGE, "bypass_range", "reads",			       \
	  "reads sent to the origin: a range says so")			       \
	X(PREFETCHED_BYTES, "prefetched_bytes", "bytes",		       \
	  "bytes that prefetch brought into the cache")		       \
	X(PREFETCHED_USED_BYTES, "prefetched_used_bytes", "bytes",	       \
	  "of the blocks that prefetch brought, bytes when they were first read") \
	X(PREFETCHED_WASTED_BYTES, "prefetched_wasted_bytes", "bytes",       \
	  "of the blocks that prefetch brought, bytes that went unread")	       \
	X(PREFETCHED_LATE_BYTES, "prefetched_late_bytes", "bytes",	       \
	  "bytes of reads that waited for what prefetch was bringing")	       \
	X(BYPASS_ADVICE, "bypass_advice", "reads",			       \
	  "reads sent to the origin: a classifier says so")

/**
 * NEARCACHE_LABEL_COUNTERS - monotonic counters of each label of ranges, 64 bit, per CPU
 *
 * X(symbol, name, unit, help)
 */
#define NEARCACHE_LABEL_COUNTERS(X)					       \
	X(HITS, "hits", "reads", "reads served by the cache device")	       \
	X(HIT_BYTES, "hit_bytes", "bytes", "bytes of these")		       \
	X(MISSES, "misses", "reads",					       \
	  "reads that the origin served, and those that waited for a fill")      \
	X(MISS_BYTES, "miss_bytes", "bytes", "bytes of these")		       \
	X(ORIGIN_BYTES, "origin_bytes", "bytes", "bytes read from the origin") \
	X(PREFETCHED_USED_BYTES, "prefetched_used_bytes", "bytes",	       \
	  "of the blocks that prefetch brought, bytes when they were first read") \
	X(PREFETCHED_WASTED_BYTES, "prefetched_wasted_bytes", "bytes",       \
	  "of the blocks that prefetch brought, bytes that went unread")	       \
	X(PREFETCHED_LATE_BYTES, "prefetched_late_bytes", "bytes",	       \
	  "bytes of reads that waited for what prefetch was bringing")

#define NEARCACHE_STATUS_VERSION_NOW	5

#define NEARCACHE_X(symbol, name, unit, help) NEARCACHE_FIELD_##symbol,
enum nearcache_status_field {
	NEARCACHE_STATUS_FIELDS(NEARCACHE_X)
	NEARCACHE_STATUS_FIELD_COUNT
};

#undef NEARCACHE_X

#define NEARCACHE_X(symbol, name, unit, help) NEARCACHE_COUNTER_##symbol,
enum nearcache_counter {
	NEARCACHE_COUNTERS(NEARCACHE_X)
	NEARCACHE_COUNTER_COUNT
};

#undef NEARCACHE_X

#define NEARCACHE_X(symbol, name, unit, help) NEARCACHE_LABEL_##symbol,
enum nearcache_label_counter {
	NEARCACHE_LABEL_COUNTERS(NEARCACHE_X)
	NEARCACHE_LABEL_COUNTER_COUNT
};

#undef NEARCACHE_X

#endif /* NEARCACHE_COUNTERS_H */
