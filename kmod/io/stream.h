/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams: what each thread reads and writes one after another, told to a classifier if there is
 * one.  When there is none, this is an instruction that is patched out.
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

/* Streams that may be in a set. */
#define NC_STREAM_WAYS	2U

/**
 * struct nc_stream - a stream
 * @whose: thread, or control group of a kernel thread's work; 0: nobody's
 * @used: jiffies of its last piece
 * @writes: it writes, others read
 * @class: see struct nearcache_classify, as are the rest
 * @sample: "
 * @same_gaps: "
 * @accesses: "
 * @runs: "
 * @bytes: "
 * @run: "
 * @before: "
 * @gap: "
 * @at: its last piece
 * @end: behind that
 * @asked: behind the read or write that it is of
 * @window: see struct nearcache_classify
 * @length: "
 * @ahead: behind what was asked for of @window
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
 * struct nc_stream_set - streams that are looked for together
 * @lock: protects @stream; innermost; process context
 * @stream: those
 *
 * Threads go from one processor to another, so streams are no processor's; but who takes a lock is
 * nearly always the one who had it before.
 */
struct nc_stream_set {
	spinlock_t lock;	/* see above */
	struct nc_stream stream[NC_STREAM_WAYS];
} ____cacheline_aligned_in_smp;

/**
 * struct nc_streams - those of a cache
 * @set: sets; 32 streams for each processor, 4096 at most
 * @bits: log2 of how many
 */
struct nc_streams {
	struct nc_stream_set *set;
	u32 bits;
};

int nc_streams_init(struct nc_streams *streams);
void nc_streams_destroy(struct nc_streams *streams);
bool nc_stream_tell(struct nc_cache *c, struct bio *bio, struct nc_io *io,
		    const struct nc_span *span, enum nearcache_verdict verdict);

/**
 * nc_stream_admits() - may a piece come into the cache, or stay there?
 * @c: live cache
 * @bio: dm's clone, as it came, before it is cut to the piece
 * @io: what is known about it
 * @span: what the piece is of; NULL: all of @bio, which may be cut after that
 * @verdict: what becomes of it if nothing is in the way
 *
 * Context: map of @bio.
 */
static inline bool nc_stream_admits(struct nc_cache *c, struct bio *bio, struct nc_io *io,
				    const struct nc_span *span, enum nearcache_verdict verdict)
{
	return !tracepoint_enabled(nearcache_classify) ||
	       nc_stream_tell(c, bio, io, span, verdict);
}

#endif /* NEARCACHE_IO_STREAM_H */
