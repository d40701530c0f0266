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

static struct nc_cache *cache_of(const struct nc_fill_writer *s)
{
	return container_of(s, struct nc_cache, fills.writer);
}

/* Take all fills off the lists.  Returns whether there are any. */
static bool take_fills(struct nc_fill_writer *s, struct bio_list *filled, struct bio_list *written)
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
		WRITE_ONCE(cache_of(s)->reclaim.awaits_fills, false);
	spin_unlock_irq(&s->lock);
	return busy;
}

static void publish_fills(struct bio_list *written)
{
	struct bio *bio;

	while ((bio = bio_list_pop(written))) {
		nc_fill_publish(container_of(bio, struct nc_fill, bio));
		cond_resched();
	}
}

/* Number of fills in the next batch, from the head of @filled. */
static u32 fill_portion(const struct bio_list *filled)
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
static bool give_way(const struct nc_fill_writer *s, u32 count)
{
	const bool *awaited = &cache_of(s)->reclaim.awaits_fills;
	u32 part;

	for (; count && !READ_ONCE(s->hurry) && !READ_ONCE(*awaited); count -= part) {
		if (single_task_running())
			return true;
		part = min(count, PATIENCE);
		usleep_range(DELAY * part / PATIENCE, 2 * DELAY * part / PATIENCE);
	}
	return false;
}

/* Write one batch.  It ends early when another thread becomes runnable after an idle start. */
static void write_fills(const struct nc_fill_writer *s, struct bio_list *filled)
{
	u32 count = fill_portion(filled);
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
	struct nc_fill_writer *s = container_of(timer, struct nc_fill_writer, timer);

	kthread_queue_work(s->worker, &s->work);
	return HRTIMER_NORESTART;
}

/* Publish first: that frees memory, which other fills may lack. */
static void store_work(struct kthread_work *work)
{
	struct nc_fill_writer *s = container_of(work, struct nc_fill_writer, work);
	struct bio_list filled = BIO_EMPTY_LIST, written;

	while (take_fills(s, &filled, &written)) {
		publish_fills(&written);
		write_fills(s, &filled);
	}
}

void nc_fill_writer_init(struct nc_fill_writer *s)
{
	spin_lock_init(&s->lock);
	bio_list_init(&s->filled);
	bio_list_init(&s->written);
	s->busy = false;
	s->hurry = false;
	kthread_init_work(&s->work, store_work);
	hrtimer_setup(&s->timer, store_wake, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}

/* Start the thread.  Context: may sleep.  Returns 0 or an error code. */
int nc_fill_writer_start(struct nc_cache *c)
{
	struct nc_fill_writer *s = &c->fills.writer;
	struct kthread_worker *worker = kthread_run_worker(0, "nearcache_s/%s", nc_cache_name(c));

	if (IS_ERR(worker))
		return PTR_ERR(worker);
	set_user_nice(worker->task, NICE);
	s->worker = worker;
	return 0;
}

/* Stop the thread, if it was started.  No fill is under way.  May sleep. */
void nc_fill_writer_destroy(struct nc_fill_writer *s)
{
	hrtimer_cancel(&s->timer);
	if (s->worker)
		kthread_destroy_worker(s->worker);
}

/* Queue and wake under the lock: once the thread has the fill, the cache may be freed. */
static void queue_fill(struct nc_fill_writer *s, struct bio_list *list, struct bio *bio)
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
 * nc_fill_writer_filled() - queue a fill that has its data
 * @s: fill writer of a live cache
 * @bio: nc_fill.bio; the thread continues with nc_fill_write()
 *
 * Context: any.  The caller must not touch the fill or the cache afterwards.
 */
void nc_fill_writer_filled(struct nc_fill_writer *s, struct bio *bio)
{
	queue_fill(s, &s->filled, bio);
}

/**
 * nc_fill_writer_written() - queue a fill that the cache device completed
 * @s: fill writer of a live cache
 * @bio: nc_fill.bio; the thread continues with nc_fill_publish()
 *
 * Context: any.  The caller must not touch the fill or the cache afterwards.
 */
void nc_fill_writer_written(struct nc_fill_writer *s, struct bio *bio)
{
	queue_fill(s, &s->written, bio);
}

/* Stop yielding the processor while a caller waits for all fills, or yield again.
 * Context: any.
 */
void nc_fill_writer_hurry(struct nc_fill_writer *s, bool hurry)
{
	WRITE_ONCE(s->hurry, hurry);
}

/* Wait until the thread has let go of all fills that are over.  Context: may sleep. */
void nc_fill_writer_flush(struct nc_fill_writer *s)
{
	kthread_flush_worker(s->worker);
}
