/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notes of reads for the plan in force.  Each processor has a ring of notes, so a reader takes no
 * lock, and writes no cache line that readers on other processors write.  A task that holds
 * nc_active_plan.lock takes the notes of all rings, in each ring the oldest first.
 *
 * Memory order: a writer fills the note, then stores @written with release; the taker loads
 * @written with acquire, then reads the note.  The taker has read the note, then stores @taken with
 * release; a writer loads @taken with acquire before it overwrites the note.
 */
#ifndef NEARCACHE_EVICT_READ_NOTES_H
#define NEARCACHE_EVICT_READ_NOTES_H

#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "evict/belady.h"

/* Length of a ring; a power of two. */
#define NC_NOTES	512U

/**
 * struct nc_notes - the notes of one processor
 * @written: number of notes written so far; changed by tasks on this processor, which cannot be
 *	preempted meanwhile
 * @due: number of notes at which a reader queues the work of this processor: 1 while the work is
 *	idle, nc_active_plan.batch while it is queued with a delay, NC_NOTES + 1 (never) while it is
 *	queued to run at once.  Readers on this processor and the work store it
 * @next: note_place() at which a hit must begin to continue the hit before; NC_NOTE_NOWHERE: no
 *	hit continues it
 * @held: note of the hits that nc_note_add() holds back, not in the ring yet; 0: none.  Only tasks
 *	on this processor change @next and @held, with preemption disabled
 * @refused: number of misses on this processor that nc_belady_admits() did not admit
 * @note: the ring: note n is at n % NC_NOTES
 * @taken: number of notes taken so far; changed under nc_active_plan.lock
 */
struct nc_notes {
	u32 written;
	u32 due;
	u64 next;
	u64 held;
	u64 refused;
	u64 note[NC_NOTES];
	u32 taken ____cacheline_aligned_in_smp;
};

/* nc_notes.next: no hit continues the one before. */
#define NC_NOTE_NOWHERE	(~0ULL)
/* Result of nc_note_add(): it added the read to nc_notes.held and wrote no note. */
#define NC_NOTE_HELD	(~0U)

/* Initialise a ring.  The caller has zeroed it. */
static inline void nc_notes_init(struct nc_notes *notes)
{
	notes->due = 1;
	notes->next = NC_NOTE_NOWHERE;
}

bool nc_note_flush(struct nc_notes *here);
u32 nc_note_add(struct nc_notes *here, u64 note, bool ends);
u32 nc_notes_take(struct nc_notes *notes, u32 parts, struct nc_belady *plan);

/* Packed note, from the lowest bit: block, first sub-block, last sub-block, whole, hit. */
#define NC_NOTE_BLOCK	40U
#define NC_NOTE_SUB	6U
#define NC_NOTE_LAST	(NC_NOTE_BLOCK + NC_NOTE_SUB)
#define NC_NOTE_WHOLE	(NC_NOTE_LAST + NC_NOTE_SUB)
#define NC_NOTE_HIT	(NC_NOTE_WHOLE + 1)

/* Pack a note: see struct nc_belady_piece. */
static inline u64 nc_note_of(u64 block, u32 first, u32 last, bool whole, bool hit)
{
	return block | (u64)first << NC_NOTE_BLOCK | (u64)last << NC_NOTE_LAST |
	       (u64)whole << NC_NOTE_WHOLE | (u64)hit << NC_NOTE_HIT;
}

/* Write a note into the ring of this processor.  Returns the number of notes that now wait there;
 * 0: the ring is full, and the note is not written.  Context: process, preemption is disabled.
 */
static inline u32 nc_note_write(struct nc_notes *here, u64 note)
{
	u32 written = here->written;
	/* Pairs with the release in nc_notes_take(). */
	u32 waiting = written - smp_load_acquire(&here->taken);

	if (unlikely(waiting == NC_NOTES))
		return 0;
	here->note[written % NC_NOTES] = note;
	/* Pairs with the acquire in nc_notes_take(). */
	smp_store_release(&here->written, written + 1);
	return waiting + 1;
}

/* Number of notes in a ring. */
static inline u32 nc_notes_waiting(const struct nc_notes *notes)
{
	return READ_ONCE(notes->written) - READ_ONCE(notes->taken);
}

#endif /* NEARCACHE_EVICT_READ_NOTES_H */
