// SPDX-License-Identifier: GPL-2.0-only
/* Members of a cluster: their devices, states, counters and probes. */
#include <linux/slab.h>

#include "core/compat.h"
#include "cluster/cluster.h"

/* Context: any; the last read or probe of a member that has left ended. */
static void reads_ended(struct percpu_ref *ref)
{
	struct nc_member *m = container_of(ref, struct nc_member, reads);

	queue_work(m->cluster->queue, &m->gone);
}

static void member_free(struct nc_member *m)
{
	struct nc_cluster *c = m->cluster;

	if (m->probe.page)
		__free_pages(m->probe.page, get_order(m->probe.size));
	if (m->dev)
		dm_put_device(c->ti, m->dev);
	percpu_ref_exit(&m->reads);
	free_percpu(m->load);
	kfree(m);
	if (atomic_dec_and_test(&c->members_left))
		complete(&c->no_members);
}

static void member_gone(struct work_struct *work)
{
	struct nc_member *m = container_of(work, struct nc_member, gone);

	/* All retries have been sent, but the work may still run, or run once more for nothing.  Do
	 * not flush: if no memory is left for a worker, the queue's rescuer runs this function.
	 */
	cancel_work_sync(&m->retry.work);
	member_free(m);
}

static void probe_ended(struct bio *bio)
{
	struct nc_member *m = container_of(bio, struct nc_member, probe.bio);

	m->probe.error = bio->bi_status;
	/* Pairs with the watch work, which reads the error after it finds the probe not busy. */
	smp_store_release(&m->probe.busy, false);
	nc_watch_soon(m->cluster);
	percpu_ref_put(&m->reads);
}

/* Send the probe.  May sleep for as long as the peer hangs, so that it is a work of its own. */
static void send_probe(struct work_struct *work)
{
	struct nc_member *m = container_of(work, struct nc_member, probe.work);
	struct block_device *bdev = m->dev->bdev;
	sector_t sector = READ_ONCE(m->failed_sector);
	struct bio *bio = &m->probe.bio;

	sector = min_t(sector_t, sector, bdev_nr_sectors(bdev) - (m->probe.size >> SECTOR_SHIFT));
	sector = round_down(sector, m->probe.size >> SECTOR_SHIFT);
	bio_init(bio, bdev, &m->probe.vec, 1, REQ_OP_READ);
	bio->bi_iter.bi_sector = sector;
	bio->bi_end_io = probe_ended;
	__bio_add_page(bio, m->probe.page, m->probe.size, 0);
	submit_bio_noacct(bio);
}

/**
 * nc_member_probe() - begin to read one block of a peer
 * @m: peer in the map; no probe is in flight
 *
 * Context: the watch work, under nc_cluster.lock.
 */
void nc_member_probe(struct nc_member *m)
{
	percpu_ref_get(&m->reads);
	m->probe.busy = true;
	queue_work(m->cluster->queue, &m->probe.work);
}

/**
 * nc_member_new() - create a member that is absent
 * @c: cluster device
 * @name: unique name, at most NEARCACHE_CLUSTER_NAME_MAX bytes
 *
 * Context: process; may sleep.
 * Return: the member, or NULL if there is no memory.
 */
struct nc_member *nc_member_new(struct nc_cluster *c, const char *name)
{
	struct nc_member *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return NULL;
	m->load = alloc_percpu(struct nc_member_load);
	if (!m->load)
		goto no_load;
	if (percpu_ref_init(&m->reads, reads_ended, 0, GFP_KERNEL))
		goto no_ref;
	strscpy(m->name, name, sizeof(m->name));
	m->cluster = c;
	m->state = NEARCACHE_PEER_ABSENT;
	nc_retry_init(&m->retry, nc_cluster_retry_work);
	INIT_WORK(&m->probe.work, send_probe);
	INIT_WORK(&m->gone, member_gone);
	atomic_inc(&c->members_left);
	return m;
no_ref:
	free_percpu(m->load);
no_load:
	kfree(m);
	return NULL;
}

/* Is the peer's device one that this node's reads can be sent to?  Logs the reason if not. */
static int check_peer(const struct nc_member *m)
{
	struct block_device *bdev = m->dev->bdev, *home = m->cluster->home->bdev;
	const char *name = nc_cluster_name(m->cluster);

	if (!bdev_nr_bytes(bdev)) {
		DMERR("%s: device %s of member %s is gone, and reads may still use it: give '-' first, then the new device",
		      name, m->dev->name, m->name);
		return -ENXIO;
	}
	if (bdev_nr_bytes(bdev) != bdev_nr_bytes(home)) {
		DMERR("%s: device %s of member %s has %llu bytes, this node's cache has %llu: it is another volume",
		      name, m->dev->name, m->name, (u64)bdev_nr_bytes(bdev),
		      (u64)bdev_nr_bytes(home));
		return -EINVAL;
	}
	if (bdev_logical_block_size(bdev) > bdev_logical_block_size(home)) {
		DMERR("%s: device %s of member %s has logical blocks of %u bytes, this node's cache has %u",
		      name, m->dev->name, m->name, bdev_logical_block_size(bdev),
		      bdev_logical_block_size(home));
		return -EINVAL;
	}
	return 0;
}

/**
 * nc_member_open() - open the device of a peer
 * @m: absent member, in no map
 * @path: device
 *
 * Context: process; may sleep.
 * Return: 0; -EINVAL if the device cannot serve, and the log has the reason; or the error of opening
 *	it.  The caller frees the member in each case.
 */
int nc_member_open(struct nc_member *m, const char *path)
{
	int r = dm_get_device(m->cluster->ti, path, NC_MODE_READ, &m->dev);

	if (r) {
		m->dev = NULL;
		return r;
	}
	r = check_peer(m);
	if (r)
		return r;
	m->probe.size = max_t(u32, PAGE_SIZE, bdev_logical_block_size(m->dev->bdev));
	m->probe.page = alloc_pages(GFP_KERNEL, get_order(m->probe.size));
	if (!m->probe.page)
		return -ENOMEM;
	m->state = NEARCACHE_PEER_UP;
	return 0;
}

/**
 * nc_member_leave() - release a member that is in no map
 * @m: member; no caller of rcu_read_lock() has it any more, except through its reads in flight
 *
 * A work frees the member after its last read.  nc_cluster.no_members tells when all are free.
 */
void nc_member_leave(struct nc_member *m)
{
	percpu_ref_kill(&m->reads);
}

/* Change the state if it is @from.  Returns false if it is another one.  Context: any. */
bool nc_member_change(struct nc_member *m, int from, int to)
{
	return cmpxchg(&m->state, from, to) == from;
}

/**
 * nc_member_fail() - stop sending reads to a peer that failed
 * @m: peer
 * @sector: sector of the read that failed, which probes will read
 *
 * Context: any.
 */
void nc_member_fail(struct nc_member *m, sector_t sector)
{
	int state = READ_ONCE(m->state);

	while (state != NEARCACHE_PEER_FAILED) {
		WRITE_ONCE(m->failed_sector, sector);
		if (nc_member_change(m, state, NEARCACHE_PEER_FAILED)) {
			nc_watch_soon(m->cluster);
			return;
		}
		state = READ_ONCE(m->state);
	}
}

/* Return the sums of a member's counters over all CPUs. */
struct nc_member_load nc_member_sum(const struct nc_member *m)
{
	struct nc_member_load sum = { };
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct nc_member_load *load = per_cpu_ptr(m->load, cpu);

		/* Ended before begun: a read that does both meanwhile must not seem to end first. */
		sum.ended += READ_ONCE(load->ended);
		sum.bytes += READ_ONCE(load->bytes);
		sum.errors += READ_ONCE(load->errors);
		sum.took += READ_ONCE(load->took);
	}
	smp_rmb();
	for_each_possible_cpu(cpu)
		sum.begun += READ_ONCE(per_cpu_ptr(m->load, cpu)->begun);
	return sum;
}
