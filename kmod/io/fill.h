/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fill copies a run of sub-blocks into a slot.  The data comes from the origin, after a miss or
 * for a prefetch, or from a write: such a fill is an update, see writethrough.c.
 */
#ifndef NEARCACHE_IO_FILL_H
#define NEARCACHE_IO_FILL_H

#include <linux/bio.h>
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "core/pages.h"
#include "io/fill_writer.h"

struct nc_cache;
struct nc_bucket_lock;
struct nc_target;

enum nc_fill_state {
	NC_FILL_START,		/* queued: nc_workers.origin will submit the origin read */
	NC_FILL_READING,
	NC_FILL_SENDING,	/* an update writes to the origin */
	NC_FILL_FILLED,		/* has its data; the fill writer will submit the write */
	NC_FILL_WRITING,
};

struct nc_fill;

/**
 * struct nc_fill_ops - kind of a fill, set by the file that starts it
 * @ahead: the fill is a prefetch, so no reader waits for the data yet
 * @user: what the fill takes a slot for
 * @write: the fill is an update, so a writer supplies the data and readers cannot join
 * @peer: nc_fill.peer supplies the data, and readers can join only once the data is there
 * @sent: NULL, or called before the origin read is submitted, only while nc_demand.watched;
 *	nc_fill.since is the time of the call
 * @read_done: NULL, or called after the origin read took @took ns, if nc_fill.since is set; process
 *	context
 * @joined: NULL, or called under the bucket lock when a read of @bytes joins the fill
 * @done: called after the fill left its list; @bits: sub-blocks that became valid; @error: 0, or
 *	the error of the origin or the cache device; process context
 */
struct nc_fill_ops {
	bool ahead;
	enum nc_slot_user user;
	bool write;
	bool peer;
	void (*sent)(struct nc_fill *f);
	void (*read_done)(struct nc_fill *f, u64 took);
	void (*joined)(struct nc_fill *f, u32 bytes);
	void (*done)(struct nc_fill *f, u64 bits, int error);
};

/**
 * struct nc_fill - a fill in flight
 * @entry: sub-blocks that the fill covers
 * @target: table line that started the fill
 * @ops: kind of the fill
 * @owner: struct nc_job, for a fill of a prefetch job
 * @peer: with nc_fill_ops.peer, the device to read instead of the origin, set before the start
 * @stale: sub-blocks written since the fill started: the fill does not make these valid, and reads
 *	of these cannot join the fill; bucket lock
 * @dropped: of an update, the sub-blocks that its write invalidated, including sub-blocks that are
 *	not in @entry because the write covers only a part of them
 * @slot: slot that the fill writes; the slot keeps its block while the fill is listed
 * @state: enum nc_fill_state; written by the code that runs the present step
 * @refs: one reference of the fill itself, and one of each reader that copies in state FILLED
 * @waiters: readers that wait in state START or READING, linked by bi_next, newest first; later
 *	NC_FILL_READY.  Readers add themselves under the bucket lock; the completion takes the list
 *	without that lock
 * @writer: of an update, the writer's bio, until the origin has completed the write
 * @since: ktime_get_ns() when the origin read was submitted; 0: not measured
 * @undisturbed: result of nc_demand_begin_read(), for nc_demand_end_read()
 * @sector: origin sector of the first byte
 * @bytes: bytes to read from the origin, or to write to it
 * @skip: bytes at the start that do not go to the slot
 * @cache_bytes: bytes that go to the slot
 * @work: runs the steps that the fill writer does not run
 * @bio: bio to the origin, then to the cache device.  Before and after the write to the cache
 *	device @bio is on the fill writer's lists
 * @pages: the data; if the origin ends inside a sub-block, zeros up to the end of the sub-block
 */
struct nc_fill {
	struct nc_fill_entry entry;
	struct nc_target *target;
	const struct nc_fill_ops *ops;
	void *owner;
	struct block_device *peer;
	u64 stale;
	u64 dropped;
	u32 slot;
	enum nc_fill_state state;
	refcount_t refs;
	bool undisturbed;
	struct bio *waiters;
	struct bio *writer;
	u64 since;
	sector_t sector;
	u32 bytes;
	u32 skip;
	u32 cache_bytes;
	struct work_struct work;
	struct bio bio;
	struct nc_pages pages;
};

/**
 * struct nc_fills - the fills of a cache
 * @count: fills in flight
 * @memory: bytes of memory that the fills use
 * @memory_peak: highest value of @memory
 * @memory_max: cap of @memory; changed under nc_prefetch.lock, also while I/O runs
 * @writing: fills whose data is being written to a slot
 * @idle: woken when @count or @writing falls to zero
 * @writer: see fill_writer.h
 */
struct nc_fills {
	atomic_t count;
	atomic64_t memory;
	atomic64_t memory_peak;
	u64 memory_max;
	atomic_t writing;
	wait_queue_head_t idle;
	struct nc_fill_writer writer;
};

/* Value of nc_fill.waiters after the origin read ended: no reader can wait any more. */
#define NC_FILL_READY	((struct bio *)ERR_PTR(-EALREADY))

struct nc_fill *nc_fill_alloc(struct nc_target *t, const struct nc_fill_ops *ops, sector_t sector,
			      u32 bytes, bool half);
void nc_fill_free(struct nc_cache *c, struct nc_fill *f);
u32 nc_fill_bytes_max(const struct nc_cache *c, bool half);
void nc_fill_shorten(const struct nc_cache *c, struct nc_span *span, bool half);
u32 nc_fill_span_bytes(const struct nc_cache *c, const struct nc_span *span);
void nc_fill_list(struct nc_fill *f, struct nc_bucket_lock *bucket);
void nc_fill_start(struct nc_fill *f, bool nowait);
void nc_fill_init_bio(struct nc_fill *f, struct block_device *bdev,
		      blk_opf_t opf, sector_t sector, bio_end_io_t *end_io);
void nc_fill_write(struct nc_fill *f);
void nc_fill_publish(struct nc_fill *f);
bool nc_fill_wait(struct nc_fill *f, struct bio *bio);
void nc_fill_serve(struct nc_fill *f, struct bio *bio);
struct nc_fill *nc_fill_find(const struct nc_bucket_lock *bucket,
			     struct nc_span *span);
bool nc_fill_busy(const struct nc_bucket_lock *bucket, const struct nc_span *span);
void nc_fill_mark_stale(const struct nc_bucket_lock *bucket, u64 block, u64 bits);
bool nc_fill_finish(struct nc_cache *c);
void nc_fill_drain(struct nc_cache *c);

#endif /* NEARCACHE_IO_FILL_H */
