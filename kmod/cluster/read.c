// SPDX-License-Identifier: GPL-2.0-only
/*
 * The path of a read: to the home of its extent, and after an error to the next home.  The local
 * node is one of the homes, and its cache asks only the origin, so that each read ends.
 */
#include <linux/ktime.h>

#include "core/compat.h"
#include "core/tracepoints.h"
#include "cluster/cluster.h"

static u64 extent_of(const struct nc_cluster *c, sector_t sector)
{
	return sector >> c->extent_shift;
}

/* Is the node with this index the local node, or a peer that takes reads? */
static bool node_usable(const struct nc_node_map *map, u32 index)
{
	return index == map->self || READ_ONCE(map->node[index]->state) == NEARCACHE_PEER_UP;
}

/* nc_homes.usable. */
bool nc_cluster_usable(const struct nc_homes *homes, u32 index)
{
	return node_usable(container_of(homes, struct nc_node_map, homes), index);
}

/* Return the index of the node with this key, -1 if it has left. */
static int node_index(const struct nc_node_map *map, u64 key)
{
	u32 i;

	for (i = 0; i < map->homes.count; i++)
		if (map->homes.home[i].key == key)
			return i;
	return -1;
}

static struct nc_node *first_home(const struct nc_cluster *c, const struct nc_node_map *map,
				  u64 extent, u64 *key)
{
	int at;

	/* As nc_route_first(), but without an indirect call in the usual case. */
	if (likely(c->replicas == 1)) {
		at = nc_route_one(&map->homes, extent);
		if (unlikely(!node_usable(map, at)))
			at = nc_route_after(&map->homes, extent, -1, -1);
	} else {
		at = nc_route_first(&map->homes, extent, c->replicas, map->self);
	}
	*key = map->node[at]->key;
	return map->node[at];
}

/* Return the home that a read goes to after @failed returned an error.  If a node left meanwhile,
 * that is the local node.
 */
static struct nc_node *next_home(const struct nc_node_map *map, u64 extent, u64 first_key,
				 const struct nc_node *failed)
{
	int first = node_index(map, first_key), at = node_index(map, failed->key);

	if (first >= 0 && at >= 0)
		at = nc_route_retry(&map->homes, extent, first, at);
	return map->node[first < 0 || at < 0 ? map->self : at];
}

/* Account a read to the local node. */
static __always_inline void take_here(struct nc_cluster_io *io, struct nc_node *node)
{
	struct nc_node_load __percpu *load = node->load;

	io->node = NULL;
	this_cpu_inc(load->begun);
	this_cpu_add(load->bytes, io->iter.bi_size);
}

/* Account a read to the peer that it goes to.  Context: RCU read lock: @node has not left. */
static __always_inline void take_peer(struct nc_cluster_io *io, struct nc_node *node)
{
	struct nc_node_load __percpu *load = node->load;
	u64 now = ktime_get_ns();

	percpu_ref_get(&node->reads);
	io->node = node;
	io->begun = now;
	this_cpu_inc(load->begun);
	this_cpu_write(load->last, now);
	this_cpu_write(load->sector, io->iter.bi_sector);
	if (unlikely(!READ_ONCE(node->cluster->watching)))
		nc_watch_wake(node->cluster);
}

/* Map a read to a peer, @node.  Context: RCU read lock. */
static int map_to_peer(struct nc_cluster *c, struct bio *bio, struct nc_cluster_io *io,
		       struct nc_node *node)
{
	enum nc_budget_answer answer = NC_BUDGET_SEND;

	/* The device that is polled for a completion is the local cache. */
	bio_clear_polled(bio);
	/* A read that must not wait goes only to drivers that heed this. */
	if (bio->bi_opf & REQ_NOWAIT && !bdev_nowait(node->dev->bdev))
		answer = NC_BUDGET_REFUSED;
	else if (unlikely(READ_ONCE(c->budget.rate)))
		answer = nc_budget_take(c, bio);
	if (unlikely(answer != NC_BUDGET_SEND)) {
		if (answer == NC_BUDGET_REFUSED) {
			io->node = NULL;
			bio_wouldblock_error(bio);
		}
		return DM_MAPIO_SUBMITTED;
	}
	bio_set_dev(bio, node->dev->bdev);
	take_peer(io, node);
	return DM_MAPIO_REMAPPED;
}

/**
 * nc_cluster_read_map() - send a read to the home of its extent
 * @c: cluster device
 * @bio: read within one extent
 *
 * Context: map; does not sleep.
 * Return: DM_MAPIO_REMAPPED; or DM_MAPIO_SUBMITTED if the read waits for the budget, or was a
 * REQ_NOWAIT read that ended with BLK_STS_AGAIN.
 */
int nc_cluster_read_map(struct nc_cluster *c, struct bio *bio)
{
	struct nc_cluster_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct nc_node *node;
	int r = DM_MAPIO_REMAPPED;

	io->iter = bio->bi_iter;
	io->flags = bio->bi_flags;
	rcu_read_lock();
	node = first_home(c, rcu_dereference(c->map), extent_of(c, bio->bi_iter.bi_sector),
			  &io->first_key);
	if (node->dev) {
		r = map_to_peer(c, bio, io, node);
	} else {
		bio_set_dev(bio, c->home->bdev);
		take_here(io, node);
	}
	rcu_read_unlock();
	return r;
}

/* Have a worker send a read to @node.  Context: RCU read lock: after it only the read's own
 * reference keeps @node.
 */
static void queue_read(struct nc_cluster *c, struct bio *bio, struct nc_node *node)
{
	struct nc_cluster_io *io = dm_per_bio_data(bio, sizeof(*io));

	if (node->dev)
		take_peer(io, node);
	else
		take_here(io, node);
	nc_retry_add(&node->retry, node->dev ? c->queue : c->own_queue, bio);
}

/**
 * nc_cluster_send() - send a read that has waited for the budget to the home of its extent
 * @c: cluster device
 * @bio: read that nc_cluster_read_map() gave to the budget
 *
 * Context: any; the worker of the home submits the read.
 */
void nc_cluster_send(struct nc_cluster *c, struct bio *bio)
{
	struct nc_cluster_io *io = dm_per_bio_data(bio, sizeof(*io));

	rcu_read_lock();
	queue_read(c, bio, first_home(c, rcu_dereference(c->map),
				      extent_of(c, io->iter.bi_sector), &io->first_key));
	rcu_read_unlock();
}

/* Did the transport fail, so that other reads will fail as well?  Other errors may concern only the
 * sectors: NVMe over fabrics returns most errors of a peer's origin as BLK_STS_IOERR.  A disk that
 * is gone has no sectors left.
 */
static bool transport_failed(const struct nc_node *node, blk_status_t error)
{
	return error == BLK_STS_TRANSPORT || error == BLK_STS_TIMEOUT ||
	       error == BLK_STS_OFFLINE || !bdev_nr_sectors(node->dev->bdev);
}

/* Trace and count a read of a peer that ended.  Returns false if the peer could not serve it. */
static bool peer_answered(struct nc_node *node, const struct nc_cluster_io *io,
			  const struct bio *bio, blk_status_t error)
{
	struct nc_node_load __percpu *load = node->load;
	u64 took = ktime_get_ns() - io->begun;

	/* Call the functions in the arguments only while the event is enabled. */
	if (trace_nearcache_peer_read_enabled())
		trace_nearcache_peer_read(nc_cluster_devt(node->cluster), node->name,
					  io->iter.bi_sector, io->iter.bi_size >> SECTOR_SHIFT,
					  took, blk_status_to_errno(error));
	this_cpu_add(load->took, took);
	if (io->iter.bi_size > NC_PROBE_BYTES)
		took = div_u64(took, DIV_ROUND_UP(io->iter.bi_size, NC_PROBE_BYTES));
	if (took < this_cpu_read(load->fastest))
		this_cpu_write(load->fastest, took);
	this_cpu_inc(load->ended);
	if (!error) {
		this_cpu_add(load->bytes, io->iter.bi_size);
		return true;
	}
	/* The reader of a REQ_NOWAIT read tries again. */
	if (error == BLK_STS_AGAIN && bio->bi_opf & REQ_NOWAIT)
		return true;
	this_cpu_inc(load->errors);
	if (transport_failed(node, error))
		nc_node_fail(node, io->begun);
	return false;
}

/**
 * nc_cluster_read_end() - a node has answered a read
 * @c: cluster device
 * @bio: read
 * @error: result
 *
 * Context: any.
 * Return: DM_ENDIO_DONE, or DM_ENDIO_INCOMPLETE if the read goes to another home.
 */
int nc_cluster_read_end(struct nc_cluster *c, struct bio *bio, blk_status_t *error)
{
	struct nc_cluster_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct nc_node *node = io->node, *next;

	if (!node)
		return DM_ENDIO_DONE;
	if (peer_answered(node, io, bio, *error)) {
		percpu_ref_put(&node->reads);
		return DM_ENDIO_DONE;
	}
	nc_bio_restore(bio, &io->iter, io->flags);
	/* The peer's device may go.  The worker sets the next device, so that the read is not
	 * charged to the control group of the task that this completion has interrupted.
	 */
	bio->bi_bdev = c->home->bdev;
	rcu_read_lock();
	next = next_home(rcu_dereference(c->map), extent_of(c, io->iter.bi_sector),
			 io->first_key, node);
	queue_read(c, bio, next);
	rcu_read_unlock();
	percpu_ref_put(&node->reads);
	return DM_ENDIO_INCOMPLETE;
}

/* Send the retries of one node.  May sleep for as long as the node hangs. */
void nc_cluster_retry_work(struct work_struct *work)
{
	struct nc_node *node = container_of(work, struct nc_node, retry.work);
	struct block_device *bdev = node->dev ? node->dev->bdev : node->cluster->home->bdev;
	struct bio_list bios = nc_retry_take(&node->retry);
	struct bio *bio;

	while ((bio = bio_list_pop(&bios)))
		nc_bio_send(bio, bdev);
}
