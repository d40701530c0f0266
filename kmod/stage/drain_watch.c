// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watches the drain: while the origin fails, or completes no request, it reports this, and lets
 * writes fail after origin_timeout.
 */
#include <linux/ktime.h>

#include "core/compat.h"
#include "stage/stage.h"

/* If no request ends for this time while some are in flight, the origin counts as failing, ns.  A
 * flush of a healthy origin may take seconds, so origin_timeout does not shorten this.
 */
#define DRAIN_HANGS	(30ULL * NSEC_PER_SEC)

/* Let writes fail if the origin has failed for origin_timeout, otherwise accept them.  Call this
 * when the option or the state of the origin changes, and once a second while the origin fails.
 * Context: may sleep.
 */
void nc_drain_check_timeout(struct nc_stage *s)
{
	u64 ns = READ_ONCE(s->origin_timeout) * (u64)NSEC_PER_SEC;
	bool read_only, changed;

	spin_lock_irq(&s->lock);
	read_only = ns && s->failing_since && ktime_get_ns() - s->failing_since >= ns;
	changed = read_only != s->read_only;
	s->read_only = read_only;
	if (changed && s->waiting_count)
		queue_work(s->queue, &s->room);
	spin_unlock_irq(&s->lock);
	if (!changed)
		return;
	if (read_only)
		DMERR("%s: origin %s failed for %u s (origin_timeout): writes fail until it works",
		      nc_stage_name(s), s->origin->name, READ_ONCE(s->origin_timeout));
	else
		DMINFO("%s: accepts writes again", nc_stage_name(s));
	nc_stage_event(s);
}

/* If no request of the drain has ended for a long time, the origin counts as failing since the last
 * one ended, until the next one ends without an error.  Context: @s->lock.
 */
static void look_for_hang(struct nc_stage *s)
{
	struct nc_drain *d = &s->drain;
	bool hangs;

	lockdep_assert_held(&s->lock);
	hangs = d->in_flight && ktime_get_ns() - d->progress >= DRAIN_HANGS;
	/* It ended with an error: nc_drain_set_retrying() will keep @failing_since. */
	if (d->hangs && !hangs && d->origin_error && !d->log_error)
		return;
	/* After a failed attempt, only an epoch that is written shows that the origin works. */
	if (!d->hangs && (!hangs || s->failing_since))
		return;
	d->hangs = hangs;
	s->failing_since = hangs ? d->progress : 0;
	s->tried = true;
}

/* See whether the drain hangs, and whether the origin has failed for origin_timeout.  May sleep. */
void nc_drain_look(struct nc_stage *s)
{
	struct nc_drain *d = &s->drain;
	bool hung, hangs;
	u64 since;

	spin_lock_irq(&s->lock);
	hung = d->hangs;
	look_for_hang(s);
	hangs = d->hangs;
	since = s->failing_since;
	spin_unlock_irq(&s->lock);
	if (hangs && !hung)
		DMWARN("%s: no request of the drain ended for %llu s: origin %s or log %s hangs",
		       nc_stage_name(s), div_u64(ktime_get_ns() - since, NSEC_PER_SEC),
		       s->origin->name, s->log->name);
	else if (hung && !hangs)
		DMINFO("%s: requests of the drain complete again", nc_stage_name(s));
	nc_drain_check_timeout(s);
}

/* Once a second while writes wait, requests of the drain are in flight, or the origin fails. */
void nc_drain_watch_work(struct work_struct *work)
{
	struct nc_stage *s = container_of(to_delayed_work(work), struct nc_stage, watch);

	spin_lock_irq(&s->lock);
	if (nc_stage_look_full(s) || s->drain.in_flight || s->failing_since)
		queue_delayed_work(s->queue, &s->watch, HZ);
	spin_unlock_irq(&s->lock);
	nc_drain_look(s);
	nc_stage_report(s);
}

/* Report that the origin fails, or works again; the drain tries again after a while.  Context: the
 * drain.
 */
void nc_drain_set_retrying(struct nc_stage *s, bool on)
{
	bool before, hung;

	spin_lock_irq(&s->lock);
	before = s->failing_since;
	hung = s->drain.hangs;
	s->tried = true;
	s->drain.hangs = false;
	if (on)
		s->count.retries++;
	if (on != before)
		s->failing_since = on ? ktime_get_ns() : 0;
	spin_unlock_irq(&s->lock);
	nc_drain_check_timeout(s);
	if (before == on && !hung)
		return;
	if (on)
		DMWARN("%s: origin %s fails: the drain repeats epoch %llu until it succeeds",
		       nc_stage_name(s), s->origin->name, s->ring.marked.epoch);
	else
		DMINFO("%s: origin %s works again", nc_stage_name(s), s->origin->name);
	nc_stage_event(s);
}
