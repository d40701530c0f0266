/* SPDX-License-Identifier: GPL-2.0-only */
/* Fills that have their data: on their way to their slots, behind who reads. */
#ifndef NEARCACHE_IO_FILL_WRITER_H
#define NEARCACHE_IO_FILL_WRITER_H

#include <linux/bio.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/spinlock.h>

struct nc_cache;

/**
 * struct nc_store - fills that nobody waits for any more
 * @worker: a thread that others go before
 * @work: of it: all that is on the lists
 * @timer: queues @work
 * @hurry: somebody waits for all of it
 * @wanted: reclaim waits for some of it; a hint, until the lists are empty
 * @lock: protects what follows; innermost; taken in interrupts
 * @busy: @timer or @work are going to look at the lists
 * @filled: nc_fill.bio of those whose data is here
 * @written: of those that the cache device is done with
 *
 * Who adds to a list does nothing with the fill, nor with the cache, once @lock is free.
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
