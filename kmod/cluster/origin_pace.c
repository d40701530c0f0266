// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long the origin takes for a read, so that a peer that is slower than the origin is found.
 *
 * The watch work reads the origin itself, past all caches, at random places, with the size that
 * readers use: once per second while a peer seems slow, otherwise one byte for PART bytes that are
 * read at peers, so that the origin has next to nothing to do.  A reader never waits for these
 * reads, and an origin that does not answer counts as slower from then on.
 */
#include <linux/blkdev.h>
#include <linux/ktime.h>

#include "core/compat.h"
#include "cluster/cluster.h"

#define PERIOD HZ
#define PART		256
/* The moving average of the durations is over about this many reads. */
#define PACE_READS 4

static void pace_probe_ended(struct nc_read_probe *probe)
{
	struct nc_cluster *c =
		container_of(probe, struct nc_cluster, pace.probe);

	nc_watch_soon(c);
	nc_cluster_put(c);
}

/**
 * nc_pace_init() - prepare to measure the origin
 * @c: cluster device whose origin is open
 *
 * Context: constructor.  Return: 0, or -ENOMEM.
 */
int nc_pace_init(struct nc_cluster *c)
{
	struct nc_origin_pace *pace = &c->pace;

	nc_read_probe_init(&pace->probe, c->origin->bdev, 0, pace_probe_ended);
	pace->size = min_t(u64, NC_PROBE_BYTES, bdev_nr_bytes(c->origin->bdev));
	pace->next = jiffies;
	return nc_read_probe_reserve(&pace->probe, NC_PROBE_BYTES, GFP_KERNEL) ?
		       0 :
		       -ENOMEM;
}

/* Take the result of the read that has ended. */
static void judge_origin(struct nc_origin_pace *pace)
{
	u64 mean = pace->latency;

	pace->probe.sent = false;
	pace->failed = pace->probe.error;
	if (pace->failed)
		return;
	pace->measured = jiffies;
	pace->last = pace->probe.took;
	mean = mean ? mean - mean / PACE_READS + pace->last / PACE_READS : pace->last;
	WRITE_ONCE(pace->latency, mean);
}

/**
 * nc_pace_measure() - measure the origin, if it is time to
 * @c: cluster device
 * @wanted: peers are read, or seem slow
 * @urgent: peers are slow or seem so
 *
 * Context: the watch work, under nc_cluster.lock.
 */
void nc_pace_measure(struct nc_cluster *c, bool wanted, bool urgent)
{
	struct nc_origin_pace *pace = &c->pace;

	if (!nc_read_probe_idle(&pace->probe))
		return;
	if (pace->probe.sent)
		judge_origin(pace);
	if (!wanted || time_before(jiffies, pace->next))
		return;
	if (!urgent && pace->latency && pace->bytes < (u64)PART * pace->size)
		return;
	pace->next = jiffies + PERIOD;
	pace->bytes = 0;
	atomic_inc(&c->users);
	nc_read_probe_send(&pace->probe, c->queue, NC_NO_SECTOR,
			   max(pace->size, bdev_logical_block_size(c->origin->bdev)));
}

/**
 * nc_pace_learn() - learn from reads of a peer
 * @c: cluster device
 * @bytes: bytes that were read at the peer since the last run
 * @reads: number of these reads, not 0
 *
 * Context: the watch work, under nc_cluster.lock.
 */
void nc_pace_learn(struct nc_cluster *c, u64 bytes, u64 reads)
{
	u32 size = min_t(u64, div64_u64(bytes, reads), NC_PROBE_BYTES);

	c->pace.bytes += bytes;
	c->pace.size += ((int)size - (int)c->pace.size) / NC_AVERAGE_RUNS;
}

/**
 * nc_pace_latency() - how long does the origin take for a read?
 * @c: cluster device
 *
 * Context: the watch work, under nc_cluster.lock.
 * Return: ns; U64_MAX if this is unknown or the origin returns errors, as any peer is better then.
 */
u64 nc_pace_latency(const struct nc_cluster *c)
{
	const struct nc_origin_pace *pace = &c->pace;

	if (!pace->latency || pace->failed)
		return U64_MAX;
	/* The mean is late if the origin has just become slower. */
	return max3(pace->latency, pace->last, nc_read_probe_age(&pace->probe));
}
