// SPDX-License-Identifier: GPL-2.0-only
/*
 * The path of a read: to the home of its extent, and after an error to the next home.  This node is
 * one of the homes, and its cache asks only the origin, so that each read ends.
 */
#include <linux/ktime.h>

#include "cluster/cluster.h"

static u64 extent_of(const struct nc_cluster *c, sector_t sector)
{
	return sector >> c->extent_shift;
}

static bool takes_reads(const struct nc_member *m)
{
	return READ_ONCE(m->state) == NEARCACHE_PEER_UP;
}

/* Return the first home from index @at on that is this node or takes reads. */
static struct nc_member *usable_home(const struct nc_member_map *map, u64 extent, int at)
{
	while (at >= 0 && at != map->self && !takes_reads(map->member[at]))
		at = nc_route_after(map->homes, map->count, extent, at);
	return map->member[at < 0 ? map->self : at];
}

static struct nc_member *first_home(const struct nc_cluster *c, const struct nc_member_map *map,
				    u64 extent)
{
	return usable_home(map, extent, nc_route_first(map->homes, map->count, extent,
						       c->replicas, map->self));
}

/* Return the next usable home after @m.  If @m left meanwhile, that is this node. */
static struct nc_member *next_home(const struct nc_member_map *map, u64 extent,
				   const struct nc_member *m)
{
	u32 i;

	for (i = 0; i < map->count; i++)
		if (map->member[i] == m)
			return usable_home(map, extent, nc_route_after(map->homes, map->count,
								       extent, i));
	return map->member[map->self];
}

/* Direct a bio to a member.  Context: RCU read lock, so that @m has not left. */
static void direct_bio(struct nc_cluster_io *io, struct bio *bio, struct nc_member *m)
{
	struct nc_cluster *c = m->cluster;

	this_cpu_inc(m->load->begun);
	if (!m->dev) {
		io->member = NULL;
		this_cpu_add(m->load->bytes, bio->bi_iter.bi_size);
		bio_set_dev(bio, c->home->bdev);
		return;
	}
	percpu_ref_get(&m->reads);
	io->member = m;
	io->begun = ktime_get_ns();
	bio_set_dev(bio, m->dev->bdev);
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
static bool peer_answered(struct nc_member *m, const struct nc_cluster_io *io, blk_status_t error)
{
	this_cpu_add(m->load->took, ktime_get_ns() - io->begun);
	this_cpu_inc(m->load->ended);
	if (!error) {
		this_cpu_add(m->load->bytes, io->iter.bi_size);
		return true;
	}
	/* The reader of a REQ_NOWAIT read tries again. */
	if (error == BLK_STS_AGAIN)
		return true;
	this_cpu_inc(m->load->errors);
	/* Other errors concern the sectors, and say nothing about the peer. */
	if (blk_path_error(error))
		nc_member_fail(m, io->iter.bi_sector);
	return false;
}

/**
 * nc_cluster_read_end() - a member has answered a read
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
	struct nc_member *m = io->member, *next;

	if (!m)
		return DM_ENDIO_DONE;
	if (peer_answered(m, io, *error)) {
		percpu_ref_put(&m->reads);
		return DM_ENDIO_DONE;
	}
	nc_bio_restore(bio, &io->iter, io->flags);
	rcu_read_lock();
	next = next_home(rcu_dereference(c->map), extent_of(c, io->iter.bi_sector), m);
	direct_bio(io, bio, next);
	/* Only the read's own reference keeps @next once the RCU read lock is dropped. */
	nc_retry_add(&next->retry, c->queue, bio);
	rcu_read_unlock();
	percpu_ref_put(&m->reads);
	return DM_ENDIO_INCOMPLETE;
}

/* Send the retries of one member.  May sleep for as long as this member hangs. */
void nc_cluster_retry_work(struct work_struct *work)
{
	struct nc_member *m = container_of(work, struct nc_member, retry.work);
	struct block_device *bdev = m->dev ? m->dev->bdev : m->cluster->home->bdev;
	struct bio_list bios = nc_retry_take(&m->retry);
	struct bio *bio;

	while ((bio = bio_list_pop(&bios)))
		nc_bio_send(bio, bdev);
}
