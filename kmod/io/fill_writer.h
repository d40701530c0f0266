/* SPDX-License-Identifier: GPL-2.0-only */
/* The fill writer: a thread of low priority that writes the data of fills to their slots. */
#ifndef NEARCACHE_IO_FILL_WRITER_H
#define NEARCACHE_IO_FILL_WRITER_H

#include <linux/bio.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/spinlock.h>

struct nc_cache;

/**
 * struct nc_fill_writer - fill writer of a cache
 * @worker: thread with a raised nice value
 * @work: handles all fills on the lists
 * @timer: queues @work
 * @hurry: nc_fill_drain() waits for all fills, so the thread does not yield the processor
 * @lock: protects the fields below; innermost; taken in interrupts
 * @busy: @timer or @work will process the lists
 * @filled: nc_fill.bio of fills that have their data
 * @written: nc_fill.bio of fills whose write the cache device completed
 *
 * After adding a fill to a list and dropping @lock, the caller must touch neither the fill nor the
 * cache: the thread may have ended the fill, and the cache may be freed.
 */
struct nc_fill_writer {
	struct kthread_worker *worker;
	struct kthread_work work;
	struct hrtimer timer;
	bool hurry;
	spinlock_t lock;	/* see above */
	bool busy;
	struct bio_list filled;
	struct bio_list written;
};

void nc_fill_writer_init(struct nc_fill_writer *s);
int nc_fill_writer_start(struct nc_cache *c);
void nc_fill_writer_destroy(struct nc_fill_writer *s);
void nc_fill_writer_filled(struct nc_fill_writer *s, struct bio *bio);
void nc_fill_writer_written(struct nc_fill_writer *s, struct bio *bio);
void nc_fill_writer_hurry(struct nc_fill_writer *s, bool hurry);
void nc_fill_writer_flush(struct nc_fill_writer *s);

#endif /* NEARCACHE_IO_FILL_WRITER_H */
