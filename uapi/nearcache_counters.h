/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * nearcache counters and status line: the one list from which the kernel's
 * per-CPU counters, the dm status line, the helper's text and JSON and the
 * documents are made.  Append only: a position in the status line never changes
 * its meaning unless status_version changes.
 */
#ifndef NEARCACHE_COUNTERS_H
#define NEARCACHE_COUNTERS_H

#include "nearcache.h"

/**
 * NEARCACHE_STATUS_FIELDS - leading fields of the status line
 * @X: macro, used as X(symbol, name, unit, help) for each field in the order of the line
 *
 * All values are unsigned decimal integers.  The line continues with NEARCACHE_COUNTERS.
 */
#define NEARCACHE_STATUS_FIELDS(X)							\
	X(STATUS_VERSION, "status_version", "",						\
	  "layout of this line, 5; fields are only ever appended")			\
	X(MODE, "mode", "enum", "0 read-only, 1 writearound, 2 writethrough")		\
	X(STATE, "state", "enum",							\
	  "0 normal, 1 bypass (cache device not used), 2 not loaded, 3 degraded"	\
	  " (cache device not used until it answers)")					\
	X(REASON, "reason", "enum",							\
	  "reason of the state: 0 none, 1 I/O errors, 2 metadata unreadable, 3 "	\
	  "slot table or 4 superblock unwritable, 5 no answer, 6 data differs "		\
	  "from the origin, 7 write-intent bitmap unwritable")				\
	X(LOADED, "loaded", "enum",							\
	  "0 not loaded, 1 new, 2 warm, 3 cold after an unclean stop, 4 warm "		\
	  "without damaged pages, 5 warm after an unclean stop")			\
	X(BLOCK_SIZE, "block_size", "bytes", "cache block size")			\
	X(SUBBLOCK_SIZE, "subblock_size", "bytes", "sub-block size")			\
	X(BLOCKS, "blocks", "blocks", "total number of cache blocks")			\
	X(BLOCKS_USED, "blocks_used", "blocks", "blocks that hold an origin block")	\
	X(BLOCKS_WARM, "blocks_warm", "blocks", "blocks loaded from the slot table")	\
	X(BYTES_VALID, "bytes_valid", "bytes", "bytes of valid sub-blocks")		\
	X(FILLS_IN_FLIGHT, "fills_in_flight", "fills", "fills and checks in flight")	\
	X(FILL_MEMORY, "fill_memory", "bytes", "memory held by fills and checks")	\
	X(FILL_MEMORY_PEAK, "fill_memory_peak", "bytes",				\
	  "highest fill memory since load")						\
	X(FILL_MEMORY_MAX, "fill_memory_max", "bytes", "limit of fill memory")		\
	X(METADATA_MEMORY, "metadata_memory", "bytes",					\
	  "memory of the slot table, index, checksums and ranges")			\
	X(READS_WAITING, "reads_waiting", "reads",					\
	  "reads that wait for a failing origin")					\
	X(INTEGRITY, "integrity", "enum", "0 none, 1 crc32c")				\
	X(VERIFY, "verify", "hits",							\
	  "one in this many hits is compared with the origin; 0: none")			\
	X(SCRUB_LEFT, "scrub_left", "blocks",						\
	  "blocks that the running scrub has not checked yet")				\
	X(WITNESS, "witness", "enum",							\
	  "0 none, 1 a crash leaves the cache warm, 2 a crash leaves it cold: "		\
	  "the cache device missed a write, or the witness has no record")		\
	X(INTENT_REGIONS, "intent_regions", "regions",					\
	  "origin regions marked in the write-intent bitmap")				\
	X(RANGES, "ranges", "ranges", "ranges of the device")				\
	X(BLOCKS_RESERVED, "blocks_reserved", "blocks",					\
	  "cache blocks reserved for pinned ranges")					\
	X(BLOCKS_PINNED, "blocks_pinned", "blocks",					\
	  "cache blocks that hold a pinned origin block")

/**
 * NEARCACHE_COUNTERS - monotonic counters since load, 64 bit, per CPU
 * @X: macro, used as X(symbol, name, unit, help) for each counter
 *
 * A read that covers several blocks, or cached and uncached data, is split into
 * pieces.  Each piece counts as one read, by its own verdict.
 */
#define NEARCACHE_COUNTERS(X)								\
	X(HITS, "hits", "reads", "reads served by the cache device")			\
	X(HIT_BYTES, "hit_bytes", "bytes", "bytes served by the cache device")		\
	X(PARTIALS, "partials", "reads",						\
	  "reads split because only part of the block was valid")			\
	X(MISSES, "misses", "reads", "reads that started a fill")			\
	X(MISS_BYTES, "miss_bytes", "bytes", "bytes of those reads")			\
	X(JOINS, "joins", "reads", "reads that joined a fill in flight")		\
	X(JOIN_BYTES, "join_bytes", "bytes", "bytes of those reads")			\
	X(BYPASS_FULL, "bypass_full", "reads",						\
	  "reads sent to the origin: no free slot and no idle block to evict")		\
	X(BYPASS_MEMORY, "bypass_memory", "reads",					\
	  "reads sent to the origin: fill memory limit reached, or no memory")		\
	X(BYPASS_UNALIGNED, "bypass_unaligned", "reads",				\
	  "reads sent to the origin: not aligned to the cache device's logical "	\
	  "blocks")									\
	X(BYPASS_STATE, "bypass_state", "reads",					\
	  "reads sent to the origin: state is bypass or degraded, or the system "	\
	  "sleeps")									\
	X(BYPASS_RETRY, "bypass_retry", "reads",					\
	  "reads sent to the origin after an error of the cache device or of a "	\
	  "fill")									\
	X(BYPASS_BYTES, "bypass_bytes", "bytes", "bytes of all bypassed reads")		\
	X(FILLS, "fills", "fills", "fills completed and published")			\
	X(FILL_ORIGIN_BYTES, "fill_origin_bytes", "bytes",				\
	  "bytes that fills read from the origin")					\
	X(FILL_CACHE_BYTES, "fill_cache_bytes", "bytes",				\
	  "bytes that fills wrote to the cache device")					\
	X(FILLS_FAILED_ORIGIN, "fills_failed_origin", "fills",				\
	  "fills dropped: origin read failed")						\
	X(FILLS_FAILED_CACHE, "fills_failed_cache", "fills",				\
	  "fills dropped: cache write failed")						\
	X(HIT_ERRORS, "hit_errors", "reads",						\
	  "hits that failed on the cache device and were read from the origin")		\
	X(EVICTIONS, "evictions", "blocks", "blocks evicted")				\
	X(COMMITS, "commits", "commits", "slot table commits")				\
	X(COMMIT_PAGES, "commit_pages", "pages", "slot table pages written")		\
	X(PAGES_DAMAGED, "pages_damaged", "pages",					\
	  "slot table pages dropped at load because a copy did not verify")		\
	X(SLOTS_DROPPED, "slots_dropped", "slots",					\
	  "slots dropped at load: duplicate, out of range, or in a region "		\
	  "written before the crash")							\
	X(BYPASS_P2P, "bypass_p2p", "reads",						\
	  "reads sent to the origin: the target is another device's memory")		\
	X(BYPASS_WRITE, "bypass_write", "reads",					\
	  "reads sent to the origin: their data was being written or "			\
	  "invalidated")								\
	X(WRITES, "writes", "writes", "writes that the origin completed")		\
	X(WRITE_BYTES, "write_bytes", "bytes", "bytes of those writes")			\
	X(WRITE_ERRORS, "write_errors", "writes",					\
	  "writes, flushes, discards and write-zeroes that the origin failed")		\
	X(UPDATES, "updates", "writes",							\
	  "writethrough: writes also stored on the cache device")			\
	X(UPDATE_BYTES, "update_bytes", "bytes", "bytes of those updates")		\
	X(UPDATES_SKIPPED, "updates_skipped", "writes",					\
	  "writethrough: writes not stored on the cache device")			\
	X(INVALIDATED_BYTES, "invalidated_bytes", "bytes",				\
	  "cached bytes dropped by writes, discards or invalidations")			\
	X(FILLS_STALE, "fills_stale", "fills",						\
	  "fills and updates dropped in part or whole: their data was "			\
	  "overwritten meanwhile")							\
	X(DISCARDS, "discards", "discards", "discards that the origin completed")	\
	X(DISCARD_BYTES, "discard_bytes", "bytes", "bytes of those discards")		\
	X(ZEROES, "zeroes", "writes", "write-zeroes that the origin completed")		\
	X(ZERO_BYTES, "zero_bytes", "bytes", "bytes of those write-zeroes")		\
	X(FLUSHES, "flushes", "flushes", "flushes that the origin completed")		\
	X(DAMAGED, "damaged", "sub-blocks",						\
	  "sub-blocks dropped: unreadable in a scrub, or different from their "		\
	  "checksum or the origin")							\
	X(VERIFIED, "verified", "reads",						\
	  "pieces of cached data compared with the origin")				\
	X(SCRUBBED_BYTES, "scrubbed_bytes", "bytes", "bytes read by scrubs")		\
	X(SCRUBS, "scrubs", "scrubs", "scrubs completed")				\
	X(INTENT_MARKS, "intent_marks", "regions",					\
	  "regions marked in the write-intent bitmap")					\
	X(INTENT_WAITS, "intent_waits", "writes",					\
	  "writes that waited until their mark was durable")				\
	X(BYPASS_RANGE, "bypass_range", "reads",					\
	  "reads sent to the origin: in a bypass range")				\
	X(PREFETCHED_BYTES, "prefetched_bytes", "bytes", "bytes that prefetch cached")	\
	X(PREFETCHED_USED_BYTES, "prefetched_used_bytes", "bytes",			\
	  "bytes of prefetched blocks, counted at their first read")			\
	X(PREFETCHED_WASTED_BYTES, "prefetched_wasted_bytes", "bytes",			\
	  "bytes of prefetched blocks that left the cache unread")			\
	X(PREFETCHED_LATE_BYTES, "prefetched_late_bytes", "bytes",			\
	  "bytes of reads that waited for a prefetch in flight")			\
	X(BYPASS_ADVICE, "bypass_advice", "reads",					\
	  "reads sent to the origin: a classifier refused to cache them")		\
	X(BYPASS_PEER, "bypass_peer", "reads",						\
	  "reads sent to the origin: a job was bringing the data from a peer")		\
	X(FILL_PEER_BYTES, "fill_peer_bytes", "bytes", "bytes that jobs read at peers")	\
	X(FILLS_FAILED_PEER, "fills_failed_peer", "fills",				\
	  "fills dropped: read at a peer failed")

/**
 * NEARCACHE_LABEL_COUNTERS - monotonic counters of a label, 64 bit, per CPU
 * @X: macro, used as X(symbol, name, unit, help) for each counter
 */
#define NEARCACHE_LABEL_COUNTERS(X)							\
	X(HITS, "hits", "reads", "reads served by the cache device")			\
	X(HIT_BYTES, "hit_bytes", "bytes", "bytes of these reads")			\
	X(MISSES, "misses", "reads",							\
	  "reads served by the origin or by a fill that they waited for")		\
	X(MISS_BYTES, "miss_bytes", "bytes", "bytes of these reads")			\
	X(ORIGIN_BYTES, "origin_bytes", "bytes", "bytes read from the origin")		\
	X(PREFETCHED_USED_BYTES, "prefetched_used_bytes", "bytes",			\
	  "bytes of prefetched blocks, counted at their first read")			\
	X(PREFETCHED_WASTED_BYTES, "prefetched_wasted_bytes", "bytes",			\
	  "bytes of prefetched blocks that left the cache unread")			\
	X(PREFETCHED_LATE_BYTES, "prefetched_late_bytes", "bytes",			\
	  "bytes of reads that waited for a prefetch in flight")

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
