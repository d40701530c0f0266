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
#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>

#include "cache.h"
#include "core/compat.h"
#include "io/fill.h"
#include "io/fill_writer.h"

/* Microseconds until the thread is woken, so that who was just given his data can ask for more,
 * and more has come; and for how long it sleeps when others want its processor.
 */
#define DELAY	250

/* And then with little right to the processor. */
#define NICE	10

/* Fills that are done together, at most: requests to the cache device are held back for so long. */
#define TOGETHER	16

/* And bytes, but for the last one: neither the device nor a processor, where that copies, is to be
 * kept from a hit for longer.
 */
#define PORTION		(128U << 10)

/* For so many fills it sleeps once before it does them nevertheless: what is filled does come to
 * its slot.
 */
#define PATIENCE	2U

/* Returns whether there is anything. */
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

/* How many of the first are done together.  As many as ever, unless they are long. */
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

/* Let others have the processor, for as long as @count fills are worth.  Returns whether nobody
 * wants it any more.
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

/* Some of it.  Nothing is held back while others run. */
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

/* What is published gives its memory back, which others may be without. */
static void store_work(struct kthread_work *work)
{
	struct nc_store *s = container_of(work, struct nc_store, work);
	struct bio_list filled = BIO_EMPTY_LIST, written;

	while (take(s, &filled, &written)) {
		publish(&written);
		write(s, &filled);
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
	s->busy = false;
	s->hurry = false;
	s->wanted = false;
	kthread_init_work(&s->work, store_work);
	hrtimer_setup(&s->timer, store_wake, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
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
	hrtimer_cancel(&s->timer);
	if (s->worker)
		kthread_destroy_worker(s->worker);
}

/* All inside the lock: once the thread has the fill, the cache may go. */
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
 * nc_store_hurry() - do not give way to others, or do so again
 * @s: of a live cache
 * @hurry: somebody waits until no fill is under way
 *
 * Context: any.
 */
void nc_store_hurry(struct nc_store *s, bool hurry)
{
	WRITE_ONCE(s->hurry, hurry);
}

/**
 * nc_store_want() - a slot cannot be freed before it is filled: do not give way to others until
 *	nothing is on its way
 * @s: of a live cache
 *
 * Context: any.
 */
void nc_store_want(struct nc_store *s)
{
	if (!READ_ONCE(s->wanted))
		WRITE_ONCE(s->wanted, true);
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
