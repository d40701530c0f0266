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
