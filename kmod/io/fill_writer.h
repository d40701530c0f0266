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
 * struct nc_fill_writer - fills that nobody waits for any more
 * @worker: a thread that others go before
 * @work: of it: all that is on the lists
 * @timer: queues @work
 * @hurry: somebody waits for all of it
 * @lock: protects what follows; innermost; taken in interrupts
 * @busy: @timer or @work are going to look at the lists
 * @filled: nc_fill.bio of those whose data is here
 * @written: of those that the cache device is done with
 *
 * Who adds to a list does nothing with the fill, nor with the cache, once @lock is free.
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
