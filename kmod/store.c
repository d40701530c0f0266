// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is behind a read.  A fill whose data is here has given it to its readers; that it
 * comes to its slot, and that it can be found there, nobody waits for.  One thread does both
 * for all fills, and gives way to who reads: where processors are what there is least of,
 * reads go on as if nothing was cached, until the fills that wait have all the memory that
 * fills may take (then a read is not filled from, and counted, as when the cache device is
 * slow).  Meanwhile their data can be had from memory.
 *
 * What came while the thread did not run is done in one go: one wake-up, and one request
 * to the cache device for what lies there in a row.
 */
#include <linux/sched.h>

#include "cache.h"
#include "compat.h"
#include "fill.h"
#include "store.h"

/* A tenth of a processor that others want, too: what is filled does come to its slot. */
#define NICE	10

/* Requests that are held back to be sent together. */
#define TOGETHER	16

/* Returns whether there is anything. */
static bool take(struct nc_store *s, struct bio_list *filled, struct bio_list *written)
{
	spin_lock_irq(&s->lock);
	bio_list_merge(filled, &s->filled);
	*written = s->written;
	bio_list_init(&s->filled);
	bio_list_init(&s->written);
	spin_unlock_irq(&s->lock);
	return !bio_list_empty(filled) || !bio_list_empty(written);
}

static void publish(struct bio_list *written)
{
	struct bio *bio;

	while ((bio = bio_list_pop(written))) {
		nc_fill_publish(container_of(bio, struct nc_fill, bio));
		cond_resched();
	}
}

/* Some of it.  Nothing is held back while others run. */
static void write(struct bio_list *filled)
{
	struct blk_plug plug;
	struct bio *bio;
	u32 count;

	blk_start_plug(&plug);
	for (count = 0; count < TOGETHER && !need_resched(); count++) {
		bio = bio_list_pop(filled);
		if (!bio)
			break;
		nc_fill_write(container_of(bio, struct nc_fill, bio));
	}
	blk_finish_plug(&plug);
	cond_resched();
}

/* What is published gives its memory back, which others may be without. */
static void store_work(struct kthread_work *work)
{
	struct nc_store *s = container_of(work, struct nc_store, work);
	struct bio_list filled = BIO_EMPTY_LIST, written;

	while (take(s, &filled, &written)) {
		publish(&written);
		write(&filled);
	}
}

/**
 * nc_store_init() - nothing is on its way
 * @s: of a new cache
 */
void nc_store_init(struct nc_store *s)
{
	spin_lock_init(&s->lock);
	bio_list_init(&s->filled);
	bio_list_init(&s->written);
	kthread_init_work(&s->work, store_work);
}

/**
 * nc_store_start() - the thread
 * @c: new cache
 *
 * Context: may sleep.
 * Return: 0 or an error code.
 */
int nc_store_start(struct nc_cache *c)
{
	struct nc_store *s = &c->store;
	struct kthread_worker *worker = kthread_run_worker(0, "nearcache_s/%s", nc_cache_name(c));

	if (IS_ERR(worker))
		return PTR_ERR(worker);
	set_user_nice(worker->task, NICE);
	s->worker = worker;
	return 0;
}

/**
 * nc_store_destroy() - no thread any more
 * @s: nothing is on its way
 *
 * Context: may sleep.
 */
void nc_store_destroy(struct nc_store *s)
{
	if (s->worker)
		kthread_destroy_worker(s->worker);
}

/* Queued inside the lock: once the thread has the fill, the cache may go. */
static void add(struct nc_store *s, struct bio_list *list, struct bio *bio)
{
	unsigned long flags;
	bool idle;

	spin_lock_irqsave(&s->lock, flags);
	idle = bio_list_empty(&s->filled) && bio_list_empty(&s->written);
	bio_list_add(list, bio);
	if (idle)
		kthread_queue_work(s->worker, &s->work);
	spin_unlock_irqrestore(&s->lock, flags);
}

/**
 * nc_store_filled() - a fill's data is here
 * @s: of a live cache
 * @bio: nc_fill.bio; the thread goes on with nc_fill_write()
 *
 * Context: any.
 */
void nc_store_filled(struct nc_store *s, struct bio *bio)
{
	add(s, &s->filled, bio);
}

/**
 * nc_store_written() - the cache device is done with a fill
 * @s: of a live cache
 * @bio: nc_fill.bio; the thread goes on with nc_fill_publish()
 *
 * Context: any.
 */
void nc_store_written(struct nc_store *s, struct bio *bio)
{
	add(s, &s->written, bio);
}

/**
 * nc_store_flush() - wait until the thread has let go of all fills that are over
 * @s: of a live cache
 *
 * Context: may sleep.
 */
void nc_store_flush(struct nc_store *s)
{
	kthread_flush_worker(s->worker);
}
