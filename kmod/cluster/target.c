// SPDX-License-Identifier: GPL-2.0-only
/* The dm target "nearcache-peers": its operations, which call the other files of the folder. */
#include <linux/module.h>
#include <linux/slab.h>

#include "core/compat.h"
#include "cluster/cluster.h"
#include "cluster/target.h"

static void cluster_free(struct nc_cluster *c)
{
	cancel_delayed_work_sync(&c->budget.work);
	nc_cluster_drop_nodes(c);
	nc_read_probe_trim(&c->pace.probe, 0);
	if (c->origin)
		dm_put_device(c->ti, c->origin);
	if (c->home)
		dm_put_device(c->ti, c->home);
	destroy_workqueue(c->queue);
	destroy_workqueue(c->own_queue);
	kfree(c);
}

static int cluster_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct nc_cluster *c = kzalloc(sizeof(*c), GFP_KERNEL);
	int r;

	ti->error = "Out of memory";
	if (!c)
		return -ENOMEM;
	/* Retries must go on while memory is reclaimed.  Two works for each peer that hangs. */
	c->queue = alloc_workqueue("nearcache-peers", WQ_MEM_RECLAIM | WQ_UNBOUND,
				   2 * NEARCACHE_CLUSTER_NODES_MAX);
	if (!c->queue)
		goto no_queue;
	c->own_queue = alloc_workqueue("nearcache-home", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!c->own_queue)
		goto no_own_queue;
	c->ti = ti;
	ti->private = c;
	mutex_init(&c->change_lock);
	mutex_init(&c->lock);
	atomic_set(&c->users, 1);
	init_completion(&c->no_users);
	nc_watch_init(c);
	nc_budget_init(&c->budget);
	r = nc_cluster_parse(c, argc, argv);
	if (r) {
		cluster_free(c);
		return r;
	}
	ti->per_io_data_size = sizeof(struct nc_cluster_io);
	ti->num_flush_bios = 1;
	return 0;
no_own_queue:
	destroy_workqueue(c->queue);
no_queue:
	kfree(c);
	return -ENOMEM;
}

static void cluster_dtr(struct dm_target *ti)
{
	cluster_free(ti->private);
}

/* Flushes go to the local node's cache, as there is nothing to flush at peers; everything else that
 * could change the volume is refused.
 */
static int cluster_map(struct dm_target *ti, struct bio *bio)
{
	struct nc_cluster *c = ti->private;
	struct nc_cluster_io *io;

	if (likely(bio_op(bio) == REQ_OP_READ && bio_sectors(bio)))
		return nc_cluster_read_map(c, bio);
	io = dm_per_bio_data(bio, sizeof(*io));
	io->node = NULL;
	if (bio_sectors(bio) || op_is_discard(bio_op(bio)))
		return DM_MAPIO_KILL;
	bio_set_dev(bio, c->home->bdev);
	return DM_MAPIO_REMAPPED;
}

static int cluster_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	return nc_cluster_read_end(ti->private, bio, error);
}

/* Make the disk read-only again: device-mapper has just made it writable if the table was loaded
 * without --readonly.
 */
static void cluster_resume(struct dm_target *ti)
{
	set_disk_ro(dm_disk(dm_table_get_md(ti->table)), true);
	nc_budget_suspend(ti->private, false);
	nc_watch_start(ti->private);
}

static void cluster_presuspend(struct dm_target *ti)
{
	nc_budget_suspend(ti->private, true);
}

static void cluster_presuspend_undo(struct dm_target *ti)
{
	nc_budget_suspend(ti->private, false);
}

static void cluster_postsuspend(struct dm_target *ti)
{
	nc_watch_stop(ti->private);
}

static int cluster_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
			   unsigned int maxlen)
{
	return nc_cluster_message(ti->private, argc, argv);
}

static void cluster_status(struct dm_target *ti, status_type_t type, unsigned int status_flags,
			   char *result, unsigned int maxlen)
{
	struct nc_cluster *c = ti->private;
	size_t sz = 0;

	switch (type) {
	case STATUSTYPE_INFO:
		nc_cluster_status(c, result, maxlen);
		break;
	case STATUSTYPE_TABLE:
		nc_cluster_print(c, result, maxlen);
		break;
	case STATUSTYPE_IMA:
		DMEMIT_TARGET_NAME_VERSION(ti->type);
		DMEMIT(",home=%s,origin=%s;", c->home->name, c->origin->name);
		break;
	}
}

/* The peers' devices are not visited: nodes come and go while the table is live, so that their
 * limits are compared with those of the local node's cache when they come (node.c).
 */
static int cluster_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct nc_cluster *c = ti->private;

	return fn(ti, c->home, 0, ti->len, data);
}

static struct target_type cluster_target = {
	.name			= "nearcache-peers",
	.version		= { 1, 0, 0 },
	.features		= DM_TARGET_SINGLETON | DM_TARGET_NOWAIT,
	.module			= THIS_MODULE,
	.ctr			= cluster_ctr,
	.dtr			= cluster_dtr,
	.map			= cluster_map,
	.end_io			= cluster_end_io,
	.resume			= cluster_resume,
	.presuspend		= cluster_presuspend,
	.presuspend_undo	= cluster_presuspend_undo,
	.postsuspend		= cluster_postsuspend,
	.status			= cluster_status,
	.message		= cluster_message,
	.iterate_devices	= cluster_iterate_devices,
};

int nc_cluster_register(void)
{
	return dm_register_target(&cluster_target);
}

void nc_cluster_unregister(void)
{
	dm_unregister_target(&cluster_target);
}
