// SPDX-License-Identifier: GPL-2.0-only
/* Rings of notes of reads, one per processor: see read_notes.h for the order of memory accesses. */
#include <linux/compiler.h>
#include <linux/math.h>

#include "evict/read_notes.h"

#define SUB_MASK	((1ULL << NC_NOTE_SUB) - 1)
/* Bits of a note that say where its reads end. */
#define END_MASK	(SUB_MASK << NC_NOTE_LAST | 1ULL << NC_NOTE_WHOLE)

/* Number of sub-block @sub of the note's block, if each block counted 64 sub-blocks. */
static u64 note_place(u64 note, u64 sub)
{
	return ((note & ((1ULL << NC_NOTE_BLOCK) - 1)) << NC_NOTE_SUB) + sub;
}

/* Number, see note_place(), of the sub-block in which a hit that continues @note begins. */
static u64 note_end(u64 note)
{
	return note_place(note, note >> NC_NOTE_LAST & SUB_MASK) + (note >> NC_NOTE_WHOLE & 1);
}

static struct nc_belady_piece unpack_note(u64 note)
{
	return (struct nc_belady_piece) {
		.block = note & ((1ULL << NC_NOTE_BLOCK) - 1),
		.first = note >> NC_NOTE_BLOCK & ((1U << NC_NOTE_SUB) - 1),
		.last = note >> NC_NOTE_LAST & ((1U << NC_NOTE_SUB) - 1),
		.whole = note >> NC_NOTE_WHOLE & 1,
		.hit = note >> NC_NOTE_HIT & 1,
	};
}

/* Write the note that is held back, if any, to the ring.  Returns false if the ring is full.
 * Context: as nc_note_write().
 */
bool nc_note_flush(struct nc_notes *here)
{
	if (here->held && !nc_note_write(here, here->held))
		return false;
	here->held = 0;
	return true;
}

/**
 * nc_note_add() - note a read
 * @here: ring of this processor
 * @note: packed note of a hit or a miss, see nc_note_of()
 * @ends: the read ends at the end of its block
 *
 * Readers of small pieces would write many notes for a block.  So the first hit is noted at once,
 * and makes the visit.  Each hit that begins in the same block where the hit before it ended is
 * added to @here->held.  The hit that ends the block, or the next other read on this processor,
 * or nc_note_flush() writes the held note to the ring.  Before that, nc_notes_take() does not
 * find it.
 *
 * Context: process, preemption is disabled.
 * Return: number of notes in the ring; NC_NOTE_HELD if the read was added to @here->held; 0 if the
 * ring is full: no earlier read is lost, and the caller may call again.
 */
u32 nc_note_add(struct nc_notes *here, u64 note, bool ends)
{
	bool hit = note >> NC_NOTE_HIT & 1;
	u32 waiting;

	if (hit && here->next == note_place(note, note >> NC_NOTE_BLOCK & SUB_MASK)) {
		if (here->held)
			note = (here->held & ~END_MASK) | (note & END_MASK);
		if (!ends) {
			here->held = note;
			here->next = note_end(note);
			return NC_NOTE_HELD;
		}
	} else if (!nc_note_flush(here)) {
		return 0;
	}
	waiting = nc_note_write(here, note);
	if (waiting) {
		here->held = 0;
		here->next = hit && !ends ? note_end(note) : NC_NOTE_NOWHERE;
	}
	return waiting;
}

/* Take the oldest 1 / @parts of the notes of a ring, rounded up, and report them to @plan.  Returns
 * their number.  Context: the lock of the plan.
 */
u32 nc_notes_take(struct nc_notes *notes, u32 parts, struct nc_belady *plan)
{
	/* Pairs with the release in nc_note_write(). */
	u32 taken = notes->taken, waiting = smp_load_acquire(&notes->written) - taken;
	u32 end = taken + DIV_ROUND_UP(waiting, parts);
	struct nc_belady_piece piece;

	if (!waiting)
		return 0;
	waiting = end - taken;
	for (; taken != end; taken++) {
		piece = unpack_note(notes->note[taken % NC_NOTES]);
		nc_belady_read(plan, &piece);
	}
	/* Pairs with the acquire in nc_note_write(). */
	smp_store_release(&notes->taken, taken);
	return waiting;
}
