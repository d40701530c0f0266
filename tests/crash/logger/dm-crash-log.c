// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device-mapper target that logs what is sent to a device, and what the device answers, in
 * the order in which it happens: <start> <length> crash-log <device> <log device>; message
 * "mark <text>" puts a text into the log.
 *
 * dm-log-writes would tell which writes each flush made durable, and is wrong about it: a
 * flush takes with it, when it is sent, all writes that are complete, and puts them into
 * the log when it is complete itself.  Another flush that is sent meanwhile and completes
 * first has made them durable, too, and in the log they come behind it, and behind what
 * its sender wrote next: an order that no device can leave.  So here the log tells what
 * happened, and its reader what was durable when.
 */
#include <linux/device-mapper.h>
#include <linux/dm-io.h>
#include <linux/ioprio.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "entry.h"

#define DM_MSG_PREFIX "crash-log"

/**
 * struct logger - a logged device
 * @dev: what is logged
 * @log: where to
 * @io: client
 * @wq: of @work
 * @work: writes @queue to the log
 * @lock: of @queue and @count
 * @queue: entries to write, in their order
 * @count: entries so far
 * @id: of the log
 * @next: sector on the log device; the worker's
 * @failed: the log is not complete: it gets no end
 */
struct logger {
	struct dm_dev *dev;
	struct dm_dev *log;
	struct dm_io_client *io;
	struct workqueue_struct *wq;
	struct work_struct work;
	spinlock_t lock;	/* see above */
	struct list_head queue;
	u64 count;
	u64 id;
	sector_t next;
	bool failed;
};

struct entry {
	struct list_head list;
	struct crash_log_head *head;	/* and the data, if any, behind it */
};

/* In each bio: the entry that will say that it is done. */
struct sent {
	struct entry *done;
};

static struct entry *entry_new(enum crash_log_kind kind, size_t bytes)
{
	struct entry *e = kzalloc(sizeof(*e), GFP_NOIO);

	if (!e)
		return NULL;
	e->head = kvmalloc(CRASH_LOG_SECTOR + bytes, GFP_NOIO);
	if (!e->head) {
		kfree(e);
		return NULL;
	}
	memset(e->head, 0, CRASH_LOG_SECTOR);
	e->head->magic = CRASH_LOG_MAGIC;
	e->head->kind = kind;
	e->head->sectors = bytes >> SECTOR_SHIFT;
	return e;
}

static void entry_free(struct entry *e)
{
	if (e)
		kvfree(e->head);
	kfree(e);
}

/* It happens now.  @done, if any, will say that it has ended. */
static void happens(struct logger *l, struct entry *e, struct entry *done)
{
	unsigned long flags;

	spin_lock_irqsave(&l->lock, flags);
	e->head->log = l->id;
	e->head->number = l->count++;
	if (done)
		done->head->of = e->head->number;
	list_add_tail(&e->list, &l->queue);
	spin_unlock_irqrestore(&l->lock, flags);
	queue_work(l->wq, &l->work);
}

static void write_entry(struct logger *l, const struct entry *e)
{
	bool vmalloced = is_vmalloc_addr(e->head);
	struct dm_io_region region = {
		.bdev = l->log->bdev,
		.sector = l->next,
		.count = 1 + e->head->sectors,
	};
	struct dm_io_request request = {
		.bi_opf = REQ_OP_WRITE,
		.mem.type = vmalloced ? DM_IO_VMA : DM_IO_KMEM,
		.client = l->io,
	};

	if (vmalloced)
		request.mem.ptr.vma = e->head;
	else
		request.mem.ptr.addr = e->head;
	if (l->failed)
		return;
	if (l->next + region.count > bdev_nr_sectors(l->log->bdev) ||
	    dm_io(&request, 1, &region, NULL, IOPRIO_DEFAULT)) {
		DMERR("the log cannot be written");
		l->failed = true;
	}
	l->next += region.count;
}

static void write_queue(struct work_struct *work)
{
	struct logger *l = container_of(work, struct logger, work);
	struct entry *e;

	for (;;) {
		spin_lock_irq(&l->lock);
		e = list_first_entry_or_null(&l->queue, struct entry, list);
		if (e)
			list_del(&e->list);
		spin_unlock_irq(&l->lock);
		if (!e)
			return;
		write_entry(l, e);
		entry_free(e);
	}
}

static struct entry *entry_of(struct bio *bio)
{
	struct entry *e = entry_new(bio_sectors(bio) ? CRASH_LOG_WRITE : CRASH_LOG_FLUSH,
				    bio->bi_iter.bi_size);
	struct bvec_iter iter;
	struct bio_vec bv;
	char *to;

	if (!e)
		return NULL;
	e->head->sector = bio->bi_iter.bi_sector;
	e->head->fua = !!(bio->bi_opf & REQ_FUA);
	to = (char *)e->head + CRASH_LOG_SECTOR;
	bio_for_each_segment(bv, bio, iter) {
		memcpy_from_bvec(to, &bv);
		to += bv.bv_len;
	}
	return e;
}

static int crash_log_map(struct dm_target *ti, struct bio *bio)
{
	struct sent *sent = dm_per_bio_data(bio, sizeof(*sent));
	struct logger *l = ti->private;
	struct entry *e;

	sent->done = NULL;
	bio_set_dev(bio, l->dev->bdev);
	if (bio_data_dir(bio) == READ)
		return DM_MAPIO_REMAPPED;
	/* device-mapper has made two of what wants a flush and writes. */
	if (WARN_ON_ONCE(bio_sectors(bio) && bio->bi_opf & REQ_PREFLUSH))
		return DM_MAPIO_KILL;
	e = entry_of(bio);
	sent->done = entry_new(CRASH_LOG_DONE, 0);
	if (!e || !sent->done) {
		entry_free(e);
		entry_free(sent->done);
		sent->done = NULL;
		return DM_MAPIO_KILL;
	}
	happens(l, e, sent->done);
	return DM_MAPIO_REMAPPED;
}

static int crash_log_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	struct sent *sent = dm_per_bio_data(bio, sizeof(*sent));

	if (sent->done) {
		if (*error)
			sent->done->head->kind = CRASH_LOG_FAILED;
		happens(ti->private, sent->done, NULL);
		sent->done = NULL;
	}
	return DM_ENDIO_DONE;
}

static int mark(struct logger *l, const char *text)
{
	struct entry *e = entry_new(CRASH_LOG_MARK, 0);

	if (!e)
		return -ENOMEM;
	strscpy(e->head->text, text, sizeof(e->head->text));
	happens(l, e, NULL);
	return 0;
}

static int crash_log_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
			     unsigned int maxlen)
{
	if (argc != 2 || strcmp(argv[0], "mark"))
		return -EINVAL;
	return mark(ti->private, argv[1]);
}

static void free_logger(struct dm_target *ti, struct logger *l)
{
	if (l->wq)
		destroy_workqueue(l->wq);
	if (!IS_ERR_OR_NULL(l->io))
		dm_io_client_destroy(l->io);
	if (l->log)
		dm_put_device(ti, l->log);
	if (l->dev)
		dm_put_device(ti, l->dev);
	kfree(l);
}

static int crash_log_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct logger *l;

	if (argc != 2) {
		ti->error = "Expected: <device> <log device>";
		return -EINVAL;
	}
	l = kzalloc(sizeof(*l), GFP_KERNEL);
	if (!l)
		return -ENOMEM;
	spin_lock_init(&l->lock);
	INIT_LIST_HEAD(&l->queue);
	INIT_WORK(&l->work, write_queue);
	l->id = ktime_get_real_ns();
	l->io = dm_io_client_create();
	l->wq = alloc_ordered_workqueue("crash-log", WQ_MEM_RECLAIM);
	if (IS_ERR(l->io) || !l->wq ||
	    dm_get_device(ti, argv[0], dm_table_get_mode(ti->table), &l->dev) ||
	    dm_get_device(ti, argv[1], dm_table_get_mode(ti->table), &l->log)) {
		ti->error = "Device lookup failed";
		free_logger(ti, l);
		return -EINVAL;
	}
	ti->num_flush_bios = 1;
	ti->flush_supported = true;
	ti->per_io_data_size = sizeof(struct sent);
	ti->private = l;
	return 0;
}

static void crash_log_dtr(struct dm_target *ti)
{
	struct logger *l = ti->private;

	mark(l, CRASH_LOG_END);
	free_logger(ti, l);
}

static void crash_log_status(struct dm_target *ti, status_type_t type, unsigned int flags,
			     char *result, unsigned int maxlen)
{
	struct logger *l = ti->private;
	unsigned int sz = 0;

	if (type == STATUSTYPE_TABLE)
		DMEMIT("%s %s", l->dev->name, l->log->name);
	else if (type == STATUSTYPE_INFO)
		DMEMIT("%llu %s", l->count, l->failed ? "failed" : "good");
}

static int crash_log_iterate(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct logger *l = ti->private;

	return fn(ti, l->dev, 0, ti->len, data);
}

static struct target_type crash_log_target = {
	.name = "crash-log",
	.version = { 1, 0, 0 },
	.module = THIS_MODULE,
	.ctr = crash_log_ctr,
	.dtr = crash_log_dtr,
	.map = crash_log_map,
	.end_io = crash_log_end_io,
	.message = crash_log_message,
	.status = crash_log_status,
	.iterate_devices = crash_log_iterate,
};

static int __init crash_log_init(void)
{
	return dm_register_target(&crash_log_target);
}

static void __exit crash_log_exit(void)
{
	dm_unregister_target(&crash_log_target);
}

module_init(crash_log_init);
module_exit(crash_log_exit);

MODULE_DESCRIPTION("log of writes, flushes and their completion");
MODULE_LICENSE("GPL");
