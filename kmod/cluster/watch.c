// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watch work of a cluster device finds peers that hang or are slow, probes those that failed,
 * and takes them back.  It runs a few times per second while peers are read, and while peers have
 * failed or are slow.
 *
 * A peer fails when its transport fails (read.c), when all reads of a run fail, or when reads are
 * in flight and none ends for stall_timeout.  Reads in flight stay there until the transport's
 * timers end them; only new reads avoid the peer.  A failed peer is probed, and taken back after
 * ANSWERS successive probes.  If it fails again soon after that, the pause between probes is
 * doubled.  A peer that is new is probed first, at once.
 *
 * A peer is slow when, for SLOW_TIME and in SLOW_RUNS runs with reads, it took more time for a
 * read than SLOW_PERCENT of the origin's time for a read alone, and its fastest read took more than
 * SLOW_PERCENT of that of most other peers.  (If all of them are slow, something here is: a busy
 * processor, say.)  The time for a read is that of the fastest one, or the time of the run divided
 * by the number of reads, if that is less: so queues of our own making do not count.  A slow peer
 * gets no reads but probes, which are as large as those of the origin, and is taken back after
 * FAST_ANSWERS successive ones that took at most FAST_PERCENT of the origin's time.
 */
#include <linux/random.h>

#include "cluster/cluster.h"

#define WATCH_PERIOD	(HZ / 4)
#define WATCH_PERIOD_NS	(NSEC_PER_SEC / 4)
/* Number of successive probes without an error after which a peer is taken back. */
#define ANSWERS		2
/* If at least this many reads of a peer end between two runs, all with errors, the peer fails. */
#define ERRORS		4
/* Pause between probes, and its limit: a peer is taken back within two pauses of its recovery. */
#define PAUSE_MIN	HZ
#define PAUSE_MAX	(8 * HZ)
/* A peer that fails within this time after it was taken back gets a longer pause. */
#define RELAPSE		(60 * HZ)
/* See above.  A peer within GRACE of the origin, in ns, is not slow: reads always vary a little. */
#define SLOW_RUNS	4
#define SLOW_TIME	HZ
#define SLOW_PERCENT	200
#define FAST_ANSWERS	3
#define FAST_PERCENT	125
#define GRACE		NSEC_PER_MSEC

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

/* Prepare the probes of a peer that failed or is slow. */
static void schedule_probes(struct nc_node *node)
{
	bool relapse = node->back_since && time_before(jiffies, node->back_since + RELAPSE);

	node->pause = relapse ? min_t(unsigned long, 2 * node->pause, PAUSE_MAX) : PAUSE_MIN;
	node->next_probe = jiffies + node->pause;
	node->answers = 0;
	node->probe.sent = false;
}

/* Tell the user, once, that a peer takes no reads, and why. */
static void tell_state(struct nc_node *node, int state)
{
	const struct nc_cluster *c = node->cluster;
	bool slow = state == NEARCACHE_PEER_SLOW;

	/* Report each state once; but report a failure also of a peer reported as slow. */
	if (node->told != NEARCACHE_PEER_UP && (slow || node->told != NEARCACHE_PEER_SLOW))
		return;
	node->told = slow ? NEARCACHE_PEER_SLOW : NEARCACHE_PEER_FAILED;
	schedule_probes(node);
	dm_table_event(c->ti->table);
	if (slow) {
		DMWARN("%s: node %s is slow (%llu us, origin %llu us): no reads until it is fast",
		       nc_cluster_name(c), node->name, div_u64(node->latency, NSEC_PER_USEC),
		       div_u64(c->pace.latency, NSEC_PER_USEC));
		return;
	}
	WRITE_ONCE(node->latency, 0);
	DMWARN("%s: node %s failed: its extents are read at other nodes until it answers again",
	       nc_cluster_name(c), node->name);
}

/* Send reads to the peer again.  Its probe is idle. */
static void take_back(struct nc_node *node, int from)
{
	node->seen_busy = false;
	node->slow_runs = 0;
	node->stalled_sector = NC_NO_SECTOR;
	WRITE_ONCE(node->back_at, ktime_get_ns());
	if (node->pause) {
		node->back_since = jiffies ?: 1;
		DMINFO("%s: node %s %s", nc_cluster_name(node->cluster), node->name,
		       from == NEARCACHE_PEER_SLOW ? "is fast again" : "answers again");
	}
	node->told = NEARCACHE_PEER_UP;
	nc_read_probe_trim(&node->probe, nc_node_block(node));
	nc_node_change(node, from, NEARCACHE_PEER_UP);
	dm_table_event(node->cluster->ti->table);
}

/* Does a peer with reads in flight answer none for stall_timeout?  The time begins with the first
 * run that finds a read in flight: @progress may be old if nothing was read.
 */
static bool peer_stalls(struct nc_node *node, const struct nc_node_load *load)
{
	u32 timeout = READ_ONCE(node->cluster->stall_timeout);

	if (load->ended != node->seen.ended || !node->seen_busy)
		node->progress = jiffies;
	node->seen_busy = load->begun != load->ended;
	return node->seen_busy && timeout &&
	       time_after(jiffies, node->progress + msecs_to_jiffies(timeout));
}

/* Learn from the reads that ended since the last run: the latency, and the size of reads. */
static void average_reads(struct nc_node *node, const struct nc_node_load *load)
{
	u64 count = load->ended - node->seen.ended, mean;

	if (!count)
		return;
	mean = div64_u64(load->took - node->seen.took, count);
	WRITE_ONCE(node->latency, node->latency ? node->latency -
		   node->latency / NC_AVERAGE_RUNS + mean / NC_AVERAGE_RUNS : mean);
	nc_pace_learn(node->cluster, load->sector, load->bytes - node->seen.bytes, count);
}

/* Is @took, in ns, more than @percent of the origin's time for a read, and not just by GRACE? */
static bool slower_than_origin(const struct nc_cluster *c, u64 took, u32 percent)
{
	u64 origin = nc_pace_latency(c);

	return origin < U64_MAX / 1000 && took > div_u64(origin * percent, 100) + GRACE;
}

/* Were most other peers that were read in the last second faster, or is there no such peer? */
static bool slower_than_peers(const struct nc_node *node)
{
	const struct nc_cluster *c = node->cluster;
	const struct nc_node_map *map = rcu_dereference_protected(c->map,
								  lockdep_is_held(&c->lock));
	const struct nc_node *other;
	u32 i, others = 0, faster = 0;

	for (i = 0; i < map->homes.count; i++) {
		other = map->node[i];
		if (other == node || READ_ONCE(other->state) != NEARCACHE_PEER_UP ||
		    !other->fastest || time_after(jiffies, other->fastest_at + HZ))
			continue;
		others++;
		faster += node->fastest > div_u64(other->fastest * SLOW_PERCENT, 100);
	}
	return 2 * faster >= others;
}

/* Was the peer slow in all runs with reads, for long enough, and was the origin measured meanwhile?
 */
static bool peer_is_slow(struct nc_node *node, const struct nc_node_load *load)
{
	u64 count = load->ended - node->seen.ended, took, fastest;

	fastest = nc_node_take_fastest(node);
	if (!count || fastest == U64_MAX)
		return false;
	node->fastest = fastest;
	node->fastest_at = jiffies;
	/* Reads that are larger than the largest probe count for as many probes as they contain. */
	count = max(count, div_u64(load->bytes - node->seen.bytes, NC_PROBE_BYTES));
	took = min(fastest, div64_u64(ktime_get_ns() - node->seen_at, count));
	if (!slower_than_origin(node->cluster, took, SLOW_PERCENT) || !slower_than_peers(node)) {
		node->slow_runs = 0;
		return false;
	}
	if (!node->slow_runs++)
		node->slow_since = jiffies;
	return node->slow_runs >= SLOW_RUNS &&
	       time_after(jiffies, node->slow_since + SLOW_TIME) &&
	       time_after(node->cluster->pace.measured, node->slow_since);
}

/* Count the answer of a probe that has ended. */
static void judge_probe(struct nc_node *node)
{
	int state = READ_ONCE(node->state);

	node->probe.sent = false;
	if (node->probe.error) {
		node->answers = 0;
		nc_node_change(node, state, NEARCACHE_PEER_FAILED);
		return;
	}
	if (state == NEARCACHE_PEER_SLOW) {
		if (slower_than_origin(node->cluster, node->probe.took, FAST_PERCENT))
			node->answers = 0;
		else if (++node->answers >= FAST_ANSWERS)
			take_back(node, state);
		return;
	}
	node->answers++;
	nc_node_change(node, NEARCACHE_PEER_FAILED, NEARCACHE_PEER_PROBING);
	if (node->answers >= ANSWERS)
		take_back(node, NEARCACHE_PEER_PROBING);
}

/* Choose the sector of the next probe: in turn the one that the peer did not answer, and any other
 * one.  A sector that got an error is no criterion: it may be bad at the origin, for all nodes.
 */
static sector_t probe_sector(struct nc_node *node)
{
	node->probes++;
	if (READ_ONCE(node->state) == NEARCACHE_PEER_SLOW)
		return nc_pace_place(node->cluster, node->seen.sector);
	if (node->stalled_sector != NC_NO_SECTOR && node->probes % 2)
		return node->stalled_sector;
	return get_random_u64() % bdev_nr_sectors(node->cluster->home->bdev);
}

/* Return the size of the next probe, 0 if there is no memory for it: then the next run tries. */
static u32 probe_size(struct nc_node *node, int state)
{
	u32 size = nc_node_block(node);

	/* Compared with a probe of the origin, so of the same size. */
	if (state == NEARCACHE_PEER_SLOW)
		size = max(size, node->cluster->pace.size);
	return nc_read_probe_reserve(&node->probe, size, GFP_NOWAIT | __GFP_NOWARN) ? size : 0;
}

/* Judge the probe that ended, and send the next one when it is due. */
static void drive_probe(struct nc_node *node)
{
	int state;
	u32 size;

	if (!nc_read_probe_idle(&node->probe))
		return;
	if (node->probe.sent)
		judge_probe(node);
	state = READ_ONCE(node->state);
	if (state == NEARCACHE_PEER_UP || time_before(jiffies, node->next_probe))
		return;
	size = probe_size(node, state);
	if (!size)
		return;
	/* A new peer has no pause until a probe fails. */
	if (node->probe.error)
		node->pause = max_t(unsigned long, node->pause, PAUSE_MIN);
	node->next_probe = jiffies + node->pause;
	nc_node_probe(node, probe_sector(node), size);
}

/* Did at least ERRORS reads end since the last run, all of them with errors? */
static bool only_errors(const struct nc_node *node, const struct nc_node_load *load)
{
	u64 errors = load->errors - node->seen.errors;

	return errors >= ERRORS && errors >= load->ended - node->seen.ended;
}

/* Find out whether a peer that takes reads has failed or is slow. */
static void judge_peer(struct nc_node *node, const struct nc_node_load *load)
{
	bool stalls = peer_stalls(node, load);

	if (stalls || only_errors(node, load)) {
		if (stalls)
			node->stalled_sector = load->sector;
		nc_node_change(node, NEARCACHE_PEER_UP, NEARCACHE_PEER_FAILED);
	} else if (peer_is_slow(node, load)) {
		nc_node_change(node, NEARCACHE_PEER_UP, NEARCACHE_PEER_SLOW);
	}
	average_reads(node, load);
}

/* Watch one peer.  Returns false if it is idle and nothing is wrong.  Sets @compare if the origin
 * must be measured for a comparison with this peer.
 */
static bool watch_peer(struct nc_node *node, bool *compare)
{
	struct nc_node_load load = nc_node_sum(node);
	u64 now = ktime_get_ns();
	int state;

	/* The end of a probe may have queued this run early: a short time tells little. */
	if (now - node->seen_at >= WATCH_PERIOD_NS / 2) {
		if (READ_ONCE(node->state) == NEARCACHE_PEER_UP)
			judge_peer(node, &load);
		node->seen = load;
		node->seen_at = now;
	}
	state = READ_ONCE(node->state);
	*compare |= state == NEARCACHE_PEER_SLOW || node->slow_runs;
	if (state == NEARCACHE_PEER_UP)
		return load.begun != load.ended;
	tell_state(node, state);
	drive_probe(node);
	return true;
}

/* Watch all peers.  Returns false if all are idle and nothing is wrong. */
static bool watch_peers(struct nc_cluster *c)
{
	struct nc_node_map *map;
	bool busy = false, compare = false;
	u32 i;

	mutex_lock(&c->lock);
	map = rcu_dereference_protected(c->map, lockdep_is_held(&c->lock));
	for (i = 0; map && i < map->homes.count; i++)
		if (map->node[i]->dev)
			busy |= watch_peer(map->node[i], &compare);
	nc_pace_measure(c, busy, compare);
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
