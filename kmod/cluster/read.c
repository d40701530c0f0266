// SPDX-License-Identifier: GPL-2.0-only
/*
 * The path of a read: to the home of its extent, and after an error to the next home.  The local
 * node is one of the homes, and its cache asks only the origin, so that each read ends.
 */
#include <linux/ktime.h>

#include "cluster/cluster.h"

static u64 extent_of(const struct nc_cluster *c, sector_t sector)
{
	return sector >> c->extent_shift;
}

static bool takes_reads(const struct nc_node *node)
{
	return READ_ONCE(node->state) == NEARCACHE_PEER_UP;
}

/* Return the first home from index @at on that is the local node or takes reads. */
static struct nc_node *usable_home(const struct nc_node_map *map, u64 extent, int at)
{
	while (at >= 0 && at != map->self && !takes_reads(map->node[at]))
		at = nc_route_after(map->homes, map->count, extent, at);
	return map->node[at < 0 ? map->self : at];
}

static struct nc_node *first_home(const struct nc_cluster *c, const struct nc_node_map *map,
				    u64 extent)
{
	return usable_home(map, extent, nc_route_first(map->homes, map->count, extent,
						       c->replicas, map->self));
}

/* Return the next usable home after @node.  If @node left meanwhile, that is the local node. */
static struct nc_node *next_home(const struct nc_node_map *map, u64 extent,
				   const struct nc_node *node)
{
	u32 i;

	for (i = 0; i < map->count; i++)
		if (map->node[i] == node)
			return usable_home(map, extent, nc_route_after(map->homes, map->count,
								       extent, i));
	return map->node[map->self];
}

/* Direct a bio to a node.  Context: RCU read lock, so that @node has not left. */
static void direct_bio(struct nc_cluster_io *io, struct bio *bio, struct nc_node *node)
{
	struct nc_cluster *c = node->cluster;

	this_cpu_inc(node->load->begun);
	if (!node->dev) {
		io->node = NULL;
		this_cpu_add(node->load->bytes, bio->bi_iter.bi_size);
		bio_set_dev(bio, c->home->bdev);
		return;
	}
	percpu_ref_get(&node->reads);
	io->node = node;
	io->begun = ktime_get_ns();
	bio_set_dev(bio, node->dev->bdev);
	if (unlikely(!READ_ONCE(c->watching)))
		nc_watch_wake(c);
}

/**
 * nc_cluster_read_map() - send a read to the home of its extent
 * @c: cluster device
 * @bio: read within one extent
 *
 * Context: map; does not sleep.
 * Return: DM_MAPIO_REMAPPED.
 */
int nc_cluster_read_map(struct nc_cluster *c, struct bio *bio)
{
	struct nc_cluster_io *io = dm_per_bio_data(bio, sizeof(*io));
	u64 extent = extent_of(c, bio->bi_iter.bi_sector);

	io->iter = bio->bi_iter;
	io->flags = bio->bi_flags;
	rcu_read_lock();
	direct_bio(io, bio, first_home(c, rcu_dereference(c->map), extent));
	rcu_read_unlock();
	return DM_MAPIO_REMAPPED;
}

/* Count a read of a peer that ended.  Returns false if the peer could not serve it. */
static bool peer_answered(struct nc_node *node, const struct nc_cluster_io *io, blk_status_t error)
{
	this_cpu_add(node->load->took, ktime_get_ns() - io->begun);
	this_cpu_inc(node->load->ended);
	if (!error) {
		this_cpu_add(node->load->bytes, io->iter.bi_size);
		return true;
	}
	/* The reader of a REQ_NOWAIT read tries again. */
	if (error == BLK_STS_AGAIN)
		return true;
	this_cpu_inc(node->load->errors);
	/* Other errors concern the sectors, and say nothing about the peer. */
	if (blk_path_error(error))
		nc_node_fail(node, io->iter.bi_sector);
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
	if (peer_answered(node, io, *error)) {
		percpu_ref_put(&node->reads);
		return DM_ENDIO_DONE;
	}
	nc_bio_restore(bio, &io->iter, io->flags);
	rcu_read_lock();
	next = next_home(rcu_dereference(c->map), extent_of(c, io->iter.bi_sector), node);
	direct_bio(io, bio, next);
	/* Only the read's own reference keeps @next once the RCU read lock is dropped. */
	nc_retry_add(&next->retry, c->queue, bio);
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
