// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fill writer: one thread per cache that writes fills to their slots and publishes them,
 * after their readers have been served.  Since no reader waits for it, the thread yields the
 * processor to other threads.  On a busy processor reads therefore run as without a cache
 * until waiting fills use all of the fill memory; then reads bypass the cache and count as
 * bypass_memory, as with a slow cache device.  Until then the data is available from memory.
 *
 * The thread handles all fills that arrived since it last ran together: one wake-up, and one
 * request to the cache device for adjacent data.
 */
#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>

#include "cache.h"
#include "core/compat.h"
#include "io/fill.h"
#include "io/fill_writer.h"

/* Microseconds from the first queued fill to the wake-up: the reader that was just served can
 * submit its next read, and more fills arrive.  Also the sleep while other threads are runnable.
 */
#define DELAY	250

/* Nice value of the thread. */
#define NICE	10

/* Most fills per batch, for which a plug holds back requests to the cache device. */
#define TOGETHER	16

/* Bytes per batch after which no fill is added: a longer batch would delay hits, at the device
 * or, if the cache device copies in the submitter (a ramdisk), on the processor.
 */
#define PORTION		(128U << 10)

/* Fills per sleep: the thread sleeps once for this many fills while other threads are runnable,
 * then writes them anyway, so that fills always reach their slots.
 */
#define PATIENCE	2U

/* Move the queued fills to @filled and @written.  Returns false if all lists are empty. */
static bool take(struct nc_store *s, struct bio_list *filled, struct bio_list *written)
{
	bool busy;

	spin_lock_irq(&s->lock);
	bio_list_merge(filled, &s->filled);
	*written = s->written;
	bio_list_init(&s->filled);
	bio_list_init(&s->written);
	busy = !bio_list_empty(filled) || !bio_list_empty(written);
	s->busy = busy;
	if (!busy)
		WRITE_ONCE(s->wanted, false);
	spin_unlock_irq(&s->lock);
	return busy;
}

static void publish(struct bio_list *written)
{
	struct bio *bio;

	while ((bio = bio_list_pop(written))) {
		nc_fill_publish(container_of(bio, struct nc_fill, bio));
		cond_resched();
	}
}

/* Number of fills in the next batch, from the head of @filled. */
static u32 portion(const struct bio_list *filled)
{
	struct bio *bio;
	u32 count = 0, bytes = 0;

	bio_list_for_each(bio, filled) {
		bytes += container_of(bio, struct nc_fill, bio)->cache_bytes;
		if (++count == TOGETHER || bytes >= PORTION)
			return count;
	}
	return TOGETHER;
}

/* Yield the processor for a time proportional to @count fills.  Returns whether this thread is
 * the only runnable one.
 */
static bool give_way(const struct nc_store *s, u32 count)
{
	u32 part;

	for (; count && !READ_ONCE(s->hurry) && !READ_ONCE(s->wanted); count -= part) {
		if (single_task_running())
			return true;
		part = min(count, PATIENCE);
		usleep_range(DELAY * part / PATIENCE, 2 * DELAY * part / PATIENCE);
	}
	return false;
}

/* Write one batch.  It ends early when another thread becomes runnable after an idle start. */
static void write(const struct nc_store *s, struct bio_list *filled)
{
	u32 count = portion(filled);
	bool alone = give_way(s, count);
	struct blk_plug plug;
	struct bio *bio;

	blk_start_plug(&plug);
	do {
		bio = bio_list_pop(filled);
		if (!bio)
			break;
		nc_fill_write(container_of(bio, struct nc_fill, bio));
	} while (--count && (!alone || single_task_running()));
	blk_finish_plug(&plug);
	cond_resched();
}

static enum hrtimer_restart store_wake(struct hrtimer *timer)
{
	struct nc_store *s = container_of(timer, struct nc_store, timer);

	kthread_queue_work(s->worker, &s->work);
	return HRTIMER_NORESTART;
}

/* Publish first: that frees memory, which other fills may lack. */
static void store_work(struct kthread_work *work)
{
	struct nc_store *s = container_of(work, struct nc_store, work);
	struct bio_list filled = BIO_EMPTY_LIST, written;

	while (take(s, &filled, &written)) {
		publish(&written);
		write(s, &filled);
	}
}

/* Initialise the fill writer of a new cache. */
void nc_store_init(struct nc_store *s)
{
	spin_lock_init(&s->lock);
	bio_list_init(&s->filled);
	bio_list_init(&s->written);
	s->busy = false;
	s->hurry = false;
	s->wanted = false;
	kthread_init_work(&s->work, store_work);
	hrtimer_setup(&s->timer, store_wake, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}

/* Start the thread of a new cache.  May sleep. */
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

/* Stop the thread, if it was started.  No fill is under way.  May sleep. */
void nc_store_destroy(struct nc_store *s)
{
	hrtimer_cancel(&s->timer);
	if (s->worker)
		kthread_destroy_worker(s->worker);
}

/* Queue and wake under the lock: once the thread has the fill, the cache may be freed. */
static void add(struct nc_store *s, struct bio_list *list, struct bio *bio)
{
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	bio_list_add(list, bio);
	if (!s->busy) {
		s->busy = true;
		hrtimer_start(&s->timer, ns_to_ktime(DELAY * NSEC_PER_USEC), HRTIMER_MODE_REL);
	}
	spin_unlock_irqrestore(&s->lock, flags);
}

/**
 * nc_store_filled() - queue a fill that has its data
 * @s: fill writer of a live cache
 * @bio: nc_fill.bio; the thread continues with nc_fill_write()
 *
 * Context: any.  The caller must not touch the fill or the cache afterwards.
 */
void nc_store_filled(struct nc_store *s, struct bio *bio)
{
	add(s, &s->filled, bio);
}

/**
 * nc_store_written() - queue a fill that the cache device completed
 * @s: fill writer of a live cache
 * @bio: nc_fill.bio; the thread continues with nc_fill_publish()
 *
 * Context: any.  The caller must not touch the fill or the cache afterwards.
 */
void nc_store_written(struct nc_store *s, struct bio *bio)
{
	add(s, &s->written, bio);
}

/* Stop yielding the processor while a caller waits for all fills, or yield again.
 * Context: any.
 */
void nc_store_hurry(struct nc_store *s, bool hurry)
{
	WRITE_ONCE(s->hurry, hurry);
}

/* Stop yielding until all lists are empty: reclaim cannot free a slot before its fill is
 * published.  Context: any.
 */
void nc_store_want(struct nc_store *s)
{
	if (!READ_ONCE(s->wanted))
		WRITE_ONCE(s->wanted, true);
}

/* Wait until the thread no longer touches completed fills.  May sleep. */
void nc_store_flush(struct nc_store *s)
{
	kthread_flush_worker(s->worker);
}
