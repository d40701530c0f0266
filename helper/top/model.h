/* SPDX-License-Identifier: GPL-2.0-only */
/* What 'nearcache top' shows: all devices at a time, and what happened since the look before. */
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

/* Of a process, with its end: TASK_COMM_LEN of the kernel. */
#define COMMAND_SIZE	16
/* Room for why a device does without its cache. */
#define TOP_WHY		256

/**
 * struct top_label - ranges of a label
 * @name: of the label
 * @id: its number in trace events
 * @ranges: how many there are
 * @bytes: of these
 * @counter: NEARCACHE_LABEL_*
 * @since: the same, of the last interval
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
 * struct top_stream - what a process reads, or writes, in some place
 * @key: which one
 * @command: name of the process, "" if it is gone
 * @class: enum nearcache_class
 * @accesses: that it made
 * @runs: of these, those that a run began with
 * @bytes: of these
 * @since_accesses: of the last interval
 * @since_bytes: of the last interval
 */
struct top_stream {
	struct stream_key key;
	char command[COMMAND_SIZE];
	uint32_t class;
	uint64_t accesses;
	uint64_t runs;
	uint64_t bytes;
	uint64_t since_accesses;
	uint64_t since_bytes;
};

/**
 * struct top_job - a prefetch job that runs
 * @job: its numbers
 * @done: bytes of it that are dealt with
 * @since: of these, those of the last interval
 */
struct top_job {
	struct nl_job job;
	uint64_t done;
	uint64_t since;
};

/**
 * struct top_device - a device
 * @name: dm name
 * @number: of the device
 * @state: word for its state
 * @calm: it works as it should
 * @why: why it does not, for people
 * @mode: word for its mode
 * @time: when it was looked at, of the monotonic clock, nanoseconds
 * @span: nanoseconds since it was looked at before, 0: it was not; then what is of the last
 *	interval is all since it was loaded
 * @status: its numbers
 * @since: counters of the last interval
 * @latency: by enum latency_path, since 'nearcache latency' was loaded
 * @latency_since: of the last interval
 * @label: its labels, @labels of them
 * @labels: how many
 * @stream: its streams, @streams of them, in the order of their keys
 * @streams: how many
 * @job: its jobs, @jobs of them
 * @jobs: how many
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
 * struct top_model - all devices at a time
 * @wall: time of day, nanoseconds since 1970
 * @classifies: there are streams
 * @foreign: name of a classifier that tells no streams, "" if none is loaded
 * @measures: there are latencies
 * @device: devices, those that need somebody first, then by name
 * @devices: how many
 */
struct top_model {
	uint64_t wall;
	bool classifies;
	char foreign[16];
	bool measures;
	struct top_device *device;
	size_t devices;
};

struct top_device *model_device(const struct top_model *model, dev_t number);
const struct top_label *model_label(const struct top_device *device, uint32_t id);
void model_free(struct top_model *model);

#endif /* HELPER_TOP_MODEL_H */
