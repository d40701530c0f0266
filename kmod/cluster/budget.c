// SPDX-License-Identifier: GPL-2.0-only
/*
 * A limit of the bytes per second that a cluster device reads at peers, so that other users of the
 * network keep their part.
 *
 * Each read that goes to a peer gets a time at which it may be sent: that of the read before, and
 * as much later as the rate needs for that read's bytes.  A read whose time has not come waits in
 * a list; it is counted at no node, and its home is chosen when it is sent.  Reads of the local
 * cache and retries do not wait.
 */
#include <linux/ktime.h>
#include <linux/math64.h>

#include "cluster/cluster.h"

/* Time that a budget can save up while nothing is read, ns. */
#define SAVED	(10 * NSEC_PER_MSEC)

static u64 due_time(struct bio *bio)
{
	struct nc_cluster_io *io = dm_per_bio_data(bio, sizeof(*io));

	return io->begun;
}

/* Have the work run when the first read may be sent.  Context: lock. */
static void schedule_sending(struct nc_cluster *c, u64 now)
{
	u64 due = due_time(c->budget.waiting.head);
	unsigned long delay = 0;

	if (due > now && !c->budget.suspended)
		delay = nsecs_to_jiffies(due - now) + 1;
	mod_delayed_work(c->own_queue, &c->budget.work, delay);
}

static void send_due_reads(struct work_struct *work)
{
	struct nc_budget *budget = container_of(to_delayed_work(work), struct nc_budget, work);
	struct nc_cluster *c = container_of(budget, struct nc_cluster, budget);
	struct bio_list due = BIO_EMPTY_LIST;
	struct bio *bio;
	u64 now;

	spin_lock_irq(&budget->lock);
	now = ktime_get_ns();
	while (budget->waiting.head &&
	       (budget->suspended || due_time(budget->waiting.head) <= now))
		bio_list_add(&due, bio_list_pop(&budget->waiting));
	if (budget->waiting.head)
		schedule_sending(c, now);
	spin_unlock_irq(&budget->lock);
	while ((bio = bio_list_pop(&due)))
		nc_cluster_send(c, bio);
}

void nc_budget_init(struct nc_budget *budget)
{
	spin_lock_init(&budget->lock);
	bio_list_init(&budget->waiting);
	INIT_DELAYED_WORK(&budget->work, send_due_reads);
}

/**
 * nc_budget_take() - charge a read to the budget
 * @c: cluster device
 * @bio: read that goes to a peer, with its per-bio data set for nc_cluster_send()
 *
 * Context: map; does not sleep.
 * Return: enum nc_budget_answer.  NC_BUDGET_WAITS: the caller must not touch @bio any more.
 */
enum nc_budget_answer nc_budget_take(struct nc_cluster *c, struct bio *bio)
{
	struct nc_cluster_io *io = dm_per_bio_data(bio, sizeof(*io));
	enum nc_budget_answer answer = NC_BUDGET_SEND;
	struct nc_budget *budget = &c->budget;
	u64 rate = READ_ONCE(budget->rate), now, due;
	unsigned long flags;

	if (!rate)
		return NC_BUDGET_SEND;
	spin_lock_irqsave(&budget->lock, flags);
	now = ktime_get_ns();
	due = max(budget->next, now - min_t(u64, now, SAVED));
	if (due > now && !budget->suspended)
		answer = bio->bi_opf & REQ_NOWAIT ? NC_BUDGET_REFUSED : NC_BUDGET_WAITS;
	if (answer != NC_BUDGET_REFUSED)
		budget->next = due + div64_u64((u64)bio->bi_iter.bi_size * NSEC_PER_SEC, rate);
	if (answer == NC_BUDGET_WAITS) {
		io->begun = due;
		budget->delayed++;
		bio_list_add(&budget->waiting, bio);
		if (budget->waiting.head == bio)
			schedule_sending(c, now);
	}
	spin_unlock_irqrestore(&budget->lock, flags);
	return answer;
}

/* The rate has changed: send the reads that wait, as their times were those of the old rate.
 * Context: process.
 */
void nc_budget_changed(struct nc_cluster *c)
{
	struct nc_budget *budget = &c->budget;
	struct nc_cluster_io *io;
	struct bio *bio;

	spin_lock_irq(&budget->lock);
	budget->next = ktime_get_ns();
	bio_list_for_each(bio, &budget->waiting) {
		io = dm_per_bio_data(bio, sizeof(*io));
		io->begun = budget->next;
	}
	if (budget->waiting.head)
		schedule_sending(c, budget->next);
	spin_unlock_irq(&budget->lock);
}

/* Before a suspend, send all reads that wait; after it, let reads wait again, but not for the reads
 * that the suspend has sent.  Context: process.
 */
void nc_budget_suspend(struct nc_cluster *c, bool suspended)
{
	struct nc_budget *budget = &c->budget;

	spin_lock_irq(&budget->lock);
	budget->suspended = suspended;
	if (!suspended)
		budget->next = min(budget->next, ktime_get_ns());
	if (budget->waiting.head)
		schedule_sending(c, ktime_get_ns());
	spin_unlock_irq(&budget->lock);
}
