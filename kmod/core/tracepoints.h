/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events.  They are a stable interface, documented in kmod/doc/interface.md: append new
 * fields at the end.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nearcache

#if !defined(NEARCACHE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NEARCACHE_TRACE_H

#include <linux/types.h>
#include <linux/kdev_t.h>
#include <linux/tracepoint.h>

#include "core/compat.h"
#include "nearcache_classify.h"

TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_HIT);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_MISS);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_JOIN);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_BYPASS_FULL);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_BYPASS_MEMORY);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_BYPASS_UNALIGNED);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_BYPASS_STATE);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_BYPASS_RETRY);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_BYPASS_P2P);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_BYPASS_WRITE);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_WRITEAROUND);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_UPDATE);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_DISCARD);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_ZEROES);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_BYPASS_RANGE);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_PARTIAL);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_BYPASS_ADVICE);
TRACE_DEFINE_ENUM(NEARCACHE_VERDICT_BYPASS_PEER);

DECLARE_EVENT_CLASS(nearcache_io,
	TP_PROTO(struct nearcache_io *io),
	TP_ARGS(io),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, sector)
		__field(u32, nr_sectors)
		__field(u32, opf)
		__field(u32, verdict)
		__field(u16, op)
		__field(u16, flags)
		__field(u32, label)
		__field(u64, cgroup)
		__field(u32, pid)
		__field(u32, tid)
		__field(u64, latency)
		__field(s32, error)
	),
	TP_fast_assign(
		__entry->dev = io->dev;
		__entry->sector = io->sector;
		__entry->nr_sectors = io->nr_sectors;
		__entry->opf = io->opf;
		__entry->verdict = io->verdict;
		__entry->op = io->op;
		__entry->flags = io->flags;
		__entry->label = io->label;
		__entry->cgroup = io->cgroup;
		__entry->pid = io->pid;
		__entry->tid = io->tid;
		__entry->latency = io->latency;
		__entry->error = io->error;
	),
	TP_printk("%d,%d %llu + %u opf=0x%x %s label=%u cgroup=%llu pid=%u tid=%u latency=%llu error=%d",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->sector,
		  __entry->nr_sectors, __entry->opf,
		  __print_symbolic(__entry->verdict,
				   { NEARCACHE_VERDICT_HIT, "hit" },
				   { NEARCACHE_VERDICT_MISS, "miss" },
				   { NEARCACHE_VERDICT_JOIN, "join" },
				   { NEARCACHE_VERDICT_BYPASS_FULL, "bypass-full" },
				   { NEARCACHE_VERDICT_BYPASS_MEMORY, "bypass-memory" },
				   { NEARCACHE_VERDICT_BYPASS_UNALIGNED, "bypass-unaligned" },
				   { NEARCACHE_VERDICT_BYPASS_STATE, "bypass-state" },
				   { NEARCACHE_VERDICT_BYPASS_RETRY, "bypass-retry" },
				   { NEARCACHE_VERDICT_BYPASS_P2P, "bypass-p2p" },
				   { NEARCACHE_VERDICT_BYPASS_WRITE, "bypass-write" },
				   { NEARCACHE_VERDICT_WRITEAROUND, "writearound" },
				   { NEARCACHE_VERDICT_UPDATE, "update" },
				   { NEARCACHE_VERDICT_DISCARD, "discard" },
				   { NEARCACHE_VERDICT_ZEROES, "write-zeroes" },
				   { NEARCACHE_VERDICT_BYPASS_RANGE, "bypass-range" },
				   { NEARCACHE_VERDICT_PARTIAL, "partial" },
				   { NEARCACHE_VERDICT_BYPASS_ADVICE, "bypass-advice" },
				   { NEARCACHE_VERDICT_BYPASS_PEER, "bypass-peer" }),
		  __entry->label, __entry->cgroup, __entry->pid, __entry->tid,
		  __entry->latency, __entry->error)
);

/*
 * These events are writable only so that a BPF program gets the pointer and reads *io directly.
 * The module ignores writes of a program to *io; only later programs see them.
 */
#undef NC_DEFINE_IO_EVENT
#ifdef DEFINE_EVENT_WRITABLE
#define NC_DEFINE_IO_EVENT(name)						\
	DEFINE_EVENT_WRITABLE(nearcache_io, name,				\
			      PARAMS(TP_PROTO(struct nearcache_io *io)),	\
			      PARAMS(TP_ARGS(io)), sizeof(struct nearcache_io))
#else
#define NC_DEFINE_IO_EVENT(name)						\
	DEFINE_EVENT(nearcache_io, name,					\
		     PARAMS(TP_PROTO(struct nearcache_io *io)),			\
		     PARAMS(TP_ARGS(io)))
#endif

NC_DEFINE_IO_EVENT(nearcache_access);
NC_DEFINE_IO_EVENT(nearcache_done);
NC_DEFINE_IO_EVENT(nearcache_latency);

TRACE_DEFINE_ENUM(NEARCACHE_CLASS_UNKNOWN);
TRACE_DEFINE_ENUM(NEARCACHE_CLASS_SEQUENTIAL);
TRACE_DEFINE_ENUM(NEARCACHE_CLASS_STRIDED);
TRACE_DEFINE_ENUM(NEARCACHE_CLASS_CHECKPOINT);
TRACE_DEFINE_ENUM(NEARCACHE_CLASS_SCATTERED);
TRACE_DEFINE_ENUM(NEARCACHE_CLASS_SHUFFLED);
TRACE_DEFINE_ENUM(NEARCACHE_CLASS_LOOPING);
TRACE_DEFINE_ENUM(NEARCACHE_CLASS_RANDOM);

DECLARE_EVENT_CLASS(nearcache_classify_class,
	TP_PROTO(struct nearcache_classify *told),
	TP_ARGS(told),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, sector)
		__field(u32, nr_sectors)
		__field(u16, op)
		__field(u32, verdict)
		__field(u32, why)
		__field(u64, run)
		__field(u64, before)
		__field(s64, gap)
		__field(u32, same_gaps)
		__field(u32, accesses)
		__field(u32, runs)
		__field(u64, bytes)
		__field(u32, class)
		__field(u32, sample)
		__field(u32, label)
		__field(u64, cgroup)
		__field(u32, pid)
		__field(u32, tid)
		__field(u32, window)
		__field(u32, length)
	),
	TP_fast_assign(
		__entry->dev = told->io.dev;
		__entry->sector = told->io.sector;
		__entry->nr_sectors = told->io.nr_sectors;
		__entry->op = told->io.op;
		__entry->verdict = told->io.verdict;
		__entry->why = told->why;
		__entry->run = told->run;
		__entry->before = told->before;
		__entry->gap = told->gap;
		__entry->same_gaps = told->same_gaps;
		__entry->accesses = told->accesses;
		__entry->runs = told->runs;
		__entry->bytes = told->bytes;
		__entry->class = told->class;
		__entry->sample = told->sample;
		__entry->label = told->io.label;
		__entry->cgroup = told->io.cgroup;
		__entry->pid = told->io.pid;
		__entry->tid = told->io.tid;
		__entry->window = told->window;
		__entry->length = told->length;
	),
	TP_printk("%d,%d %llu + %u op=%u why=%s run=%llu gap=%lld same_gaps=%u accesses=%u runs=%u bytes=%llu %s sample=%u label=%u cgroup=%llu pid=%u tid=%u window=%u length=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->sector,
		  __entry->nr_sectors, __entry->op,
		  __print_flags(__entry->why, "|",
				{ NEARCACHE_WHY_MISS, "miss" },
				{ NEARCACHE_WHY_WRITE, "write" },
				{ NEARCACHE_WHY_RUN, "run" },
				{ NEARCACHE_WHY_AMOUNT, "amount" }),
		  __entry->run, __entry->gap, __entry->same_gaps, __entry->accesses,
		  __entry->runs, __entry->bytes,
		  __print_symbolic(__entry->class,
				   { NEARCACHE_CLASS_UNKNOWN, "unknown" },
				   { NEARCACHE_CLASS_SEQUENTIAL, "sequential" },
				   { NEARCACHE_CLASS_STRIDED, "strided" },
				   { NEARCACHE_CLASS_CHECKPOINT, "checkpoint" },
				   { NEARCACHE_CLASS_SCATTERED, "scattered" },
				   { NEARCACHE_CLASS_SHUFFLED, "shuffled" },
				   { NEARCACHE_CLASS_LOOPING, "looping" },
				   { NEARCACHE_CLASS_RANDOM, "random" }),
		  __entry->sample, __entry->label, __entry->cgroup, __entry->pid, __entry->tid,
		  __entry->window, __entry->length)
);

#ifdef DEFINE_EVENT_WRITABLE
DEFINE_EVENT_WRITABLE(nearcache_classify_class, nearcache_classify,
		      PARAMS(TP_PROTO(struct nearcache_classify *told)),
		      PARAMS(TP_ARGS(told)), sizeof(struct nearcache_classify));
#else
DEFINE_EVENT(nearcache_classify_class, nearcache_classify,
	     TP_PROTO(struct nearcache_classify *told),
	     TP_ARGS(told));
#endif

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

TRACE_EVENT(nearcache_peer_read,
	TP_PROTO(dev_t dev, const char *node, u64 sector, u32 nr_sectors, u64 latency, s32 error),
	TP_ARGS(dev, node, sector, nr_sectors, latency, error),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, sector)
		__field(u32, nr_sectors)
		__field(s32, error)
		__field(u64, latency)
		__string(node, node)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->sector = sector;
		__entry->nr_sectors = nr_sectors;
		__entry->error = error;
		__entry->latency = latency;
		nc_assign_node();
	),
	TP_printk("%d,%d %llu + %u node=%s latency=%llu error=%d", MAJOR(__entry->dev),
		  MINOR(__entry->dev), __entry->sector, __entry->nr_sectors, __get_str(node),
		  __entry->latency, __entry->error)
);

TRACE_EVENT(nearcache_peer_state,
	TP_PROTO(dev_t dev, const char *node, u32 from, u32 to),
	TP_ARGS(dev, node, from, to),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u32, from)
		__field(u32, to)
		__string(node, node)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->from = from;
		__entry->to = to;
		nc_assign_node();
	),
	TP_printk("%d,%d node=%s state %u -> %u", MAJOR(__entry->dev), MINOR(__entry->dev),
		  __get_str(node), __entry->from, __entry->to)
);

/* An epoch was committed, or its drain has ended. */
DECLARE_EVENT_CLASS(nearcache_stage_epoch,
	TP_PROTO(dev_t dev, u64 epoch, u64 blocks, s32 result, u64 latency),
	TP_ARGS(dev, epoch, blocks, result, latency),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, epoch)
		__field(u64, blocks)
		__field(s32, result)
		__field(u64, latency)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->epoch = epoch;
		__entry->blocks = blocks;
		__entry->result = result;
		__entry->latency = latency;
	),
	TP_printk("%d,%d epoch=%llu blocks=%llu result=%d latency=%llu", MAJOR(__entry->dev),
		  MINOR(__entry->dev), __entry->epoch, __entry->blocks, __entry->result,
		  __entry->latency)
);

DEFINE_EVENT(nearcache_stage_epoch, nearcache_stage_commit,
	TP_PROTO(dev_t dev, u64 epoch, u64 blocks, s32 result, u64 latency),
	TP_ARGS(dev, epoch, blocks, result, latency)
);

DEFINE_EVENT(nearcache_stage_epoch, nearcache_stage_drain,
	TP_PROTO(dev_t dev, u64 epoch, u64 blocks, s32 result, u64 latency),
	TP_ARGS(dev, epoch, blocks, result, latency)
);

#endif /* NEARCACHE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH core
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE tracepoints
#include <trace/define_trace.h>
