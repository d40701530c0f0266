// SPDX-License-Identifier: GPL-2.0-only
/* Rings of notes of reads, one per processor: see read_notes.h for the order of memory accesses. */
#include <linux/compiler.h>
#include <linux/math.h>

#include "evict/read_notes.h"

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
