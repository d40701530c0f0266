// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fill writer: one thread per cache that writes fills to their slots and publishes them,
 * after their readers have been served.  No reader waits for the thread, so it yields the
 * processor to other threads.  On a busy processor fills wait with their data in memory, where
 * readers can join them.  When waiting fills use all of the fill memory, which also happens with a
 * slow cache device, reads bypass the cache and count as bypass_memory.
 *
 * When the thread runs, it handles all fills that arrived since its last run.  That saves wake-ups,
 * and adjacent data can share one request to the cache device.
 */
#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>

#include "cache.h"
#include "core/compat.h"
#include "io/fill.h"
#include "io/fill_writer.h"

/* Microseconds from the first queued fill to the wake-up.  In this time the reader that was just
 * served can submit its next read, and more fills arrive.  Also the sleep of give_way().
 */
#define DELAY	250

/* Nice value of the thread. */
#define NICE	10

/* Most fills per batch.  A plug holds back requests of a batch, so that adjacent ones can merge. */
#define TOGETHER	16

/* A batch that has this many bytes gets no further fill: a longer batch would delay hits at the
 * device, or on the processor if the submitting task copies the data (a ramdisk as cache device).
 */
#define PORTION		(128U << 10)

/* Before it writes a batch, the thread sleeps DELAY for each PATIENCE fills in the batch, unless no
 * other thread is runnable.  Then it writes the batch in any case, so that fills reach their slots.
 */
#define PATIENCE	2U

static struct nc_cache *cache_of(const struct nc_fill_writer *s)
{
	return container_of(s, struct nc_cache, fills.writer);
}

/* Append s->filled to @filled, move s->written to @written.  Returns false if both are empty. */
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

/* Yield the processor to other runnable threads, for a time proportional to @count fills.  Returns
 * true as soon as no other thread is runnable; false after that time or if a task awaits fills.
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

/* Write one batch.  If no other thread was runnable at the start, stop when one gets runnable. */
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

static enum hrtimer_restart writer_wake(struct hrtimer *timer)
{
	struct nc_fill_writer *s = container_of(timer, struct nc_fill_writer, timer);

	kthread_queue_work(s->worker, &s->work);
	return HRTIMER_NORESTART;
}

/* Publish before writing: publishing frees memory that new fills may lack. */
static void writer_work(struct kthread_work *work)
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
	kthread_init_work(&s->work, writer_work);
	hrtimer_setup(&s->timer, writer_wake, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
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

/* Stop the thread, if it was started.  The caller ensures that no fill is in flight.  May sleep. */
void nc_fill_writer_destroy(struct nc_fill_writer *s)
{
	hrtimer_cancel(&s->timer);
	if (s->worker)
		kthread_destroy_worker(s->worker);
}

/* Start the timer under the lock: once the thread can take the fill, the cache may be freed. */
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
 * nc_fill_writer_written() - queue a fill whose write the cache device completed
 * @s: fill writer of a live cache
 * @bio: nc_fill.bio; the thread continues with nc_fill_publish()
 *
 * Context: any.  The caller must not touch the fill or the cache afterwards.
 */
void nc_fill_writer_written(struct nc_fill_writer *s, struct bio *bio)
{
	queue_fill(s, &s->written, bio);
}

/* @hurry: let the thread work without yielding, as the caller waits for fills.  Context: any. */
void nc_fill_writer_hurry(struct nc_fill_writer *s, bool hurry)
{
	WRITE_ONCE(s->hurry, hurry);
}

/* Wait until the thread does not use any fill that has ended.  Context: may sleep. */
void nc_fill_writer_flush(struct nc_fill_writer *s)
{
	kthread_flush_worker(s->worker);
}
