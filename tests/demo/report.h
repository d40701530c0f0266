/* SPDX-License-Identifier: GPL-2.0-only */
/* The measurements that the guest made, for the parts of the report. */
#ifndef DEMO_REPORT_H
#define DEMO_REPORT_H

#include <stddef.h>
#include <stdint.h>

#define EPOCHS_MAX	64

/**
 * struct epoch - one pass over the dataset
 * @number: number of the epoch, from 1
 * @seconds: from the first read to the last step
 * @bytes: delivered to the trainer
 * @stall: seconds that the trainer waited for a batch
 * @steps: number of batches
 * @samples: number of samples
 * @served: bytes read from the mounted device, by the block statistics of that device
 * @origin: bytes read from the origin, by the block statistics of the origin
 * @hits: bytes served by the cache device
 * @misses: bytes of reads that started a fill
 * @joins: bytes of reads that waited for a fill in flight
 * @bypass: bytes of reads that bypassed the cache
 */
struct epoch {
	uint64_t number;
	double seconds;
	uint64_t bytes;
	double stall;
	uint64_t steps;
	uint64_t samples;
	uint64_t served;
	uint64_t origin;
	uint64_t hits;
	uint64_t misses;
	uint64_t joins;
	uint64_t bypass;
};

/**
 * struct point - progress inside a run
 * @seconds: time since the start of the run, without the pauses between epochs
 * @bytes: bytes delivered since the start of the run
 */
struct point {
	double seconds;
	double bytes;
};

struct run {
	const char *label;
	struct epoch epochs[EPOCHS_MAX];
	size_t count;
	struct point *points;
	size_t point_count;
};

/**
 * struct report - all measurements
 * @cached: the epochs with the cache
 * @uncached: the same epochs without the cache
 * @verify: the pass through the cache that checked every SHA-256
 * @rebooted: a second pass like @verify, after the reboot
 * @dataset: bytes of all shards
 * @shards: number of shards
 * @blocks: blocks that the cache device has room for
 * @block_size: bytes of a block
 * @blocks_used: cached blocks before the reboot
 * @blocks_warm: cached blocks that the load after the reboot found
 * @latency_us: latency added to the remote volume, microseconds
 * @rate_mbps: bandwidth limit of the remote volume, 10^6 bytes per second
 */
struct report {
	struct run cached;
	struct run uncached;
	struct run verify;
	struct run rebooted;
	uint64_t dataset;
	uint64_t shards;
	uint64_t blocks;
	uint64_t block_size;
	uint64_t blocks_used;
	uint64_t blocks_warm;
	uint64_t latency_us;
	uint64_t rate_mbps;
};

static inline double cache_fraction(const struct report *report)
{
	return (double)(report->blocks * report->block_size) / report->dataset;
}

static inline double hit_ratio(const struct epoch *epoch)
{
	uint64_t all = epoch->hits + epoch->misses + epoch->joins +
		       epoch->bypass;

	return all ? (double)epoch->hits / all : 0;
}

static inline double stall_ratio(const struct epoch *epoch)
{
	return epoch->seconds > 0 ? epoch->stall / epoch->seconds : 0;
}

static inline double warm_ratio(const struct report *report)
{
	return report->blocks_used ?
	       (double)report->blocks_warm / report->blocks_used : 0;
}

/*
 * Load the files facts, epochs and timeline of folder @dir, and the manifest. Exits with a message
 * if a file or value is missing or malformed.
 */
void report_load(struct report *report, const char *dir, const char *manifest);

/* Draw the throughput over time to @path; returns 0, or -1 with errno set. */
int report_svg(const struct report *report, const char *path);

/* Print the verdict on each promise, one line each; returns the number of promises missed. */
unsigned int report_checks(const struct report *report);

#endif /* DEMO_REPORT_H */
