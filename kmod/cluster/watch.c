// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watch work of a cluster device finds peers that hang, probes those that failed, and takes
 * them back.  It runs a few times per second while reads are in flight or peers have failed.
 *
 * A peer fails when its transport fails (read.c), when all reads of a run fail, or when reads are
 * in flight and none ends for stall_timeout.  Reads in flight stay there until the transport's
 * timers end them; only new reads avoid the peer.  A failed peer is probed, and taken back after
 * ANSWERS successive probes.  If it fails again soon after that, the pause between probes is
 * doubled.  A peer that is new is probed first, at once.
 */
#include "cluster/cluster.h"

#define WATCH_PERIOD	(HZ / 4)
/* Number of successive probes without an error after which a peer is taken back. */
#define ANSWERS		2
/* If at least this many reads of a peer end between two runs, all with errors, the peer fails. */
#define ERRORS		4
/* Pause between probes, and its limit: a peer is taken back within two pauses of its recovery. */
#define PAUSE_MIN	HZ
#define PAUSE_MAX	(8 * HZ)
/* A peer that fails within this time after it was taken back gets a longer pause. */
#define RELAPSE		(60 * HZ)
/* The moving average is over about this many runs of the watch work. */
#define LATENCY_RUNS	8

static void queue_watch(struct nc_cluster *c, unsigned long delay)
{
	unsigned long flags;

	spin_lock_irqsave(&c->watch_lock, flags);
	if (c->live) {
		WRITE_ONCE(c->watching, true);
		/* A run that is due earlier stays due then. */
		if (delay)
			queue_delayed_work(c->own_queue, &c->watch, delay);
		else
			mod_delayed_work(c->own_queue, &c->watch, 0);
	}
	spin_unlock_irqrestore(&c->watch_lock, flags);
}

/* Run the watch work as soon as possible.  Context: any. */
void nc_watch_soon(struct nc_cluster *c)
{
	queue_watch(c, 0);
}

/* Run the watch work soon, because the first read after a pause was sent.  Context: any. */
void nc_watch_wake(struct nc_cluster *c)
{
	queue_watch(c, WATCH_PERIOD);
}

/* Prepare the probes of a peer that failed, and tell the user. */
static void peer_failed(struct nc_node *node)
{
	bool relapse = node->back_since && time_before(jiffies, node->back_since + RELAPSE);

	node->pause = relapse ? min_t(unsigned long, 2 * node->pause, PAUSE_MAX) : PAUSE_MIN;
	node->next_probe = jiffies + node->pause;
	node->answers = 0;
	node->probe.sent = false;
	node->told_failed = true;
	WRITE_ONCE(node->latency, 0);
	DMWARN("%s: node %s failed: its extents are read at other nodes until it answers again",
	       nc_cluster_name(node->cluster), node->name);
}

/* Send reads to the peer again. */
static void take_back(struct nc_node *node)
{
	node->seen_busy = false;
	node->stalled_sector = NC_NO_SECTOR;
	node->told_failed = false;
	WRITE_ONCE(node->back_at, ktime_get_ns());
	if (node->pause) {
		node->back_since = jiffies ?: 1;
		DMINFO("%s: node %s answers again", nc_cluster_name(node->cluster), node->name);
	}
	nc_node_change(node, NEARCACHE_PEER_PROBING, NEARCACHE_PEER_UP);
}

/* Does a peer with reads in flight answer none for stall_timeout?  The time begins with the first
 * run that finds a read in flight: @progress may be old if nothing was read.
 */
static bool peer_stalls(struct nc_node *node, const struct nc_node_load *load)
{
	if (load->ended != node->seen_ended || !node->seen_busy)
		node->progress = jiffies;
	node->seen_busy = load->begun != load->ended;
	if (!node->seen_busy)
		return false;
	return node->cluster->stall_timeout &&
	       time_after(jiffies, node->progress + msecs_to_jiffies(node->cluster->stall_timeout));
}

static void average_latency(struct nc_node *node, const struct nc_node_load *load)
{
	u64 count = load->ended - node->seen_ended, mean;

	if (!count)
		return;
	mean = div64_u64(load->took - node->seen_took, count);
	WRITE_ONCE(node->latency, node->latency ?
		   node->latency - node->latency / LATENCY_RUNS + mean / LATENCY_RUNS : mean);
}

/* Count the answer of a probe that has ended. */
static void judge_probe(struct nc_node *node)
{
	node->probe.sent = false;
	if (node->probe.error) {
		node->answers = 0;
		nc_node_change(node, NEARCACHE_PEER_PROBING, NEARCACHE_PEER_FAILED);
		return;
	}
	node->answers++;
	nc_node_change(node, NEARCACHE_PEER_FAILED, NEARCACHE_PEER_PROBING);
	if (node->answers >= ANSWERS)
		take_back(node);
}

/* Choose the sector of the next probe: in turn the one that the peer did not answer, and any other
 * one.  A sector that got an error is no criterion: it may be bad at the origin, for all nodes.
 */
static sector_t probe_sector(struct nc_node *node)
{
	node->probes++;
	if (node->stalled_sector != NC_NO_SECTOR && node->probes % 2)
		return node->stalled_sector;
	return nearcache_cluster_mix(node->probes) % (bdev_nr_sectors(node->cluster->home->bdev) -
						      (node->probe.size >> SECTOR_SHIFT) + 1);
}

/* Judge the probe that ended, and send the next one when it is due. */
static void drive_probe(struct nc_node *node)
{
	/* Pairs with the completion of the probe. */
	if (smp_load_acquire(&node->probe.busy))
		return;
	if (node->probe.sent)
		judge_probe(node);
	if (READ_ONCE(node->state) == NEARCACHE_PEER_UP || time_before(jiffies, node->next_probe))
		return;
	/* A new peer has no pause until a probe fails. */
	if (node->probe.error)
		node->pause = max_t(unsigned long, node->pause, PAUSE_MIN);
	node->next_probe = jiffies + node->pause;
	node->probe.sent = true;
	nc_node_probe(node, probe_sector(node));
}

/* Did at least ERRORS reads end since the last run, all of them with errors? */
static bool only_errors(const struct nc_node *node, const struct nc_node_load *load)
{
	u64 errors = load->errors - node->seen_errors;

	return errors >= ERRORS && errors >= load->ended - node->seen_ended;
}

/* Find out whether a peer that takes reads has failed. */
static void judge_peer(struct nc_node *node, const struct nc_node_load *load)
{
	bool stalls = peer_stalls(node, load);

	if (!stalls && !only_errors(node, load))
		return;
	if (stalls)
		node->stalled_sector = load->sector;
	nc_node_change(node, NEARCACHE_PEER_UP, NEARCACHE_PEER_FAILED);
}

/* Watch one peer.  Returns false if it is idle and nothing is wrong. */
static bool watch_peer(struct nc_node *node)
{
	struct nc_node_load load = nc_node_sum(node);

	if (READ_ONCE(node->state) == NEARCACHE_PEER_UP) {
		judge_peer(node, &load);
		average_latency(node, &load);
	}
	node->seen_ended = load.ended;
	node->seen_took = load.took;
	node->seen_errors = load.errors;
	if (READ_ONCE(node->state) == NEARCACHE_PEER_UP)
		return load.begun != load.ended;
	if (!node->told_failed)
		peer_failed(node);
	drive_probe(node);
	return true;
}

/* Watch all peers.  Returns false if all are idle and nothing is wrong. */
static bool watch_peers(struct nc_cluster *c)
{
	struct nc_node_map *map;
	bool busy = false;
	u32 i;

	mutex_lock(&c->lock);
	map = rcu_dereference_protected(c->map, lockdep_is_held(&c->lock));
	for (i = 0; map && i < map->homes.count; i++)
		if (map->node[i]->dev)
			busy |= watch_peer(map->node[i]);
	mutex_unlock(&c->lock);
	return busy;
}

/* If a read begins just when the work finds nothing in flight, the next read wakes the work. */
static void watch_run(struct work_struct *work)
{
	struct nc_cluster *c = container_of(to_delayed_work(work), struct nc_cluster, watch);

	if (watch_peers(c))
		queue_watch(c, WATCH_PERIOD);
	else
		WRITE_ONCE(c->watching, false);
}

void nc_watch_init(struct nc_cluster *c)
{
	spin_lock_init(&c->watch_lock);
	INIT_DELAYED_WORK(&c->watch, watch_run);
}

/* Start the watch work.  Context: process; the table becomes live. */
void nc_watch_start(struct nc_cluster *c)
{
	spin_lock_irq(&c->watch_lock);
	c->live = true;
	spin_unlock_irq(&c->watch_lock);
	nc_watch_soon(c);
}

/* Stop the watch work and wait until it does not run.  Context: process. */
void nc_watch_stop(struct nc_cluster *c)
{
	spin_lock_irq(&c->watch_lock);
	c->live = false;
	spin_unlock_irq(&c->watch_lock);
	cancel_delayed_work_sync(&c->watch);
}
