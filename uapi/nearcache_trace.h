/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * struct nearcache_io: the argument of the trace events nearcache_access, nearcache_done and
 * nearcache_latency.  BPF programs on the raw tracepoints of these events get a pointer to it.
 * Append only: values and fields keep their meaning.
 */
#ifndef NEARCACHE_TRACE_UAPI_H
#define NEARCACHE_TRACE_UAPI_H

#include <linux/types.h>

/**
 * enum nearcache_verdict - how the cache serves a piece of a read or write
 * @NEARCACHE_VERDICT_HIT: read from the cache device
 * @NEARCACHE_VERDICT_MISS: read from the origin by a fill that the piece starts
 * @NEARCACHE_VERDICT_JOIN: waits for a fill in flight
 * @NEARCACHE_VERDICT_BYPASS_FULL: read from the origin, because no slot is free
 * @NEARCACHE_VERDICT_BYPASS_MEMORY: read from the origin, for lack of memory for a fill
 * @NEARCACHE_VERDICT_BYPASS_UNALIGNED: read from the origin, because the piece is not aligned to
 *	the cache device's logical blocks
 * @NEARCACHE_VERDICT_BYPASS_STATE: read from the origin, because the state is bypass or degraded
 * @NEARCACHE_VERDICT_BYPASS_RETRY: read from the origin after an error of the cache device; an
 *	earlier event of the piece had another verdict
 * @NEARCACHE_VERDICT_BYPASS_P2P: read from the origin, as the buffer is memory of another device
 * @NEARCACHE_VERDICT_BYPASS_WRITE: read from the origin, because the data is being written
 * @NEARCACHE_VERDICT_WRITEAROUND: write to the origin only
 * @NEARCACHE_VERDICT_UPDATE: write to the origin, then to the cache device
 * @NEARCACHE_VERDICT_DISCARD: discard
 * @NEARCACHE_VERDICT_ZEROES: write-zeroes
 * @NEARCACHE_VERDICT_BYPASS_RANGE: read from the origin, as the sector is in a bypass range
 * @NEARCACHE_VERDICT_PARTIAL: hit on the valid part of a block; the rest of the read is another
 *	piece
 * @NEARCACHE_VERDICT_BYPASS_ADVICE: read from the origin, as a classifier refused to cache it
 * @NEARCACHE_VERDICT_BYPASS_PEER: read from the origin, as a job was bringing the data from a peer
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
	NEARCACHE_VERDICT_BYPASS_PEER		= 17,
};

/* Number of values of enum nearcache_verdict. */
#define NEARCACHE_VERDICTS	18

/**
 * enum nearcache_io_flags - flags of the bio
 * @NEARCACHE_IO_AHEAD: REQ_RAHEAD, read-ahead for which no process waits yet
 * @NEARCACHE_IO_META: REQ_META, metadata of a file system
 * @NEARCACHE_IO_SYNC: REQ_SYNC, a process waits for the bio
 */
enum nearcache_io_flags {
	NEARCACHE_IO_AHEAD	= 1 << 0,
	NEARCACHE_IO_META	= 1 << 1,
	NEARCACHE_IO_SYNC	= 1 << 2,
};

/* nearcache_latency reports one in this many hits on each CPU. */
#define NEARCACHE_TIMED		16

/**
 * struct nearcache_io - a piece of a read or write
 * @sector: first sector on the dm device, of 512 bytes
 * @cgroup: id of a control group (inode number in cgroup2), 0: none.  It is the group of the
 *	submitting process, or for a kernel thread the group that the bio is accounted to
 * @latency: nanoseconds from the first verdict to the completion; for nearcache_access 0
 * @dev: number of the dm device in the kernel's encoding: major << 20 | minor
 * @nr_sectors: number of sectors
 * @opf: bi_opf of the bio; its values depend on the kernel version
 * @op: operation: 0 read, 1 write, 3 discard, 9 write-zeroes
 * @flags: enum nearcache_io_flags
 * @verdict: enum nearcache_verdict
 * @label: id of the label of @sector's range, 0: none; netlink command label-get has the name
 * @pid: submitting process
 * @tid: submitting thread
 * @error: negative errno; for nearcache_access 0
 * @weight: number of pieces that this one represents: NEARCACHE_TIMED for a hit of
 *	nearcache_latency, 1 otherwise
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
