// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device-mapper target that passes all requests to a device and logs its writes, flushes and
 * their completions, in order:
 * <start> <length> crash-log <device> <log device> [<number> <sector>].  The message "mark <text>"
 * adds a text to the log.  Several devices may share one log: each has another number, and
 * <sector> is the offset of the device in the concatenation of all logged devices.
 *
 * dm-log-writes does not fit here because it orders flushes wrongly.  It binds the completed
 * writes to a flush when the flush is sent, and logs these writes when this flush completes.  A
 * second flush that is sent later and completes first has made the writes durable.  But the log has
 * these writes after the second flush and after later writes: no device can leave this order.
 * This target logs raw events; the reader of the log computes when a write is durable.
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

#ifdef DM_IO_UNSUP_BITS
#define dm_io(request, count, regions, errors, prio) dm_io(request, count, regions, errors, NULL, prio)
#endif

/**
 * struct logger - a log
 * @list: in @loggers
 * @devices: number of logged devices; protected by loggers_lock
 * @log: log device
 * @io: client of dm-io
 * @wq: runs @work
 * @work: writes @queue to the log
 * @lock: protects @queue and @count
 * @queue: entries to write, in order
 * @count: entries so far
 * @id: identifies the log
 * @next: next sector on the log device; only the worker uses it
 * @failed: a write to the log failed; the worker then writes nothing more, not even the end mark
 */
struct logger {
	struct list_head list;
	unsigned int devices;
	struct block_device *log;
	struct dm_io_client *io;
	struct workqueue_struct *wq;
	struct work_struct work;
	spinlock_t lock;	/* protects queue and count */
	struct list_head queue;
	u64 count;
	u64 id;
	sector_t next;
	bool failed;
};

/**
 * struct logged - a logged device
 * @logger: its log
 * @dev: logged device
 * @log: reference to the log device
 * @number: number of the device in the log
 * @sector: offset in the concatenation of all logged devices
 */
struct logged {
	struct logger *logger;
	struct dm_dev *dev;
	struct dm_dev *log;
	unsigned int number;
	sector_t sector;
};

static LIST_HEAD(loggers);
static DEFINE_MUTEX(loggers_lock);	/* protects loggers and logger.devices */

struct entry {
	struct list_head list;
	struct crash_log_head *head;	/* followed by the data, if any */
};

/* Per-bio data: the entry to log when the bio completes, NULL for a read. */
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

/* Queue @e as the next entry; the worker frees @e.  @done: entry of @e's completion, or NULL. */
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
		.bdev = l->log,
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
	if (l->next + region.count > bdev_nr_sectors(l->log) ||
	    dm_io(&request, 1, &region, NULL, IOPRIO_DEFAULT)) {
		DMERR("cannot write to the log");
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

static struct entry *entry_of(const struct logged *d, struct bio *bio)
{
	struct entry *e = entry_new(bio_sectors(bio) ? CRASH_LOG_WRITE : CRASH_LOG_FLUSH,
				    bio->bi_iter.bi_size);
	struct bvec_iter iter;
	struct bio_vec bv;
	char *to;

	if (!e)
		return NULL;
	e->head->sector = d->sector + bio->bi_iter.bi_sector;
	e->head->device = d->number;
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
	struct logged *d = ti->private;
	struct entry *e;

	sent->done = NULL;
	bio_set_dev(bio, d->dev->bdev);
	if (bio_data_dir(bio) == READ)
		return DM_MAPIO_REMAPPED;
	/* device-mapper sends a write with REQ_PREFLUSH as a flush and then a write. */
	if (WARN_ON_ONCE(bio_sectors(bio) && bio->bi_opf & REQ_PREFLUSH))
		return DM_MAPIO_KILL;
	e = entry_of(d, bio);
	sent->done = entry_new(CRASH_LOG_DONE, 0);
	if (!e || !sent->done) {
		entry_free(e);
		entry_free(sent->done);
		sent->done = NULL;
		return DM_MAPIO_KILL;
	}
	happens(d->logger, e, sent->done);
	return DM_MAPIO_REMAPPED;
}

static int crash_log_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	struct sent *sent = dm_per_bio_data(bio, sizeof(*sent));

	if (sent->done) {
		if (*error)
			sent->done->head->kind = CRASH_LOG_FAILED;
		happens(((struct logged *)ti->private)->logger, sent->done, NULL);
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
	return mark(((struct logged *)ti->private)->logger, argv[1]);
}

static void free_logger(struct logger *l)
{
	if (l->wq)
		destroy_workqueue(l->wq);
	if (!IS_ERR_OR_NULL(l->io))
		dm_io_client_destroy(l->io);
	kfree(l);
}

static struct logger *new_logger(struct block_device *log)
{
	struct logger *l = kzalloc(sizeof(*l), GFP_KERNEL);

	if (!l)
		return NULL;
	spin_lock_init(&l->lock);
	INIT_LIST_HEAD(&l->queue);
	INIT_WORK(&l->work, write_queue);
	l->log = log;
	l->id = ktime_get_real_ns();
	l->io = dm_io_client_create();
	l->wq = alloc_ordered_workqueue("crash-log", WQ_MEM_RECLAIM);
	if (!IS_ERR(l->io) && l->wq)
		return l;
	free_logger(l);
	return NULL;
}

/* Return the logger of the log device, created for the first logged device; NULL: no memory. */
static struct logger *get_logger(struct block_device *log)
{
	struct logger *l;

	mutex_lock(&loggers_lock);
	list_for_each_entry(l, &loggers, list)
		if (l->log == log)
			goto found;
	l = new_logger(log);
	if (!l)
		goto out;
	list_add(&l->list, &loggers);
found:
	l->devices++;
out:
	mutex_unlock(&loggers_lock);
	return l;
}

/* Drop a device's reference.  The last reference appends the end mark and frees the logger. */
static void put_logger(struct logger *l)
{
	mutex_lock(&loggers_lock);
	if (!--l->devices) {
		list_del(&l->list);
		mark(l, CRASH_LOG_END);
		free_logger(l);
	}
	mutex_unlock(&loggers_lock);
}

static void free_logged(struct dm_target *ti, struct logged *d)
{
	if (d->logger)
		put_logger(d->logger);
	if (d->log)
		dm_put_device(ti, d->log);
	if (d->dev)
		dm_put_device(ti, d->dev);
	kfree(d);
}

static int crash_log_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	u64 sector = 0;
	struct logged *d;

	if (argc != 2 && argc != 4) {
		ti->error = "Expected: <device> <log device> [<number> <sector>]";
		return -EINVAL;
	}
	d = kzalloc(sizeof(*d), GFP_KERNEL);
	if (!d)
		return -ENOMEM;
	if ((argc == 4 && (kstrtouint(argv[2], 10, &d->number) || kstrtou64(argv[3], 10, &sector))) ||
	    dm_get_device(ti, argv[0], dm_table_get_mode(ti->table), &d->dev) ||
	    dm_get_device(ti, argv[1], dm_table_get_mode(ti->table), &d->log)) {
		ti->error = "Device lookup failed, or a number is invalid";
		free_logged(ti, d);
		return -EINVAL;
	}
	d->sector = sector;
	d->logger = get_logger(d->log->bdev);
	if (!d->logger) {
		ti->error = "Out of memory";
		free_logged(ti, d);
		return -ENOMEM;
	}
	ti->num_flush_bios = 1;
	ti->flush_supported = true;
	ti->per_io_data_size = sizeof(struct sent);
	ti->private = d;
	return 0;
}

static void crash_log_dtr(struct dm_target *ti)
{
	free_logged(ti, ti->private);
}

static void crash_log_status(struct dm_target *ti, status_type_t type, unsigned int flags,
			     char *result, unsigned int maxlen)
{
	struct logged *d = ti->private;
	unsigned int sz = 0;

	if (type == STATUSTYPE_TABLE)
		DMEMIT("%s %s %u %llu", d->dev->name, d->log->name, d->number,
		       (u64)d->sector);
	else if (type == STATUSTYPE_INFO)
		DMEMIT("%llu %s", d->logger->count, d->logger->failed ? "failed" : "good");
}

static int crash_log_iterate(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct logged *d = ti->private;

	return fn(ti, d->dev, 0, ti->len, data);
}

static struct target_type crash_log_target = {
	.name = "crash-log",
	.version = { 1, 1, 0 },
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

MODULE_DESCRIPTION("log of writes, flushes and their completions");
MODULE_LICENSE("GPL");
