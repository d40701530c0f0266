// SPDX-License-Identifier: GPL-2.0-only
/* Nodes of a cluster: their devices, states, counters and probes. */
#include <linux/blkdev.h>
#include <linux/slab.h>

#include "core/compat.h"
#include "core/tracepoints.h"
#include "cluster/cluster.h"

/* Context: any; the last read or probe of a node that has left ended. */
static void reads_ended(struct percpu_ref *ref)
{
	struct nc_node *node = container_of(ref, struct nc_node, reads);

	queue_work(node->cluster->own_queue, &node->gone);
}

static void node_free(struct nc_node *node)
{
	struct nc_cluster *c = node->cluster;

	nc_read_probe_trim(&node->probe, 0);
	if (node->dev)
		dm_put_device(c->ti, node->dev);
	percpu_ref_exit(&node->reads);
	free_percpu(node->load);
	kfree(node);
	nc_cluster_put(c);
}

static void node_gone(struct work_struct *work)
{
	struct nc_node *node = container_of(work, struct nc_node, gone);

	/* All retries have been sent, but the work may still run, or run once more for nothing.  Do
	 * not flush: if no memory is left for a worker, the queue's rescuer runs this function.
	 */
	cancel_work_sync(&node->retry.work);
	node_free(node);
}

static void node_probe_ended(struct nc_read_probe *probe)
{
	struct nc_node *node = container_of(probe, struct nc_node, probe);

	nc_watch_soon(node->cluster);
	percpu_ref_put(&node->reads);
}

/**
 * nc_node_probe() - begin to read a part of a peer
 * @node: peer in the map; its probe is idle, and has memory for @bytes
 * @sector: sector that is read
 * @bytes: size of the read
 *
 * Context: the watch work, under nc_cluster.lock.
 */
void nc_node_probe(struct nc_node *node, sector_t sector, u32 bytes)
{
	percpu_ref_get(&node->reads);
	nc_read_probe_send(&node->probe, node->cluster->queue, sector, bytes);
}

/**
 * nc_node_new() - create a node that is absent
 * @c: cluster device
 * @name: unique name, at most NEARCACHE_CLUSTER_NAME_MAX bytes
 *
 * Context: process; may sleep.
 * Return: the node, or NULL if there is no memory.
 */
struct nc_node *nc_node_new(struct nc_cluster *c, const char *name)
{
	struct nc_node *node = kzalloc(sizeof(*node), GFP_KERNEL);

	if (!node)
		return NULL;
	node->load = alloc_percpu(struct nc_node_load);
	if (!node->load)
		goto no_load;
	if (percpu_ref_init(&node->reads, reads_ended, 0, GFP_KERNEL))
		goto no_ref;
	nc_node_take_fastest(node);
	strscpy(node->name, name, sizeof(node->name));
	node->key = nearcache_cluster_key(name, strlen(name));
	node->cluster = c;
	node->state = NEARCACHE_PEER_ABSENT;
	nc_retry_init(&node->retry, nc_cluster_retry_work);
	INIT_WORK(&node->gone, node_gone);
	atomic_inc(&c->users);
	return node;
no_ref:
	free_percpu(node->load);
no_load:
	kfree(node);
	return NULL;
}

/* Return the size in bytes of a probe that finds out whether the peer answers: the same on all
 * nodes, whatever their size of pages.
 */
u32 nc_node_block(const struct nc_node *node)
{
	return max(4096U, bdev_logical_block_size(node->dev->bdev));
}

/* Is the peer's device one that the local node's reads can be sent to?  Logs the reason if not. */
static int check_peer(const struct nc_node *node)
{
	struct block_device *bdev = node->dev->bdev, *home = node->cluster->home->bdev;
	const char *name = nc_cluster_name(node->cluster);

	if (!bdev_nr_bytes(bdev)) {
		DMERR("%s: device %s of node %s is gone: give '-' first, then the new device",
		      name, node->dev->name, node->name);
		return -ENXIO;
	}
	if (bdev_nr_bytes(bdev) != bdev_nr_bytes(home)) {
		DMERR("%s: device %s of node %s has %llu bytes, not %llu: it is another volume",
		      name, node->dev->name, node->name, (u64)bdev_nr_bytes(bdev),
		      (u64)bdev_nr_bytes(home));
		return -EINVAL;
	}
	if (bdev_is_zoned(bdev) || bdev_dma_alignment(bdev) > bdev_dma_alignment(home)) {
		DMERR("%s: device %s of node %s is zoned, or wants memory aligned to %u, not %u",
		      name, node->dev->name, node->name, bdev_dma_alignment(bdev) + 1,
		      bdev_dma_alignment(home) + 1);
		return -EINVAL;
	}
	if (bdev_nr_bytes(bdev) < nc_node_block(node)) {
		DMERR("%s: device %s of node %s is smaller than %u bytes", name,
		      node->dev->name, node->name, nc_node_block(node));
		return -EINVAL;
	}
	if (bdev_logical_block_size(bdev) > bdev_logical_block_size(home)) {
		DMERR("%s: device %s of node %s has logical blocks of %u bytes, not %u",
		      name, node->dev->name, node->name, bdev_logical_block_size(bdev),
		      bdev_logical_block_size(home));
		return -EINVAL;
	}
	return 0;
}

/**
 * nc_node_open() - open the device of a peer
 * @node: absent node, in no map
 * @path: device
 *
 * Context: process; may sleep.
 * Return: 0; -EINVAL or -ENXIO if the device cannot serve, and the log has the reason; or the error
 *	of opening it.  After an error the caller frees the node.
 */
int nc_node_open(struct nc_node *node, const char *path)
{
	int r = dm_get_device(node->cluster->ti, path, NC_MODE_READ, &node->dev);

	if (r) {
		node->dev = NULL;
		return r;
	}
	r = check_peer(node);
	if (r)
		return r;
	nc_read_probe_init(&node->probe, node->dev->bdev, node_probe_ended);
	if (!nc_read_probe_reserve(&node->probe, nc_node_block(node), GFP_KERNEL))
		return -ENOMEM;
	/* Reads are sent to the peer after it has answered probes. */
	node->state = NEARCACHE_PEER_PROBING;
	node->stalled_sector = NC_NO_SECTOR;
	node->told = NEARCACHE_PEER_PROBING;
	node->next_probe = jiffies;
	return 0;
}

/**
 * nc_node_leave() - release a node that is in no map
 * @node: node; no caller of rcu_read_lock() has it any more, except through its reads in flight
 *
 * A work frees the node after its last read.  nc_cluster.no_users tells when all are free.
 */
void nc_node_leave(struct nc_node *node)
{
	percpu_ref_kill(&node->reads);
}

/* Change the state if it is @from.  Returns false if it is another one.  Context: any. */
bool nc_node_change(struct nc_node *node, int from, int to)
{
	if (cmpxchg(&node->state, from, to) != from)
		return false;
	if (from != to)
		trace_nearcache_peer_state(nc_cluster_devt(node->cluster), node->name, from, to);
	return true;
}

/**
 * nc_node_fail() - stop sending reads to a peer whose transport failed
 * @node: peer
 * @begun: ktime in ns when the read was sent that failed; ignored if the peer was taken back since
 *
 * Context: any.
 */
void nc_node_fail(struct nc_node *node, u64 begun)
{
	if (begun < READ_ONCE(node->back_at))
		return;
	if (nc_node_change(node, NEARCACHE_PEER_UP, NEARCACHE_PEER_FAILED))
		nc_watch_soon(node->cluster);
}

/* Return the sums of a node's counters over all CPUs, and the last read of all. */
struct nc_node_load nc_node_sum(const struct nc_node *node)
{
	struct nc_node_load sum = { };
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct nc_node_load *load = per_cpu_ptr(node->load, cpu);

		sum.ended += READ_ONCE(load->ended);
		sum.bytes += READ_ONCE(load->bytes);
		sum.errors += READ_ONCE(load->errors);
		sum.took += READ_ONCE(load->took);
		if (READ_ONCE(load->last) > sum.last) {
			sum.last = READ_ONCE(load->last);
			sum.sector = READ_ONCE(load->sector);
		}
	}
	/* Sum up the ended reads first: then no read has ended that has not begun. */
	smp_rmb();
	for_each_possible_cpu(cpu)
		sum.begun += READ_ONCE(per_cpu_ptr(node->load, cpu)->begun);
	return sum;
}

/**
 * nc_node_take_fastest() - the fastest read since the last call
 * @node: peer
 *
 * Context: the watch work.  A read that ends meanwhile may be missed.
 * Return: ns for each NC_PROBE_BYTES; U64_MAX if no read has ended.
 */
u64 nc_node_take_fastest(const struct nc_node *node)
{
	u64 fastest = U64_MAX;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct nc_node_load *load = per_cpu_ptr(node->load, cpu);

		fastest = min(fastest, READ_ONCE(load->fastest));
		WRITE_ONCE(load->fastest, U64_MAX);
	}
	return fastest;
}
