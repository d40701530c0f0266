/* SPDX-License-Identifier: GPL-2.0-only */
/* The fill writer: writes fills that have their data to slots, with low priority. */
#ifndef NEARCACHE_IO_FILL_WRITER_H
#define NEARCACHE_IO_FILL_WRITER_H

#include <linux/bio.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/spinlock.h>

struct nc_cache;

/**
 * struct nc_store - fill writer of a cache
 * @worker: thread with a raised nice value
 * @work: handles all fills on the lists
 * @timer: queues @work
 * @hurry: a caller waits for all fills
 * @wanted: reclaim waits for some fill; a hint, until the lists are empty
 * @lock: protects the fields below; innermost; taken in interrupts
 * @busy: @timer or @work will process the lists
 * @filled: nc_fill.bio of fills that have their data
 * @written: nc_fill.bio of fills whose write the cache device completed
 *
 * After dropping @lock the caller must touch neither the fill nor the cache: the thread may
 * have freed them.
 */
struct nc_store {
	struct kthread_worker *worker;
	struct kthread_work work;
	struct hrtimer timer;
	bool hurry;
	bool wanted;
	spinlock_t lock;	/* see above */
	bool busy;
	struct bio_list filled;
	struct bio_list written;
};

void nc_store_init(struct nc_store *s);
int nc_store_start(struct nc_cache *c);
void nc_store_destroy(struct nc_store *s);
void nc_store_filled(struct nc_store *s, struct bio *bio);
void nc_store_written(struct nc_store *s, struct bio *bio);
void nc_store_hurry(struct nc_store *s, bool hurry);
void nc_store_want(struct nc_store *s);
void nc_store_flush(struct nc_store *s);

#endif /* NEARCACHE_IO_FILL_WRITER_H */
