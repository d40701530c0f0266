/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams: the sequence of reads, or of writes, of each thread.  They are reported to a classifier
 * (a BPF program on a tracepoint).  With the tracepoint disabled this costs one static branch.
 */
#ifndef NEARCACHE_IO_STREAM_H
#define NEARCACHE_IO_STREAM_H

#include <linux/bio.h>
#include <linux/spinlock.h>
#include <linux/tracepoint-defs.h>

#include "nearcache_classify.h"

DECLARE_TRACEPOINT(nearcache_classify);

struct nc_cache;
struct nc_io;
struct nc_span;

/* Streams per set. */
#define NC_STREAM_WAYS	2U

/**
 * struct nc_stream - a stream; fields without a description: see struct nearcache_classify
 * @whose: thread id, or inverted cgroup id for work of a kernel thread; 0: unused
 * @used: jiffies of the last piece
 * @writes: the stream consists of writes, not of reads
 * @class: see struct nearcache_classify
 * @sample: "
 * @same_gaps: "
 * @accesses: "
 * @runs: "
 * @bytes: "
 * @run: "
 * @before: "
 * @gap: "
 * @at: first sector of the last piece
 * @end: sector behind the last piece, as it was accounted
 * @asked: sector behind the whole read or write that the last piece belongs to
 * @window: see struct nearcache_classify
 * @length: "
 * @ahead: sector behind the part of the readahead window that was requested so far
 */
struct nc_stream {
	u64 whose;
	unsigned long used;
	bool writes;
	u8 class;
	u8 sample;
	u32 same_gaps;
	u32 accesses;
	u32 runs;
	u64 bytes;
	sector_t run;
	sector_t before;
	s64 gap;
	sector_t at;
	sector_t end;
	sector_t asked;
	u32 window;
	u32 length;
	sector_t ahead;
};

/**
 * struct nc_stream_set - streams with the same hash
 * @lock: protects @stream; innermost; process context
 * @stream: the streams
 *
 * Threads migrate between processors, so streams are not per-CPU.  The lock rarely bounces between
 * processors: nearly always the same thread takes it again.
 */
struct nc_stream_set {
	spinlock_t lock;	/* see above */
	struct nc_stream stream[NC_STREAM_WAYS];
} ____cacheline_aligned_in_smp;

/**
 * struct nc_readahead_window - sectors to read ahead of a stream
 * @first: first sector
 * @end: sector behind the last one
 */
struct nc_readahead_window {
	sector_t first;
	sector_t end;
};

/**
 * struct nc_streams - streams of a cache
 * @set: sets of NC_STREAM_WAYS streams; about 32 streams for each processor, 4096 at most
 * @bits: log2 of the number of sets
 * @ask_window: queues a readahead window of a stream; called while a read is mapped; set by
 *	cache.c to nc_readahead_ask()
 */
struct nc_streams {
	struct nc_stream_set *set;
	u32 bits;
	void (*ask_window)(struct nc_cache *c, const struct nc_readahead_window *window);
};

int nc_streams_init(struct nc_streams *streams);
void nc_streams_destroy(struct nc_streams *streams);
bool nc_stream_report(struct nc_cache *c, struct bio *bio, struct nc_io *io,
		      const struct nc_span *span, enum nearcache_verdict verdict);

/**
 * nc_stream_admits() - ask the classifier, if any, whether a piece may be cached
 * @c: live cache
 * @bio: dm's clone, not yet cut to the piece
 * @io: per-bio data of @bio
 * @span: sub-blocks of the piece, or NULL for all of @bio, which may be cut later
 * @verdict: fate of the piece without the classifier
 *
 * Context: map of @bio.
 * Return: whether uncached data of the piece may be cached.
 */
static inline bool nc_stream_admits(struct nc_cache *c, struct bio *bio, struct nc_io *io,
				    const struct nc_span *span, enum nearcache_verdict verdict)
{
	return !tracepoint_enabled(nearcache_classify) ||
	       nc_stream_report(c, bio, io, span, verdict);
}

#endif /* NEARCACHE_IO_STREAM_H */
