// SPDX-License-Identifier: GPL-2.0-only
/*
 * The status of a stage, and its events.
 *
 * Every event is a dm event.  Netlink events report that the log fails, that the origin fails or
 * works again, that writes begin or cease to wait for room, and that they begin or cease to fail.
 */
#include <linux/ktime.h>

#include "core/compat.h"
#include "stage/stage.h"
#include "stage/target.h"

/* No event; not 0, which is a value of enum nearcache_event. */
#define STAGE_EVENT_NONE	U32_MAX

/* Conditions of a stage; their begin and their end are events. */
enum { CONDITION_LOG_FAILED, CONDITION_ORIGIN_LOST, CONDITION_FULL, CONDITION_READ_ONLY };

static const struct {
	u32 begins;
	u32 ends;
} condition_events[] = {
	[CONDITION_LOG_FAILED] = { NEARCACHE_EVENT_STAGE_LOG_FAILED, STAGE_EVENT_NONE },
	[CONDITION_ORIGIN_LOST] = { NEARCACHE_EVENT_STAGE_ORIGIN_LOST,
				    NEARCACHE_EVENT_STAGE_ORIGIN_BACK },
	[CONDITION_FULL] = { NEARCACHE_EVENT_STAGE_FULL, NEARCACHE_EVENT_STAGE_ROOM },
	[CONDITION_READ_ONLY] = { NEARCACHE_EVENT_STAGE_READ_ONLY, NEARCACHE_EVENT_STAGE_WRITABLE },
};

/* NULL: no listener.  Changes only while no dm table exists, so readers take no lock. */
static nc_stage_listener *stage_listener;

/* Set the listener of events; NULL removes it.  Call this only while no dm table exists. */
void nc_stage_listen(nc_stage_listener *listener)
{
	stage_listener = listener;
}

/* Report to the listener which conditions have changed.  Return: false: none has. */
static bool report_conditions(struct nc_stage *s)
{
	u32 now, changed, i, event;
	bool lost;

	/* Listeners must hear of changes in their order. */
	mutex_lock(&s->report_lock);
	spin_lock_irq(&s->lock);
	/* A new table knows of the origin what the one before has reported, until it has tried. */
	lost = s->tried ? s->failing_since : s->reported & BIT(CONDITION_ORIGIN_LOST);
	now = s->failed << CONDITION_LOG_FAILED | lost << CONDITION_ORIGIN_LOST |
	      (s->full || s->mode != NEARCACHE_STAGE_LOGS) << CONDITION_FULL |
	      s->read_only << CONDITION_READ_ONLY;
	changed = now ^ s->reported;
	s->reported = now;
	spin_unlock_irq(&s->lock);
	for (i = 0; i < ARRAY_SIZE(condition_events); i++) {
		event = now & BIT(i) ? condition_events[i].begins : condition_events[i].ends;
		if (changed & BIT(i) && event != STAGE_EVENT_NONE && stage_listener)
			stage_listener(s, event);
	}
	mutex_unlock(&s->report_lock);
	return changed;
}

/* Raise an event: an epoch was marked, or the state has changed.  May sleep, does no I/O. */
void nc_stage_event(struct nc_stage *s)
{
	report_conditions(s);
	dm_table_event(s->ti->table);
}

/* Raise an event if a condition has changed.  May sleep, does no I/O. */
void nc_stage_report(struct nc_stage *s)
{
	if (report_conditions(s))
		dm_table_event(s->ti->table);
}

/* A write must wait.  Whether the stage is full turns out later: many writes wait only briefly.
 * Context: @s->lock.
 */
void nc_stage_waits(struct nc_stage *s)
{
	lockdep_assert_held(&s->lock);
	if (!s->waited)
		s->waited = jiffies ?: 1;
	queue_delayed_work(s->queue, &s->watch, HZ);
}

/* The stage is full from now on if a write waits, and no longer if none has waited for a second.
 * Call this once a second while it returns true, and a second after a write had to wait.
 * Context: @s->lock.
 */
bool nc_stage_look_full(struct nc_stage *s)
{
	lockdep_assert_held(&s->lock);
	if (s->full || (s->waited && time_after_eq(jiffies, s->waited + HZ))) {
		s->full = s->waiting_count || (s->full && s->waited);
		s->waited = 0;
	}
	return s->full || s->waited;
}

/* Stop the watch.  Context: no write is in flight, and the drain has stopped. */
void nc_stage_watch_stop(struct nc_stage *s)
{
	cancel_delayed_work_sync(&s->watch);
	spin_lock_irq(&s->lock);
	s->full = false;
	s->waited = 0;
	spin_unlock_irq(&s->lock);
}

/* Context: @s->lock. */
static void fill_status(struct nc_stage *s, struct nc_stage_status *st)
{
	const struct nc_ring *r = &s->ring;

	st->state = s->failed ? NEARCACHE_STAGE_LOG_BAD :
		    s->read_only ? NEARCACHE_STAGE_READ_ONLY :
		    s->failing_since ? NEARCACHE_STAGE_RETRIES : NEARCACHE_STAGE_NORMAL;
	st->behind_bytes = nc_ring_behind(r) * NEARCACHE_STAGE_BLOCK;
	st->retained_bytes = (r->marked.place - r->tail.place) * NEARCACHE_STAGE_BLOCK;
	st->open_epoch = r->open.epoch;
	st->committed_epoch = r->committed.epoch - 1;
	st->drained_epoch = r->marked.epoch - 1;
	st->behind_since = s->open_since;
	if (r->marked.record != r->open.record)
		st->behind_since = nc_ring_behind_since(r);
	st->drained_time = s->drained_time;
	st->entries = r->head_record - r->tail.record;
	st->entries_max = r->records_max;
	st->waiting = s->waiting_count;
	st->written_bytes = s->count.written_bytes;
	st->drained_bytes = s->count.drained_bytes;
	st->log_read_bytes = s->count.log_read_bytes;
	st->commits = s->count.commits;
	st->retries = s->count.retries;
	st->in_flight = s->writes[0] + s->writes[1] + atomic_read(&s->readers[0]) +
			atomic_read(&s->readers[1]) + s->drain.in_flight +
			(s->commit.phase != NC_COMMIT_IDLE) + !!work_busy(&s->drain.work) +
			!!work_busy(&s->space) + (s->mode == NEARCACHE_STAGE_RETURNS);
	st->failing_ns = s->failing_since ? ktime_get_ns() - s->failing_since : 0;
	st->mode = s->mode;
	st->passed_bytes = s->count.passed_bytes;
	st->origin_error = s->drain.hangs ? ETIMEDOUT : -READ_ONCE(s->origin_error);
}

/* Read the status.  Context: process; does not wait. */
void nc_stage_status_read(struct nc_stage *s, struct nc_stage_status *st)
{
	*st = (struct nc_stage_status) {
		.version = NEARCACHE_STAGE_STATUS_VERSION,
		.ring_bytes = s->ring.blocks * NEARCACHE_STAGE_BLOCK,
	};
	/* Pairs with nc_stage_started(). */
	if (!smp_load_acquire(&s->started))
		return;
	spin_lock_irq(&s->lock);
	fill_status(s, st);
	spin_unlock_irq(&s->lock);
}

/* Print the status line to @result, cut at @room bytes. */
void nc_stage_status(struct nc_stage *s, char *result, size_t room)
{
	struct nc_stage_status st;
	const u64 *field = (const u64 *)&st;
	size_t n = 0;
	u32 i;

	nc_stage_status_read(s, &st);
	for (i = 0; i < sizeof(st) / sizeof(*field); i++)
		n += scnprintf(result + n, room - n, i ? " %llu" : "%llu", field[i]);
}
