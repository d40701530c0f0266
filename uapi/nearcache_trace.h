/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What the trace events nearcache_access, nearcache_done and nearcache_latency carry.  Programs
 * on their raw tracepoints get a pointer to struct nearcache_io; values keep their meaning, and
 * new ones come behind those that are there.
 */
#ifndef NEARCACHE_TRACE_UAPI_H
#define NEARCACHE_TRACE_UAPI_H

#include <linux/types.h>

/**
 * enum nearcache_verdict - what becomes of a piece of a read or write
 * @NEARCACHE_VERDICT_HIT: read from the cache device
 * @NEARCACHE_VERDICT_MISS: read from the origin, by a fill that it began
 * @NEARCACHE_VERDICT_JOIN: waits for a fill that is under way
 * @NEARCACHE_VERDICT_BYPASS_FULL: read from the origin, as no slot is free
 * @NEARCACHE_VERDICT_BYPASS_MEMORY: the same, for want of memory
 * @NEARCACHE_VERDICT_BYPASS_UNALIGNED: the same, as the cache device takes no such pieces
 * @NEARCACHE_VERDICT_BYPASS_STATE: the same, as the cache is bypassed
 * @NEARCACHE_VERDICT_BYPASS_RETRY: the same, as the cache device failed; it had another
 *	verdict before
 * @NEARCACHE_VERDICT_BYPASS_P2P: the same, as the reader's memory is another device's
 * @NEARCACHE_VERDICT_BYPASS_WRITE: the same, as the data is being written
 * @NEARCACHE_VERDICT_WRITEAROUND: write whose data stays out of the cache
 * @NEARCACHE_VERDICT_UPDATE: write whose data follows into the cache
 * @NEARCACHE_VERDICT_DISCARD: discard
 * @NEARCACHE_VERDICT_ZEROES: write-zeroes
 * @NEARCACHE_VERDICT_BYPASS_RANGE: read from the origin, as a range says so
 * @NEARCACHE_VERDICT_PARTIAL: hit of a read that goes on in what its block lacks; the rest is
 *	a piece of its own
 * @NEARCACHE_VERDICT_BYPASS_ADVICE: read from the origin, as a classifier says so
 */
enum nearcache_verdict {
	NEARCACHE_VERDICT_HIT			= 0,
	NEARCACHE_VERDICT_MISS			= 1,
	NEARCACHE_VERDICT_JOIN			= 2,
	NEARCACHE_VERDICT_BYPASS_FULL		= 3,
	NEARCACHE_VERDICT_BYPASS_MEMORY		= 4,
	NEARCACHE_VERDICT_BYPASS_UNALIGNED	= 5,
	NEARCACHE_VERDICT_BYPASS_STATE		= 6,
	NEARCACHE_VERDICT_BYPASS_RETRY		= 7,
	NEARCACHE_VERDICT_BYPASS_P2P		= 8,
	NEARCACHE_VERDICT_BYPASS_WRITE		= 9,
	NEARCACHE_VERDICT_WRITEAROUND		= 10,
	NEARCACHE_VERDICT_UPDATE		= 11,
	NEARCACHE_VERDICT_DISCARD		= 12,
	NEARCACHE_VERDICT_ZEROES		= 13,
	NEARCACHE_VERDICT_BYPASS_RANGE		= 14,
	NEARCACHE_VERDICT_PARTIAL		= 15,
	NEARCACHE_VERDICT_BYPASS_ADVICE		= 16,
};

/* Of enum nearcache_verdict. */
#define NEARCACHE_VERDICTS	17

/**
 * enum nearcache_io_flags - what is known of a piece beside its operation
 * @NEARCACHE_IO_AHEAD: read-ahead: nobody waits for it yet
 * @NEARCACHE_IO_META: metadata of a file system
 * @NEARCACHE_IO_SYNC: somebody waits for it
 */
enum nearcache_io_flags {
	NEARCACHE_IO_AHEAD	= 1 << 0,
	NEARCACHE_IO_META	= 1 << 1,
	NEARCACHE_IO_SYNC	= 1 << 2,
};

/* Of so many hits, on each processor, nearcache_latency tells one. */
#define NEARCACHE_TIMED		16

/**
 * struct nearcache_io - a piece of a read or write
 * @sector: first one on the dm device, of 512 bytes
 * @cgroup: id (inode number in cgroup2) of whose it is: of the process that asks, or, when a
 *	kernel thread does, of whom the request is accounted to; 0: nobody's
 * @latency: nanoseconds from the verdict to the completion; for nearcache_access 0
 * @dev: number of the dm device as the kernel has it: major << 20 | minor
 * @nr_sectors: how many
 * @opf: operation and flags of the bio, as this kernel has them
 * @op: operation: 0 read, 1 write, 3 discard, 9 write-zeroes
 * @flags: enum nearcache_io_flags
 * @verdict: enum nearcache_verdict
 * @label: id of the label of the range that @sector is in, 0: none; netlink tells its name
 * @pid: process that asks
 * @tid: its thread
 * @error: negative errno; for nearcache_access 0
 * @weight: pieces that it stands for: NEARCACHE_TIMED for a hit of nearcache_latency, else 1
 */
struct nearcache_io {
	__u64 sector;
	__u64 cgroup;
	__u64 latency;
	__u32 dev;
	__u32 nr_sectors;
	__u32 opf;
	__u16 op;
	__u16 flags;
	__u32 verdict;
	__u32 label;
	__u32 pid;
	__u32 tid;
	__s32 error;
	__u32 weight;
};

#endif /* NEARCACHE_TRACE_UAPI_H */
