/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cluster device: one node's view of the nodes that cache a shared origin for each other.
 *
 * Reads of an extent go to its home, a node: to the local cache, or over NVMe-oF to that of a peer.
 * The device keeps no data, and only the cache of a node is exported to its peers, so that no read
 * travels in a circle.  kmod/doc/cluster.md describes the whole.
 */
#ifndef NEARCACHE_CLUSTER_CLUSTER_H
#define NEARCACHE_CLUSTER_CLUSTER_H

#include <linux/device-mapper.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include "cluster/budget.h"
#include "cluster/node.h"
#include "cluster/route.h"

#define DM_MSG_PREFIX "nearcache-peers"

/**
 * struct nc_node_map - the nodes at one time; replaced as a whole
 * @self: index of the local node
 * @node: the nodes
 * @homes: their keys and weights, in the same order
 */
struct nc_node_map {
	u32 self;
	struct nc_node *node[NEARCACHE_CLUSTER_NODES_MAX];
	struct nc_homes homes;
};

/**
 * struct nc_node_wish - a node as a user gives it
 * @name: name
 * @weight: relative size of its cache, as text
 * @path: device, or "-" for the local node and absent peers
 */
struct nc_node_wish {
	const char *name;
	const char *weight;
	const char *path;
};

/**
 * struct nc_origin_pace - how long the origin takes for a read, for comparison with the peers
 * @probe: reads the origin alone, past all caches, with the size that readers use
 * @next: jiffies of the next probe, at the earliest
 * @sector: a sector that was read at a peer lately
 * @bytes: bytes that were read at peers since the last probe
 * @size: moving average of the size of reads at peers, bytes; at most NC_PROBE_BYTES
 * @measured: jiffies when the last probe ended without an error
 * @last: duration of that probe, ns
 * @latency: moving average of the durations, ns; 0: unknown.  Read without the lock
 * @failed: the last probe got an error
 *
 * Only the watch work changes it, under nc_cluster.lock.
 */
struct nc_origin_pace {
	struct nc_read_probe probe;
	unsigned long next;
	sector_t sector;
	u64 bytes;
	u32 size;
	unsigned long measured;
	u64 last;
	u64 latency;
	bool failed;
};

/**
 * struct nc_cluster - a table of the target nearcache-peers
 * @ti: the dm target
 * @home: cache of the local node
 * @origin: the shared volume
 * @extent_shift: log2 of an extent, in sectors
 * @replicas: number of homes of an extent
 * @stall_timeout: milliseconds without a completion after which a peer counts as failed.  Read
 *	and written without a lock
 * @map: the nodes.  Readers hold the RCU read lock; replaced under @lock
 * @change_lock: serialises changes of the nodes; held while devices are opened; before @lock
 * @lock: protects @map; the watch work holds it
 * @queue: runs retries at peers and probes, which wait for a peer that hangs
 * @own_queue: runs retries at the local cache, the watch work and the release of nodes.  None of
 *	them waits for a peer, even if no memory is left for another worker
 * @watch: see watch.c
 * @watch_lock: protects @live; taken from I/O completion
 * @live: the table is live, so that @watch may be queued
 * @watching: @watch is queued; a hint for readers
 * @pace: see struct nc_origin_pace
 * @budget: see struct nc_budget
 * @users: number of nodes that exist and of probes of the origin in flight, and one for the table
 * @no_users: complete when @users is 0
 */
struct nc_cluster {
	struct dm_target *ti;
	struct dm_dev *home;
	struct dm_dev *origin;
	u8 extent_shift;
	u32 replicas;
	u32 stall_timeout;
	struct nc_node_map __rcu *map;
	struct mutex change_lock;	/* see above */
	struct mutex lock;	/* protects map */
	struct workqueue_struct *queue;
	struct workqueue_struct *own_queue;
	struct delayed_work watch;
	spinlock_t watch_lock;	/* protects live */
	bool live;
	bool watching;
	struct nc_origin_pace pace;
	struct nc_budget budget;
	atomic_t users;
	struct completion no_users;
};

/**
 * struct nc_cluster_io - per-bio data
 * @node: the peer that the read was sent to, NULL if it was sent to the local node's cache.  The
 *	read holds @node->reads
 * @begun: ktime in ns when the read was sent; while it waits for the budget, when it may be sent
 * @first_key: key of the node that the read was sent to first
 * @iter: bi_iter of the read at map, for nc_bio_restore()
 * @flags: bi_flags of the read at map
 */
struct nc_cluster_io {
	struct nc_node *node;
	u64 begun;
	u64 first_key;
	struct bvec_iter iter;
	unsigned short flags;
};

/* Name of the dm device, for messages. */
static inline const char *nc_cluster_name(const struct nc_cluster *c)
{
	return dm_device_name(dm_table_get_md(c->ti->table));
}

/* Number of the dm device, for trace events. */
static inline dev_t nc_cluster_devt(const struct nc_cluster *c)
{
	return disk_devt(dm_disk(dm_table_get_md(c->ti->table)));
}

bool nc_cluster_usable(const struct nc_homes *homes, u32 index);
int nc_cluster_read_map(struct nc_cluster *c, struct bio *bio);
void nc_cluster_send(struct nc_cluster *c, struct bio *bio);
int nc_cluster_read_end(struct nc_cluster *c, struct bio *bio, blk_status_t *error);
void nc_cluster_retry_work(struct work_struct *work);

int nc_cluster_set_nodes(struct nc_cluster *c, const struct nc_node_wish *wishes, u32 count,
			 const char *self, const char **error, const char **bad);
void nc_cluster_drop_nodes(struct nc_cluster *c);

void nc_watch_init(struct nc_cluster *c);
void nc_watch_start(struct nc_cluster *c);
void nc_watch_stop(struct nc_cluster *c);
void nc_watch_soon(struct nc_cluster *c);
void nc_watch_wake(struct nc_cluster *c);

int nc_pace_init(struct nc_cluster *c);
void nc_pace_measure(struct nc_cluster *c, bool wanted, bool urgent);
void nc_pace_learn(struct nc_cluster *c, sector_t sector, u64 bytes, u64 reads);
sector_t nc_pace_place(const struct nc_cluster *c, sector_t sector);
u64 nc_pace_latency(const struct nc_cluster *c);

void nc_cluster_put(struct nc_cluster *c);
int nc_cluster_parse(struct nc_cluster *c, unsigned int argc, char **argv);
int nc_cluster_message(struct nc_cluster *c, unsigned int argc, char **argv);
void nc_cluster_print(struct nc_cluster *c, char *result, size_t room);
void nc_cluster_status(struct nc_cluster *c, char *result, size_t room);

#endif /* NEARCACHE_CLUSTER_CLUSTER_H */
