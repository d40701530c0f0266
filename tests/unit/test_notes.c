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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_while_taken),
		cmocka_unit_test(full_ring),
	};

	return RUN(tests);
}
