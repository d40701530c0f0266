/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * struct nearcache_classify, the argument of the trace event nearcache_classify, describes a piece
 * of a read or write.  A BPF program on the event's writable raw tracepoint classifies the access
 * pattern and writes its answer into the fields marked "writable".  Append only: values and fields
 * keep their meaning, and @version says which fields exist.
 */
#ifndef NEARCACHE_CLASSIFY_H
#define NEARCACHE_CLASSIFY_H

#include "nearcache_trace.h"

#define NEARCACHE_CLASSIFY_VERSION	2

/**
 * enum nearcache_class - access pattern of a stream, see struct nearcache_classify
 * @NEARCACHE_CLASS_UNKNOWN: not (yet) known
 * @NEARCACHE_CLASS_SEQUENTIAL: sequential reads
 * @NEARCACHE_CLASS_STRIDED: runs at a constant distance from each other
 * @NEARCACHE_CLASS_CHECKPOINT: sequential writes
 * @NEARCACHE_CLASS_SCATTERED: runs at varying distances, in an order that is not (yet) known
 * @NEARCACHE_CLASS_SHUFFLED: scattered; each pass reads every run once, in a new order
 * @NEARCACHE_CLASS_LOOPING: scattered; each pass reads every run once, in the same order
 * @NEARCACHE_CLASS_RANDOM: scattered; some runs repeat before others are read
 */
enum nearcache_class {
	NEARCACHE_CLASS_UNKNOWN		= 0,
	NEARCACHE_CLASS_SEQUENTIAL	= 1,
	NEARCACHE_CLASS_STRIDED		= 2,
	NEARCACHE_CLASS_CHECKPOINT	= 3,
	NEARCACHE_CLASS_SCATTERED	= 4,
	NEARCACHE_CLASS_SHUFFLED	= 5,
	NEARCACHE_CLASS_LOOPING		= 6,
	NEARCACHE_CLASS_RANDOM		= 7,
};

/* Number of values of enum nearcache_class. */
#define NEARCACHE_CLASSES	8

/**
 * enum nearcache_admission - whether the piece may be cached
 * @NEARCACHE_ADMIT: cache it as usual
 * @NEARCACHE_ADMIT_NOT: do not cache it.  A read of uncached data goes to the origin, a write
 *	invalidates the cached data.  A piece of pinned data is cached nevertheless
 */
enum nearcache_admission {
	NEARCACHE_ADMIT		= 0,
	NEARCACHE_ADMIT_NOT	= 1,
};

/**
 * enum nearcache_why - reasons for which the event reports a piece
 * @NEARCACHE_WHY_MISS: the piece is not cached
 * @NEARCACHE_WHY_WRITE: the piece is a write
 * @NEARCACHE_WHY_RUN: the piece begins a run that is reported, see nearcache_classify.hash
 * @NEARCACHE_WHY_AMOUNT: the piece is the stream's NEARCACHE_AMOUNT-th access since its last report
 */
enum nearcache_why {
	NEARCACHE_WHY_MISS	= 1 << 0,
	NEARCACHE_WHY_WRITE	= 1 << 1,
	NEARCACHE_WHY_RUN	= 1 << 2,
	NEARCACHE_WHY_AMOUNT	= 1 << 3,
};

/* The event reports at least one in this many accesses of a stream. */
#define NEARCACHE_AMOUNT	64

/* Initial and highest value of nearcache_classify.sample. */
#define NEARCACHE_SAMPLE	4
#define NEARCACHE_SAMPLE_MAX	16

/* Highest value of nearcache_classify.window, in sectors: 64 MiB. */
#define NEARCACHE_WINDOW_MAX	131072

/**
 * struct nearcache_classify - a reported piece and its stream
 * @io: the piece.  Its verdict is a forecast: the program's answer, or a concurrent fill or
 *	eviction, may change it.  If the module cuts an uncached piece, a further event has the rest
 * @version: NEARCACHE_CLASSIFY_VERSION of the module
 * @why: enum nearcache_why
 * @run: first sector of the run that the piece belongs to
 * @before: first sector of the previous run; ~0: none
 * @gap: sectors from the end of the previous run to @run, may be negative; 0: no previous run
 * @same_gaps: number of successive runs, this one included, with the same @gap as the run before
 * @accesses: reads or writes of the stream since its last report, including this piece.  The rest
 *	of a cut piece is not counted
 * @runs: number of @accesses that began a run
 * @hash: hash of @run; the event reports a stream's first run and each run whose hash is a
 *	multiple of 1 << @sample
 * @bytes: bytes of @accesses
 * @class: (writable) enum nearcache_class of the stream; unknown values count as
 *	NEARCACHE_CLASS_UNKNOWN.  Initially the last answer
 * @sample: (writable) 0 (report every run) to NEARCACHE_SAMPLE_MAX; larger values are clamped.
 *	Applies from the stream's next piece.  Initially the last answer, or NEARCACHE_SAMPLE
 * @admission: (writable) enum nearcache_admission of this piece.  Initially NEARCACHE_ADMIT;
 *	unknown values count as NEARCACHE_ADMIT
 * @window: (writable) sectors to read ahead of a reading stream, from this piece on; values above
 *	NEARCACHE_WINDOW_MAX are clamped.  Initially the last answer, or 0: no readahead
 * @length: (writable) readahead ends this many sectors behind the start of a run; 0: no limit.
 *	Initially the last answer, or 0
 * @siblings: hash of the parent's process id and the submitting process's program name: equal
 *	for siblings, see below.  0: a kernel thread, or a module of version 1
 *
 * A stream is all reads, or all writes, of one thread; kernel threads' accesses are grouped by
 * control group instead of by thread.  A run is a sequence of adjacent accesses of a stream.  The
 * module tracks few streams: an idle stream may lose its history.  Siblings are the processes with
 * one parent and one program name, such as the workers of a PyTorch DataLoader.
 */
struct nearcache_classify {
	struct nearcache_io io;
	__u32 version;
	__u32 why;
	__u64 run;
	__u64 before;
	__s64 gap;
	__u32 same_gaps;
	__u32 accesses;
	__u32 runs;
	__u32 hash;
	__u64 bytes;
	__u32 class;
	__u32 sample;
	__u32 admission;
	__u32 window;
	__u32 length;
	__u32 siblings;
};

#endif /* NEARCACHE_CLASSIFY_H */
