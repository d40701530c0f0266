// SPDX-License-Identifier: GPL-2.0-only
/* Notes of reads (kmod/evict/read_notes.c): threads write notes, each into its own ring, while this
 * one takes them.  Each note arrives once, unchanged, and in the order of its ring, unless the ring
 * was full.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "helper/unit.h"
#include "evict/read_notes.h"

#define WRITERS	3U
#define READS	200000U

/**
 * struct writer - a simulated processor
 * @notes: its ring
 * @full: notes for which there was no room
 * @next: number of the read that must arrive next
 * @arrived: notes that arrived
 */
struct writer {
	struct nc_notes notes;
	u32 full;
	u32 next;
	u32 arrived;
};

static struct writer writers[WRITERS];
/* If not NULL, the notes that arrive are listed here; @listed: their number. */
static struct nc_belady_piece *list;
static u32 listed;

/* The note of read @n of a writer, whose number is in the high bits of the block. */
static struct nc_belady_piece piece_of(u32 writer, u32 n)
{
	return (struct nc_belady_piece) {
		.block = (u64)(255 - writer) << 32 | n, .first = n % 64, .last = 63 - n % 7,
		.whole = n & 1, .hit = n & 2,
	};
}

static bool is_same(const struct nc_belady_piece *a, const struct nc_belady_piece *b)
{
	return a->block == b->block && a->first == b->first && a->last == b->last &&
	       a->whole == b->whole && a->hit == b->hit;
}

/* Called for each note that is taken. */
void nc_belady_read(struct nc_belady *plan, const struct nc_belady_piece *piece)
{
	u32 writer = 255 - (piece->block >> 32), n = piece->block;
	struct nc_belady_piece sent = piece_of(writer, n);

	(void)plan;
	if (list) {
		list[listed++] = *piece;
		return;
	}
	assert_true(writer < WRITERS && n >= writers[writer].next && n < READS);
	assert_true(is_same(piece, &sent));
	writers[writer].next = n + 1;
	writers[writer].arrived++;
}

static u64 note_of(u32 writer, u32 n)
{
	struct nc_belady_piece piece = piece_of(writer, n);

	return nc_note_of(piece.block, piece.first, piece.last, piece.whole, piece.hit);
}

static void *write_notes(void *argument)
{
	struct writer *w = argument;
	u32 n;

	for (n = 0; n < READS; n++) {
		if (nc_note_write(&w->notes, note_of(w - writers, n)))
			continue;
		w->full++;
		sched_yield();
	}
	return NULL;
}

static void written_while_taken(void **unused)
{
	pthread_t thread[WRITERS];
	u32 i, n, full = 0;

	(void)unused;
	for (i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, write_notes, &writers[i]), 0);
	for (n = 0; READ_ONCE(writers[0].notes.written) + READ_ONCE(writers[0].full) < READS; n++)
		for (i = 0; i < WRITERS; i++)
			nc_notes_take(&writers[i].notes, n % 3 + 1, NULL);
	for (i = 0; i < WRITERS; i++) {
		pthread_join(thread[i], NULL);
		nc_notes_take(&writers[i].notes, 1, NULL);
		assert_int_equal(nc_notes_waiting(&writers[i].notes), 0);
		assert_int_equal(writers[i].arrived + writers[i].full, READS);
		full += writers[i].full;
	}
	printf("# %u of %u notes found a full ring\n", full, WRITERS * READS);
}

/* A full ring takes no note, and keeps those that it has. */
static void full_ring(void **unused)
{
	struct writer *w = &writers[0];
	u32 n;

	(void)unused;
	memset(writers, 0, sizeof(writers));
	w->notes.written = -7U;
	w->notes.taken = -7U;
	for (n = 0; n < NC_NOTES; n++)
		assert_int_equal(nc_note_write(&w->notes, note_of(0, n)), n + 1);
	assert_int_equal(nc_note_write(&w->notes, note_of(0, n)), 0);
	assert_int_equal(nc_notes_take(&w->notes, 3, NULL), (NC_NOTES + 2) / 3);
	assert_int_equal(w->next, (NC_NOTES + 2) / 3);
	assert_int_equal(nc_note_write(&w->notes, note_of(0, n)), NC_NOTES - w->next + 1);
	assert_int_equal(nc_notes_take(&w->notes, 1, NULL), NC_NOTES + 1 - (NC_NOTES + 2) / 3);
	assert_int_equal(w->next, n + 1);
	assert_int_equal(nc_notes_take(&w->notes, 1, NULL), 0);
}

/* Note a read of the sub-blocks @first to @last of @block.  @whole: it reads @last to its end. */
static u32 add(struct nc_notes *notes, u64 block, u32 first, u32 last, bool whole, bool hit)
{
	return nc_note_add(notes, nc_note_of(block, first, last, whole, hit), last == 63 && whole);
}

/* Check that entry *@at of @list is the note of this read; advances *@at. */
static void arrived(u32 *at, u64 block, u32 first, u32 last, bool whole, bool hit)
{
	struct nc_belady_piece piece = {
		.block = block, .first = first, .last = last, .whole = whole, .hit = hit,
	};

	assert_in_range(*at, 0, listed - 1);
	assert_true(is_same(&list[(*at)++], &piece));
}

/* The first of several adjacent hits is noted at once.  The others share a note, which is written
 * with the hit that ends the block, or before the next other read.
 */
static void adjacent_hits(void **unused)
{
	static struct nc_belady_piece pieces[2 * NC_NOTES];
	struct nc_notes *notes = &writers[0].notes;
	u32 sub, at = 0;

	(void)unused;
	memset(writers, 0, sizeof(writers));
	nc_notes_init(notes);
	list = pieces;
	/* Read block 0 from start to end; the read before the last ends inside sub-block 62. */
	assert_int_equal(add(notes, 0, 0, 0, true, true), 1);
	for (sub = 1; sub < 62; sub++)
		assert_int_equal(add(notes, 0, sub, sub, true, true), NC_NOTE_HELD);
	assert_int_equal(add(notes, 0, 62, 62, false, true), NC_NOTE_HELD);
	assert_int_equal(add(notes, 0, 62, 63, true, true), 2);
	/* The start of the next block does not continue it. */
	assert_int_equal(add(notes, 1, 0, 3, true, true), 3);
	assert_int_equal(add(notes, 1, 4, 7, true, true), NC_NOTE_HELD);
	assert_int_equal(add(notes, 1, 8, 9, false, true), NC_NOTE_HELD);
	/* A hit behind a gap, the same hit again, a miss, a hit behind it, a hit behind that. */
	assert_int_equal(add(notes, 1, 20, 21, true, true), 5);
	assert_int_equal(add(notes, 1, 20, 21, true, true), 6);
	assert_int_equal(add(notes, 1, 22, 23, true, false), 7);
	assert_int_equal(add(notes, 1, 24, 25, true, true), 8);
	assert_int_equal(add(notes, 1, 26, 27, true, true), NC_NOTE_HELD);
	/* A hit in block 2, at the offset where the next hit of block 1 would begin. */
	assert_int_equal(add(notes, 2, 28, 29, true, true), 10);
	nc_notes_take(notes, 1, NULL);
	arrived(&at, 0, 0, 0, true, true);
	arrived(&at, 0, 1, 63, true, true);
	arrived(&at, 1, 0, 3, true, true);
	arrived(&at, 1, 4, 9, false, true);
	arrived(&at, 1, 20, 21, true, true);
	arrived(&at, 1, 20, 21, true, true);
	arrived(&at, 1, 22, 23, true, false);
	arrived(&at, 1, 24, 25, true, true);
	arrived(&at, 1, 26, 27, true, true);
	arrived(&at, 2, 28, 29, true, true);
	assert_int_equal(at, listed);
	list = NULL;
}

/* While the ring is full, no held note is lost, and the caller may note a read again. */
static void held_while_full(void **unused)
{
	static struct nc_belady_piece pieces[2 * NC_NOTES];
	struct nc_notes *notes = &writers[0].notes;
	u32 n, at = NC_NOTES;

	(void)unused;
	memset(writers, 0, sizeof(writers));
	nc_notes_init(notes);
	list = pieces;
	listed = 0;
	for (n = 1; n < NC_NOTES; n++)
		assert_int_equal(add(notes, 100 + n, 0, 0, true, true), n);
	assert_int_equal(add(notes, 7, 0, 7, true, true), NC_NOTES);
	assert_int_equal(add(notes, 7, 8, 15, true, true), NC_NOTE_HELD);
	/* Another read, and the end of the block: neither has room. */
	assert_int_equal(add(notes, 9, 0, 63, true, true), 0);
	assert_int_equal(add(notes, 7, 16, 63, true, true), 0);
	assert_int_equal(nc_notes_take(notes, 1, NULL), NC_NOTES);
	assert_int_equal(add(notes, 7, 16, 63, true, true), 1);
	assert_int_equal(add(notes, 9, 0, 63, true, true), 2);
	nc_notes_take(notes, 1, NULL);
	arrived(&at, 7, 8, 63, true, true);
	arrived(&at, 9, 0, 63, true, true);
	assert_int_equal(at, listed);
	list = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_while_taken),
		cmocka_unit_test(full_ring),
		cmocka_unit_test(adjacent_hits),
		cmocka_unit_test(held_while_full),
	};

	return RUN(tests);
}
