/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events, a stable interface: fields are documented in
 * kmod/doc/interface.md and only ever appended.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nearcache

#if !defined(NEARCACHE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NEARCACHE_TRACE_H

#include <linux/bio.h>
#include <linux/kdev_t.h>
#include <linux/tracepoint.h>

#include "compat.h"
#include "verdict.h"

TRACE_DEFINE_ENUM(NC_VERDICT_HIT);
TRACE_DEFINE_ENUM(NC_VERDICT_MISS);
TRACE_DEFINE_ENUM(NC_VERDICT_JOIN);
TRACE_DEFINE_ENUM(NC_VERDICT_BYPASS_FULL);
TRACE_DEFINE_ENUM(NC_VERDICT_BYPASS_MEMORY);
TRACE_DEFINE_ENUM(NC_VERDICT_BYPASS_UNALIGNED);
TRACE_DEFINE_ENUM(NC_VERDICT_BYPASS_STATE);
TRACE_DEFINE_ENUM(NC_VERDICT_BYPASS_RETRY);
TRACE_DEFINE_ENUM(NC_VERDICT_BYPASS_P2P);
TRACE_DEFINE_ENUM(NC_VERDICT_BYPASS_WRITE);
TRACE_DEFINE_ENUM(NC_VERDICT_WRITEAROUND);
TRACE_DEFINE_ENUM(NC_VERDICT_UPDATE);
TRACE_DEFINE_ENUM(NC_VERDICT_DISCARD);
TRACE_DEFINE_ENUM(NC_VERDICT_ZEROES);
TRACE_DEFINE_ENUM(NC_VERDICT_BYPASS_RANGE);

TRACE_EVENT(nearcache_access,
	TP_PROTO(dev_t dev, const struct bio *bio, u32 verdict),
	TP_ARGS(dev, bio, verdict),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, sector)
		__field(u32, nr_sectors)
		__field(u32, opf)
		__field(u32, verdict)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->sector = bio->bi_iter.bi_sector;
		__entry->nr_sectors = bio_sectors(bio);
		__entry->opf = (__force u32)bio->bi_opf;
		__entry->verdict = verdict;
	),
	TP_printk("%d,%d %llu + %u opf=0x%x %s", MAJOR(__entry->dev),
		  MINOR(__entry->dev), __entry->sector, __entry->nr_sectors,
		  __entry->opf,
		  __print_symbolic(__entry->verdict,
				   { NC_VERDICT_HIT, "hit" },
				   { NC_VERDICT_MISS, "miss" },
				   { NC_VERDICT_JOIN, "join" },
				   { NC_VERDICT_BYPASS_FULL, "bypass-full" },
				   { NC_VERDICT_BYPASS_MEMORY, "bypass-memory" },
				   { NC_VERDICT_BYPASS_UNALIGNED, "bypass-unaligned" },
				   { NC_VERDICT_BYPASS_STATE, "bypass-state" },
				   { NC_VERDICT_BYPASS_RETRY, "bypass-retry" },
				   { NC_VERDICT_BYPASS_P2P, "bypass-p2p" },
				   { NC_VERDICT_BYPASS_WRITE, "bypass-write" },
				   { NC_VERDICT_WRITEAROUND, "writearound" },
				   { NC_VERDICT_UPDATE, "update" },
				   { NC_VERDICT_DISCARD, "discard" },
				   { NC_VERDICT_ZEROES, "write-zeroes" },
				   { NC_VERDICT_BYPASS_RANGE, "bypass-range" }))
);

TRACE_EVENT(nearcache_fill_start,
	TP_PROTO(dev_t dev, u64 sector, u32 nr_sectors, u32 slot),
	TP_ARGS(dev, sector, nr_sectors, slot),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, sector)
		__field(u32, nr_sectors)
		__field(u32, slot)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->sector = sector;
		__entry->nr_sectors = nr_sectors;
		__entry->slot = slot;
	),
	TP_printk("%d,%d %llu + %u slot=%u", MAJOR(__entry->dev),
		  MINOR(__entry->dev), __entry->sector, __entry->nr_sectors,
		  __entry->slot)
);

TRACE_EVENT(nearcache_fill_done,
	TP_PROTO(dev_t dev, u64 sector, u32 nr_sectors, u32 slot,
		 bool published, int error),
	TP_ARGS(dev, sector, nr_sectors, slot, published, error),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, sector)
		__field(u32, nr_sectors)
		__field(u32, slot)
		__field(u32, published)
		__field(s32, error)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->sector = sector;
		__entry->nr_sectors = nr_sectors;
		__entry->slot = slot;
		__entry->published = published;
		__entry->error = error;
	),
	TP_printk("%d,%d %llu + %u slot=%u published=%u error=%d",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->sector,
		  __entry->nr_sectors, __entry->slot, __entry->published,
		  __entry->error)
);

TRACE_EVENT(nearcache_evict,
	TP_PROTO(dev_t dev, u64 sector, u32 slot, u64 valid),
	TP_ARGS(dev, sector, slot, valid),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, sector)
		__field(u32, slot)
		__field(u64, valid)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->sector = sector;
		__entry->slot = slot;
		__entry->valid = valid;
	),
	TP_printk("%d,%d %llu slot=%u valid=0x%llx", MAJOR(__entry->dev),
		  MINOR(__entry->dev), __entry->sector, __entry->slot,
		  __entry->valid)
);

TRACE_EVENT(nearcache_damage,
	TP_PROTO(dev_t dev, u64 sector, u32 slot, u64 subblocks, bool origin),
	TP_ARGS(dev, sector, slot, subblocks, origin),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, sector)
		__field(u32, slot)
		__field(u64, subblocks)
		__field(u32, origin)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->sector = sector;
		__entry->slot = slot;
		__entry->subblocks = subblocks;
		__entry->origin = origin;
	),
	TP_printk("%d,%d %llu slot=%u subblocks=0x%llx origin=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->sector,
		  __entry->slot, __entry->subblocks, __entry->origin)
);

TRACE_EVENT(nearcache_mode,
	TP_PROTO(dev_t dev, u32 from, u32 to, const char *reason),
	TP_ARGS(dev, from, to, reason),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u32, from)
		__field(u32, to)
		__string(reason, reason)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->from = from;
		__entry->to = to;
		nc_assign_reason();
	),
	TP_printk("%d,%d state %u -> %u: %s", MAJOR(__entry->dev),
		  MINOR(__entry->dev), __entry->from, __entry->to,
		  __get_str(reason))
);

#endif /* NEARCACHE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
