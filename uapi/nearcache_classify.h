/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What the trace event nearcache_classify carries, and what a program on its writable raw
 * tracepoint may answer.  Values keep their meaning; fields come behind those that are there,
 * and @version tells how many there are.
 */
#ifndef NEARCACHE_CLASSIFY_H
#define NEARCACHE_CLASSIFY_H

#include "nearcache_trace.h"

/* Of struct nearcache_classify. */
#define NEARCACHE_CLASSIFY_VERSION	1

/**
 * enum nearcache_class - how a stream is read or written
 * @NEARCACHE_CLASS_UNKNOWN: not known (yet)
 * @NEARCACHE_CLASS_SEQUENTIAL: one sector after another
 * @NEARCACHE_CLASS_STRIDED: runs that are equally far from each other
 * @NEARCACHE_CLASS_CHECKPOINT: written, one sector after another
 * @NEARCACHE_CLASS_SCATTERED: runs all over the place; in which order is not known (yet)
 * @NEARCACHE_CLASS_SHUFFLED: each of them once per pass, in another order each time
 * @NEARCACHE_CLASS_LOOPING: each of them once per pass, in the same order
 * @NEARCACHE_CLASS_RANDOM: some of them again before others were read
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

/* Of enum nearcache_class. */
#define NEARCACHE_CLASSES	8

/**
 * enum nearcache_admission - may what is not cached come into the cache?
 * @NEARCACHE_ADMIT: as usual
 * @NEARCACHE_ADMIT_NOT: no: a read goes to the origin, a write drops what is cached of it.  What
 *	a range pins comes all the same
 */
enum nearcache_admission {
	NEARCACHE_ADMIT		= 0,
	NEARCACHE_ADMIT_NOT	= 1,
};

/**
 * enum nearcache_why - why a piece is told
 * @NEARCACHE_WHY_MISS: it is not cached
 * @NEARCACHE_WHY_WRITE: it is a write
 * @NEARCACHE_WHY_RUN: a run of its stream begins with it, where runs are told: see @sample
 * @NEARCACHE_WHY_AMOUNT: so many of its stream, with it, were not told
 */
enum nearcache_why {
	NEARCACHE_WHY_MISS	= 1 << 0,
	NEARCACHE_WHY_WRITE	= 1 << 1,
	NEARCACHE_WHY_RUN	= 1 << 2,
	NEARCACHE_WHY_AMOUNT	= 1 << 3,
};

/* Accesses of a stream until one is told whatever it is. */
#define NEARCACHE_AMOUNT	64

/* @sample that a stream begins with, and the highest one. */
#define NEARCACHE_SAMPLE	4
#define NEARCACHE_SAMPLE_MAX	16

/* Of @window: 64 MiB. */
#define NEARCACHE_WINDOW_MAX	131072

/**
 * struct nearcache_classify - a piece that is told, and its stream
 * @io: the piece; its verdict is what it gets unless something is in the way, like the
 *	answer; one that is not cached may be cut, and its rest is told again
 * @version: NEARCACHE_CLASSIFY_VERSION of the module
 * @why: enum nearcache_why
 * @run: sector that the run begins with which the piece belongs to
 * @before: the same of the run before; ~0: there was none
 * @gap: sectors from the end of that run to @run; 0: there was none
 * @same_gaps: runs in a row that came behind such a gap
 * @accesses: reads or writes of the stream since the last one that was told, with this one;
 *	the rest of one that was cut does not count
 * @runs: of these, those that a run begins with
 * @hash: of @run; runs whose hash is a multiple of 1 << @sample are told, and the first one
 * @bytes: of @accesses
 * @class: may be changed: enum nearcache_class of the stream; others count as unknown.  Before:
 *	the last answer
 * @sample: may be changed: of this stream, from the next piece on; 0 (all runs) to
 *	NEARCACHE_SAMPLE_MAX; more counts as that.  Before: the last answer, or NEARCACHE_SAMPLE
 * @admission: may be changed: enum nearcache_admission of this piece; others count as
 *	NEARCACHE_ADMIT, which is there before
 * @window: may be changed: sectors that are to be brought into the cache ahead of this stream,
 *	when it reads; from this piece on; NEARCACHE_WINDOW_MAX at most, more counts as that.
 *	Before: the last answer, or 0
 * @length: may be changed: of this stream's runs no more than so many sectors, from where they
 *	begin, are brought like that; 0: all.  Before: the last answer, or 0
 * @reserved: 0
 *
 * A stream is what one thread reads, or writes; of kernel threads, what they do for one control
 * group.  A run is what follows each other within.  The module keeps few streams:
 * one that is not seen for long begins anew.
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
	__u32 reserved;
};

#endif /* NEARCACHE_CLASSIFY_H */
