/* SPDX-License-Identifier: GPL-2.0-only */
/* Map layouts of bpf/classify.bpf.c, shared with the helper. */
#ifndef BPF_CLASSIFY_H
#define BPF_CLASSIFY_H

#include "evidence.h"

/* A place is a part of a device with 1 << PLACE_SHIFT sectors (64 GiB) and with its own streams. */
#define PLACE_SHIFT	27U

/**
 * struct set_key - a part of a device, and its readers: a control group, or siblings in it
 * @dev: dm device: major << 20 | minor
 * @label: id of the range's label; 0: no label
 * @place: number of the part: run >> PLACE_SHIFT; 0 if @label is set
 * @cgroup: id of the control group
 * @siblings: struct nearcache_classify.siblings if unrelated programs share the control group,
 *	otherwise 0.  Always 0 in the key of a stream, so that a process keeps its row when its
 *	program or parent changes
 * @reserved: 0
 */
struct set_key {
	__u32 dev;
	__u32 label;
	__u64 place;
	__u64 cgroup;
	__u32 siblings;
	__u32 reserved;
};

/**
 * struct stream_key - the reads, or the writes, of one process in one part of a device
 * @set: the part
 * @pid: process
 * @writes: 1 for writes, 0 for reads
 */
struct stream_key {
	struct set_key set;
	__u32 pid;
	__u32 writes;
};

/**
 * struct unit_key - a run of a set
 * @run: first sector of the run
 * @set: struct set.id of the set
 * @reserved: 0
 */
struct unit_key {
	__u64 run;
	__u32 set;
	__u32 reserved;
};

/* Default of settings.window, sectors: 16 MiB, the bandwidth-delay product of 3 GB/s and 5 ms. */
#define WINDOW_DEFAULT	32768U

/**
 * struct settings - run-time settings: the only entry of map settings
 * @window: largest readahead window of a sequential stream, in sectors
 * @given: 1 if @window is set, 0 to use WINDOW_DEFAULT
 * @around: 1 if checkpoints are not cached
 * @reserved: 0
 */
struct settings {
	__u32 window;
	__u32 given;
	__u32 around;
	__u32 reserved;
};

/* Capacity of map mixes: 64 devices times 8 classes. */
#define MIXES	512

/**
 * struct mix_key - key of a byte counter
 * @dev: dm device: major << 20 | minor
 * @class: enum nearcache_class of the stream
 */
struct mix_key {
	__u32 dev;
	__u32 class;
};

/* A stream adds its bytes to the counter in portions of this size, to save map look-ups. */
#define MIX_PORTION	1048576U

/**
 * struct mix - traffic of a device in one class
 * @bytes: bytes read or written
 */
struct mix {
	__u64 bytes;
};

/**
 * struct change - a change of a stream's class: a record of the ring buffer
 * @time: nanoseconds of the monotonic clock
 * @key: stream
 * @from: old enum nearcache_class
 * @to: new enum nearcache_class
 * @stream: the stream's state, with its evidence
 * @set: state of the set that the stream reads; all 0 if the stream is not scattered
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
