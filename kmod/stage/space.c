// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes room in the ring: moves the tail over epochs that are marked (rule S1 of
 * kmod/doc/stage.md).  The data of a marked epoch stays readable until then.
 */
#include "core/compat.h"
#include "stage/stage.h"

/* Move the tail when less than this part of the ring, or of the records, is free ... */
#define SPACE_LOW	16
/* ... until this part is free. */
#define SPACE_ENOUGH	8

/* Is less than one part in @part of the ring free, or less than the longest write needs? */
static bool space_below(const struct nc_ring *r, u64 freed_blocks, u64 freed_records, u32 part)
{
	u64 blocks = max(div_u64(r->blocks, part), NC_APPEND_BLOCKS_MAX);

	return nc_ring_free(r) + freed_blocks < blocks ||
	       nc_ring_free_records(r) + freed_records < r->records_max / part;
}

/* Let the worker move the tail if little space is free.  Context: @s->lock. */
void nc_space_check(struct nc_stage *s)
{
	lockdep_assert_held(&s->lock);
	if (space_below(&s->ring, 0, 0, SPACE_LOW) && s->ring.tail.record != s->ring.marked.record)
		queue_work(s->queue, &s->space);
}

/* Does the stage begin to pass?  Then all epochs are marked, and the tail moves over all. */
static bool pass_begins(struct nc_stage *s)
{
	bool begins;

	spin_lock_irq(&s->lock);
	begins = s->pass.begins;
	spin_unlock_irq(&s->lock);
	return begins;
}

/* Find the new tail.  @all: the first epoch that is not marked. */
static struct nc_cursor choose_tail(struct nc_stage *s, bool all)
{
	struct nc_ring *r = &s->ring;
	struct nc_cursor to = r->tail, marked;
	bool more;

	for (;;) {
		/* Only this worker moves the tail.  Writers use up space meanwhile. */
		spin_lock_irq(&s->lock);
		marked = r->marked;
		more = to.record != marked.record &&
		       (all ||
			space_below(r, to.place - r->tail.place, to.record - r->tail.record,
				    SPACE_ENOUGH));
		spin_unlock_irq(&s->lock);
		if (!more)
			return to;
		nc_ring_next_epoch(r, &to);
		cond_resched();
	}
}

/* Take the data of all entries from the tail to @to out of the overlay map. */
static void drop_entries(struct nc_stage *s, const struct nc_cursor *to)
{
	struct nc_ring *r = &s->ring;
	u64 number = r->tail.record, place = r->tail.place;
	struct nc_extent entry = { };
	struct nc_record record;

	for (; number < to->record; number++) {
		record = *nc_ring_record(r, number);
		if (record.kind == NC_RECORD_DESC) {
			place++;
			continue;
		}
		entry.sector = record.sector;
		entry.sectors = record.sectors;
		entry.kind = record.kind;
		entry.at = nc_place_sector(place);
		place += nearcache_stage_blocks(record.kind, record.sectors);
		if (record.kind == NEARCACHE_STAGE_SKIP)
			continue;
		spin_lock_irq(&s->map_lock);
		nc_overlay_drop(&s->overlay, &entry);
		WRITE_ONCE(s->mapped, s->overlay.count);
		spin_unlock_irq(&s->map_lock);
		cond_resched();
	}
}

void nc_space_work(struct work_struct *work)
{
	struct nc_stage *s = container_of(work, struct nc_stage, space);
	bool pass = pass_begins(s);
	struct nc_cursor to = choose_tail(s, pass);
	int r;

	if (READ_ONCE(s->failed) || (!pass && to.record == s->ring.tail.record))
		return;
	drop_entries(s, &to);
	nc_stage_wait_readers(s);
	r = nc_stage_super_move_tail(s, &to, pass);
	if (r) {
		nc_stage_fail(s, "superblock", r);
		return;
	}
	spin_lock_irq(&s->lock);
	s->ring.tail = to;
	s->ring.usable_tail = to.place;
	if (pass)
		nc_pass_begin(s);
	if (s->waiting_count)
		queue_work(s->queue, &s->room);
	spin_unlock_irq(&s->lock);
}
