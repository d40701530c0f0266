/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps of bpf/classify.bpf.c, as who reads them sees them. */
#ifndef BPF_CLASSIFY_H
#define BPF_CLASSIFY_H

#include "evidence.h"

/**
 * struct set_key - some place in which a control group reads
 * @dev: dm device: major << 20 | minor
 * @label: of the range; 0: none
 * @place: part of the device; its size is a power of two
 * @cgroup: id
 */
struct set_key {
	__u32 dev;
	__u32 label;
	__u64 place;
	__u64 cgroup;
};

/**
 * struct stream_key - what a process reads, or writes, there
 * @set: there
 * @pid: process
 * @writes: 1: writes, 0: reads
 */
struct stream_key {
	struct set_key set;
	__u32 pid;
	__u32 writes;
};

/**
 * struct unit_key - a run of a set
 * @run: sector that it begins with
 * @set: id of the set
 * @reserved: 0
 */
struct unit_key {
	__u64 run;
	__u32 set;
	__u32 reserved;
};

/* Sectors, 16 MiB: what comes from 5 ms away at 3 GB/s. */
#define WINDOW_DEFAULT	32768U

/**
 * struct settings - what may be set while the program runs, the one value of its map
 * @window: sectors that are brought ahead of sequential streams, at most
 * @given: 0: @window is WINDOW_DEFAULT
 * @around: 1: checkpoints are not cached
 * @reserved: 0
 */
struct settings {
	__u32 window;
	__u32 given;
	__u32 around;
	__u32 reserved;
};

/* Devices, times classes, that are counted at once. */
#define MIXES	512

/**
 * struct mix_key - what is counted together
 * @dev: dm device: major << 20 | minor
 * @class: enum nearcache_class that its stream had
 */
struct mix_key {
	__u32 dev;
	__u32 class;
};

/* Bytes that a stream reads, or writes, before they are counted: it costs a look-up. */
#define MIX_PORTION	1048576U

/**
 * struct mix - what was read, or written, like that
 * @bytes: that
 */
struct mix {
	__u64 bytes;
};

/**
 * struct change - a stream has another class: a record of the ring buffer
 * @time: nanoseconds of the monotonic clock
 * @key: stream
 * @from: enum nearcache_class before
 * @to: now
 * @stream: the evidence
 * @set: of the set; all 0 if the stream is not scattered
 */
struct change {
	__u64 time;
	struct stream_key key;
	__u32 from;
	__u32 to;
	struct stream stream;
	struct set set;
};

#endif /* BPF_CLASSIFY_H */
