/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data of 'nearcache top': a sample of all devices, and the growth of its counters in the
 * "last interval", which is the time since the previous sample.
 */
#ifndef HELPER_TOP_MODEL_H
#define HELPER_TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "classify.h"
#include "lib/name.h"
#include "latency.h"
#include "netlink/client.h"
#include "block/status_line.h"

/* Size of a process name with NUL: the kernel's TASK_COMM_LEN. */
#define COMMAND_SIZE	16
/* Size of the text @why of struct top_device, in bytes. */
#define TOP_WHY		256

/**
 * struct top_label - the ranges with one label
 * @name: the label
 * @id: number of the label in trace events
 * @ranges: number of ranges
 * @bytes: sum of the ranges
 * @counter: counters of the label, by NEARCACHE_LABEL_*
 * @since: growth of each counter in the last interval
 */
struct top_label {
	char name[LABEL_SIZE];
	uint32_t id;
	uint64_t ranges;
	uint64_t bytes;
	uint64_t counter[NEARCACHE_LABEL_COUNTER_COUNT];
	uint64_t since[NEARCACHE_LABEL_COUNTER_COUNT];
};

/**
 * struct top_stream - the reads, or the writes, of one process in one part of a device
 * @key: process and part
 * @command: name of the process; "" if the process ended
 * @parent: pid of its parent process; 0: unknown
 * @ended: the process has ended, and the stream did not grow in the last interval. It stays in the model: the
 *	pid may get a new process, and the stream grow
 * @class: enum nearcache_class
 * @accesses: number of accesses
 * @runs: accesses that started a sequential run
 * @bytes: sum of the accesses
 * @since_accesses: growth of @accesses in the last interval
 * @since_bytes: growth of @bytes in the last interval
 */
struct top_stream {
	struct stream_key key;
	char command[COMMAND_SIZE];
	uint32_t parent;
	bool ended;
	uint32_t class;
	uint64_t accesses;
	uint64_t runs;
	uint64_t bytes;
	uint64_t since_accesses;
	uint64_t since_bytes;
};

/* A prefetch job. @done: bytes fetched, present or left out; @since: growth of @done. */
struct top_job {
	struct nl_job job;
	uint64_t done;
	uint64_t since;
};

/**
 * struct top_cluster - the cluster device above a cache
 * @name: dm name; "": there is none
 * @here: bytes that this node read in the cache
 * @peer: bytes that it read at peers
 * @errors: reads at peers that failed
 * @peers: number of peers
 * @up: peers in state up
 * @since_here: growth of @here in the last interval
 * @since_peer: growth of @peer in the last interval
 */
struct top_cluster {
	char name[128];
	uint64_t here;
	uint64_t peer;
	uint64_t errors;
	unsigned int peers;
	unsigned int up;
	uint64_t since_here;
	uint64_t since_peer;
};

/**
 * struct top_stage - the stage below a cache
 * @name: dm name; "": there is none
 * @state: name of the state
 * @calm: the state is normal
 * @behind: bytes that the origin lacks
 * @seconds: age of the oldest write that the origin lacks
 * @retained: bytes of retained data: on the origin, and still read from the log
 * @written: bytes written by users
 * @drained: bytes written to the origin
 * @since_written: growth of @written in the last interval
 * @since_drained: growth of @drained in the last interval
 */
struct top_stage {
	char name[128];
	const char *state;
	bool calm;
	uint64_t behind;
	uint64_t seconds;
	uint64_t retained;
	uint64_t written;
	uint64_t drained;
	uint64_t since_written;
	uint64_t since_drained;
};

/**
 * struct top_device - a device
 * @name: dm name
 * @number: device number
 * @state: name of the state
 * @calm: the state is normal
 * @why: reason why the state is not normal, as text for the user
 * @mode: name of the mode
 * @time: time of the sample, monotonic clock, ns
 * @span: ns since the previous sample; 0: there was none, and the last interval starts
 *	when the device was loaded
 * @status: the status line of the kernel
 * @since: @status, with the growth of each counter in the last interval
 * @cluster: cluster device that reads this cache
 * @stage: stage below the cache
 * @latency: histograms by enum latency_path, since the latency program was loaded
 * @latency_since: growth of @latency in the last interval
 * @label: the labels
 * @labels: entries in @label
 * @stream: the streams, sorted by key
 * @streams: entries in @stream
 * @job: the prefetch jobs that run
 * @jobs: entries in @job
 */
struct top_device {
	char name[128];
	dev_t number;
	const char *state;
	bool calm;
	char why[TOP_WHY];
	char mode[32];
	uint64_t time;
	uint64_t span;
	struct status status;
	struct status since;
	struct top_cluster cluster;
	struct top_stage stage;
	struct latency latency[PATHS];
	struct latency latency_since[PATHS];
	struct top_label *label;
	size_t labels;
	struct top_stream *stream;
	size_t streams;
	struct top_job *job;
	size_t jobs;
};

/**
 * struct top_model - a sample of all devices
 * @wall: real time of the sample, ns since 1970
 * @classifies: the loaded classifier has a map of streams
 * @foreign: name of a loaded classifier that has no map of streams, or ""
 * @measures: the latency program is loaded
 * @unprivileged: the kernel shows this process no labels, streams and latencies
 * @device: sorted: devices whose state is not normal first, then by name
 * @devices: entries in @device
 */
struct top_model {
	uint64_t wall;
	bool classifies;
	char foreign[16];
	bool measures;
	bool unprivileged;
	struct top_device *device;
	size_t devices;
};

struct top_device *model_device(const struct top_model *model, dev_t number);
const struct top_label *model_label(const struct top_device *device, uint32_t id);
void model_free(struct top_model *model);

#endif /* HELPER_TOP_MODEL_H */
