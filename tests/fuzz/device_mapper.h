/* SPDX-License-Identifier: GPL-2.0-only */
/* Block devices and device-mapper for kernel.h, simulated by device_mapper.c. */
#ifndef NEARCACHE_FUZZ_DEVICE_MAPPER_H
#define NEARCACHE_FUZZ_DEVICE_MAPPER_H

#define MAJOR(d)	((u32)(d) >> 20)
#define MINOR(d)	((u32)(d) & 0xfffffU)

enum { REQ_OP_READ = 0, REQ_OP_WRITE = 1, REQ_META = 2, REQ_SYNC = 4, REQ_PREFLUSH = 8,
       REQ_FUA = 16 };
enum { BLK_OPEN_READ = 1, BLK_OPEN_WRITE = 2 };

struct gendisk {
	dev_t devt;
	bool read_only;
	unsigned long state;
};

#define GD_READ_ONLY	1
#define GD_DEAD		2

/* @unit: returns the memory of the unit at @offset for dm_io().  If @unit is NULL, store.c has the
 * content.  @io: called before each write; may be NULL.  @worn: each write fails
 */
struct block_device {
	dev_t bd_dev;
	struct gendisk *bd_disk;
	u64 bytes;
	u32 lbs;
	bool read_only, zoned, partition, worn;
	unsigned char *(*unit)(u64 offset, bool write);
	void (*io)(blk_opf_t opf);
};

struct bio_vec {
	void *page;
};

struct bvec_iter {
	sector_t bi_sector;
	u32 bi_size;
};

/* @done: FUZZ_BIO_HELD until the module submits or fails the bio */
struct bio {
	struct bio *bi_next;
	blk_opf_t bi_opf;
	blk_status_t bi_status;
	u8 bi_write_hint;
	struct bvec_iter bi_iter;
	enum { FUZZ_BIO_HELD, FUZZ_BIO_SENT, FUZZ_BIO_FAILED } done;
};

static inline unsigned int bio_sectors(const struct bio *bio)
{
	return bio->bi_iter.bi_size >> 9;
}

typedef void (bio_end_io_t)(struct bio *bio);

struct bio_list {
	struct bio *head, *tail;
};

static inline void bio_list_init(struct bio_list *l)
{
	l->head = l->tail = NULL;
}

static inline void bio_list_merge(struct bio_list *l, const struct bio_list *more)
{
	if (!more->head)
		return;
	*(l->tail ? &l->tail->bi_next : &l->head) = more->head;
	l->tail = more->tail;
}

static inline void bio_list_add(struct bio_list *l, struct bio *bio)
{
	bio->bi_next = NULL;
	bio_list_merge(l, &(struct bio_list) { bio, bio });
}

static inline struct bio *bio_list_pop(struct bio_list *l)
{
	struct bio *bio = l->head;

	if (bio)
		l->head = bio->bi_next;
	if (!l->head)
		l->tail = NULL;
	return bio;
}

#define bio_list_empty(l)	(!(l)->head)
/* Called only for reads, which the fuzzers do not send. */
#define dm_accept_partial_bio(bio, sectors)	abort()
#define bio_end_sector(b)	((b)->bi_iter.bi_sector + ((b)->bi_iter.bi_size >> SECTOR_SHIFT))
#define bio_clear_polled(b)	((void)(b))
#define bio_op(b)		((b)->bi_opf & REQ_OP_WRITE)
#define bio_io_error(b)		((b)->done = FUZZ_BIO_FAILED)
void fuzz_submit(struct bio *bio);
#define submit_bio_noacct	fuzz_submit

struct rb_node {
	struct rb_node *rb_left;
};

struct rb_root_cached {
	struct {
		struct rb_node *rb_node;
	} rb_root;
};

struct work_struct;
typedef void (*work_func_t)(struct work_struct *work);

struct work_struct {
	work_func_t run;
	int queued;
};

struct delayed_work {
	struct work_struct work;
};

struct kthread_worker {
	int unused;
};

struct kthread_work {
	int unused;
};

enum hrtimer_restart { HRTIMER_NORESTART };
enum hrtimer_mode { HRTIMER_MODE_REL };

struct hrtimer {
	int unused;
};

/* Timers can be set up but never run. */
#define NC_HAVE_HRTIMER_SETUP

typedef struct {
	int refs;
} refcount_t;

typedef struct {
	int waiters;
} wait_queue_head_t;

struct workqueue_struct {
	int unused;
};

enum { WQ_MEM_RECLAIM, WQ_UNBOUND };
#define alloc_workqueue(format, flags, most, name)					\
	((void)(name), (struct workqueue_struct *)fuzz_alloc(1))
#define destroy_workqueue	fuzz_free
#define INIT_WORK(w, f)		((w)->queued = 0, (w)->run = (f))
#define INIT_DELAYED_WORK(w, f)	INIT_WORK(&(w)->work, f)
#define queue_work(wq, w)	((w)->queued = 1)
#define queue_delayed_work(wq, w, t)	((w)->work.queued = 1)
#define mod_delayed_work(wq, w, t)	((w)->work.queued = 1)
#define cancel_work_sync(w)	((w)->queued = 0)
#define cancel_delayed_work_sync(w)	((w)->work.queued = 0)
/* Queued work runs only when the fuzzer or the module flushes it. */
#define flush_work(w)		do { if (xchg(&(w)->queued, 0)) (w)->run(w); } while (0)
#define flush_delayed_work(w)	flush_work(&(w)->work)
#define work_busy(w)		((w)->queued)
#define to_delayed_work(w)	container_of(w, struct delayed_work, work)
#define init_waitqueue_head(w)	((w)->waiters = 0)
struct completion {
	bool done;
};

#define init_completion(c)	((c)->done = false)
#define complete(c)		((c)->done = true)
/* All I/O ends in the call that begins it. */
#define wait_for_completion_io(c)	\
	do { if (!(c)->done) __builtin_trap(); } while (0)
extern unsigned long fuzz_jiffies;
#define jiffies			fuzz_jiffies
#define time_after(a, b)	((a) > (b))
#define time_before(a, b)	((a) < (b))
#define msecs_to_jiffies(ms)	((ms) * HZ / MSEC_PER_SEC)

#define bdev_nr_bytes(b)		((b)->bytes)
#define bdev_logical_block_size(b)	((b)->lbs)
#define bdev_dma_alignment(b)		((b)->lbs - 1)
#define bdev_read_only(b)		((b)->read_only)
#define bdev_is_zoned(b)		((b)->zoned)
#define bdev_is_partition(b)		((b)->partition)
#define bdev_max_discard_sectors(b)	((void)(b), 8192U)
#define bdev_write_zeroes_sectors(b)	((void)(b), 8192U)
#define bdev_discard_granularity(b)	((b)->lbs)
#define bdev_discard_alignment(b)	((void)(b), 0)
int fuzz_flush(const struct block_device *bdev);
#define blkdev_issue_flush		fuzz_flush
#define set_disk_ro(d, ro)		((d)->read_only = (ro))

#include "dm_io.h"

#define NC_HAVE_BLK_MODE_T
#define dm_io_client_create()	((struct dm_io_client *)(fuzz_alloc(1) ?: ERR_PTR(-ENOMEM)))
#define dm_io_client_destroy	fuzz_free
int dm_io(struct dm_io_request *request, int regions, struct dm_io_region *region, void *bits);

struct mapped_device {
	struct gendisk disk;
};

struct dm_table {
	struct mapped_device *md;
	int mode;
};

struct dm_dev {
	struct block_device *bdev;
	char name[16];
};

struct target_type;

struct dm_target {
	const struct target_type *type;
	struct dm_table *table;
	sector_t begin, len;
	char *error;
	void *private;
	size_t per_io_data_size;
	unsigned int num_flush_bios, num_discard_bios, num_write_zeroes_bios;
	bool discards_supported;
};

struct queue_limits {
	unsigned int logical_block_size, dma_alignment, max_write_zeroes_sectors;
	unsigned int max_discard_sectors, max_hw_discard_sectors, discard_granularity;
	int discard_alignment;
};

typedef enum { STATUSTYPE_INFO, STATUSTYPE_TABLE, STATUSTYPE_IMA } status_type_t;
typedef int (*iterate_devices_callout_fn)(struct dm_target *ti, struct dm_dev *dev,
					  sector_t start, sector_t len, void *data);

struct target_type {
	const char *name;
	unsigned int version[3], features;
	void *module;
	int (*ctr)(struct dm_target *ti, unsigned int argc, char **argv);
	void (*dtr)(struct dm_target *ti);
	int (*map)(struct dm_target *ti, struct bio *bio);
	int (*end_io)(struct dm_target *ti, struct bio *bio, blk_status_t *error);
	int (*preresume)(struct dm_target *ti);
	void (*resume)(struct dm_target *ti);
	void (*presuspend)(struct dm_target *ti);
	void (*presuspend_undo)(struct dm_target *ti);
	void (*postsuspend)(struct dm_target *ti);
	void (*status)(struct dm_target *ti, status_type_t type, unsigned int flags, char *result,
		       unsigned int maxlen);
	int (*message)(struct dm_target *ti, unsigned int argc, char **argv, char *result,
		       unsigned int maxlen);
	int (*iterate_devices)(struct dm_target *ti, iterate_devices_callout_fn fn, void *data);
	void (*io_hints)(struct dm_target *ti, struct queue_limits *limits);
};

#define THIS_MODULE	NULL
#define DM_TARGET_SINGLETON	1
#define DM_TARGET_NOWAIT	2

enum { DM_ENDIO_DONE };

#define dm_per_bio_data(bio, size)	((void)(size), (void *)(bio))
#define DMEMIT(...)	(sz += scnprintf(result + sz, maxlen - sz, __VA_ARGS__))
#define DMEMIT_TARGET_NAME_VERSION(t)	DMEMIT("target_name=%s", (t)->name)
#define dm_register_target(t)	fuzz_target_register(t)
#define dm_unregister_target(t)	((void)(t))
#define dm_table_get_md(t)	((t)->md)
#define dm_table_get_mode(t)	((t)->mode)
#define dm_table_event(t)	((void)(t))
#define dm_device_name(md)	((void)(md), "253:0")
#define dm_disk(m)		(&(m)->disk)
#define dm_noflush_suspending(ti)	((void)(ti), 0)
#define disk_devt(d)		((d)->devt)
int dm_get_device(struct dm_target *ti, const char *path, int mode, struct dm_dev **dev);
void dm_put_device(struct dm_target *ti, struct dm_dev *dev);
int fuzz_target_register(struct target_type *type);

/* Collects the messages of the module in fuzz_said. */
void fuzz_log(const char *format, ...);
#define DMERR		fuzz_log
#define DMERR_LIMIT	fuzz_log
#define DMWARN		fuzz_log
#define DMINFO		fuzz_log

/* Replaces kmod/core/tracepoints.h. */
#define NEARCACHE_TRACE_H
#define trace_nearcache_mode(...)	((void)0)
#define DECLARE_TRACEPOINT(name)	extern int __tracepoint_##name
#define tracepoint_enabled(name)	false

#endif /* NEARCACHE_FUZZ_DEVICE_MAPPER_H */
