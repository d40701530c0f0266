/* SPDX-License-Identifier: GPL-2.0-only */
/* A node of a cluster: the local node, or a peer with the device at which its cache is read. */
#ifndef NEARCACHE_CLUSTER_NODE_H
#define NEARCACHE_CLUSTER_NODE_H

#include <linux/bio.h>
#include <linux/percpu-refcount.h>
#include <linux/workqueue.h>

#include "core/bio.h"
#include "cluster/read_probe.h"
#include "nearcache_cluster.h"

struct dm_dev;
struct nc_cluster;

#define NC_NO_SECTOR	((sector_t)-1)
/* A size and a duration of reads are averaged over about this many runs of the watch work. */
#define NC_AVERAGE_RUNS	8

/**
 * struct nc_node_load - per-CPU counters of a node; a read may begin and end on different CPUs
 * @begun: reads sent
 * @ended: reads answered
 * @bytes: bytes read without an error
 * @errors: reads that failed, and were sent to another home
 * @took: sum of the durations of the reads in @ended, ns; not counted for the local node
 * @fastest: duration of the fastest read since the watch work set it to U64_MAX, ns, for each
 *	NC_PROBE_BYTES
 * @last: ktime in ns when the last read was sent
 * @sector: its sector
 */
struct nc_node_load {
	u64 begun;
	u64 ended;
	u64 bytes;
	u64 errors;
	u64 took;
	u64 fastest;
	u64 last;
	sector_t sector;
};

/**
 * struct nc_node - a node
 * @name: unique in the cluster
 * @key: nearcache_cluster_key() of the name
 * @dev: device at which the local node reads the peer's cache; NULL: it is the local node, or an
 *	absent peer
 * @cluster: cluster device that the node belongs to
 * @state: enum nearcache_peer_state; changed in any context by cmpxchg()
 * @reads: reads and probes in flight; killed when the node leaves
 * @load: counters
 * @retry: reads that failed elsewhere, to be sent to the node
 * @back_at: ktime in ns when the peer was last taken back; errors of earlier reads do not count
 * @gone: releases the node after the last read
 *
 * Only the watch work changes the other fields, under nc_cluster.lock:
 * @probe: finds out whether a failed peer answers again, and whether a slow one is fast again
 * @seen: counters at the last run
 * @seen_at: ktime in ns of the last run
 * @seen_busy: reads were in flight at the last run
 * @progress: jiffies of the last run that found @ended changed, or nothing in flight before
 * @next_probe: jiffies of the next probe
 * @back_since: jiffies when the peer was last taken back; 0: never
 * @pause: jiffies between probes
 * @probes: number of probes
 * @answers: number of successive probes without an error, of a slow peer also fast ones
 * @fastest: the fastest read of the last run with reads, see struct nc_node_load; 0: none
 * @fastest_at: jiffies of that run
 * @slow_runs: number of successive runs with reads in which the peer was slower than the
 *	origin and the other peers
 * @slow_since: jiffies of the first of them
 * @stalled_sector: sector of a read that the peer did not answer; NC_NO_SECTOR: none
 * @told: the state that was last reported to the kernel log.  A new peer is not reported
 * @latency: moving average of the duration of a read, ns; 0: unknown.  Read without the lock
 */
struct nc_node {
	char name[NEARCACHE_CLUSTER_NAME_MAX + 1];
	u64 key;
	struct dm_dev *dev;
	struct nc_cluster *cluster;
	int state;
	struct percpu_ref reads;
	struct nc_node_load __percpu *load;
	struct nc_retry retry;
	u64 back_at;
	struct work_struct gone;

	struct nc_read_probe probe;
	struct nc_node_load seen;
	u64 seen_at;
	bool seen_busy;
	unsigned long progress;
	unsigned long next_probe;
	unsigned long back_since;
	unsigned long pause;
	u64 probes;
	u32 answers;
	u64 fastest;
	unsigned long fastest_at;
	u32 slow_runs;
	unsigned long slow_since;
	sector_t stalled_sector;
	int told;
	u64 latency;
};

struct nc_node *nc_node_new(struct nc_cluster *c, const char *name);
int nc_node_open(struct nc_node *node, const char *path);
u32 nc_node_block(const struct nc_node *node);
void nc_node_leave(struct nc_node *node);
void nc_node_fail(struct nc_node *node, u64 begun);
bool nc_node_change(struct nc_node *node, int from, int to);
void nc_node_probe(struct nc_node *node, sector_t sector, u32 bytes);
struct nc_node_load nc_node_sum(const struct nc_node *node);
u64 nc_node_take_fastest(const struct nc_node *node);

#endif /* NEARCACHE_CLUSTER_NODE_H */
