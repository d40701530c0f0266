// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../selftests/nearcache/sector.h"
#include "state.h"

/* Chance in percent that a write that is under way is torn; that another pending write is. */
#define TORN_UNDER_WAY	50U
#define TORN		20U

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static bool chance(uint64_t *random, unsigned int percent)
{
	return random_next(random) % 100 < percent;
}

/* Change a sector until state_undo(). */
void state_put(struct state *s, uint64_t sector, const void *data)
{
	unsigned char *at = s->image + sector * SECTOR;

	if (s->undo_count == s->undo_room) {
		s->undo_room = s->undo_room * 2 + 1024;
		s->undo = must(realloc(s->undo, s->undo_room * sizeof(*s->undo)));
	}
	s->undo[s->undo_count].sector = sector;
	memcpy(s->undo[s->undo_count++].data, at, SECTOR);
	memcpy(at, data, SECTOR);
}

/* Take back all changes but the first @from. */
void state_undo(struct state *s, size_t from)
{
	while (s->undo_count > from) {
		s->undo_count--;
		memcpy(s->image + s->undo[s->undo_count].sector * SECTOR,
		       s->undo[s->undo_count].data, SECTOR);
	}
}

/* Make entry @n durable: all sectors but those with durable data of a later entry. */
static void put_durable(struct state *s, const struct log *log, size_t n)
{
	const struct log_entry *e = &log->entry[n];
	uint64_t i;

	for (i = 0; i < e->sectors; i++) {
		if (s->writer[e->sector + i] > n)
			continue;
		memcpy(s->image + (e->sector + i) * SECTOR, e->data + i * SECTOR, SECTOR);
		s->writer[e->sector + i] = n;
	}
}

/* Put pending entry @n until state_undo(): all of it, or with @torn some of its sectors. */
static void put_pending(struct state *s, const struct log *log, size_t n, bool torn,
			uint64_t *random)
{
	const struct log_entry *e = &log->entry[n];
	unsigned int percent = torn ? random_next(random) % 101 : 100;
	bool whole = chance(random, percent);
	uint64_t i, at;

	for (i = 0; i < e->sectors; i++) {
		at = e->sector + i;
		if (s->writer[at] > n)
			continue;
		if (at >= s->atomic && at - s->atomic < 8 ? whole : chance(random, percent))
			state_put(s, at, e->data + i * SECTOR);
	}
}

/* Process entry @n of the recording: a write becomes pending, a completion makes some durable. */
void state_pass(struct state *s, const struct log *log, size_t n)
{
	const struct log_entry *e = &log->entry[n];
	size_t i, left = 0;

	if (e->sectors) {
		if (e->sector + e->sectors > s->sectors) {
			fprintf(stderr, "entry %zu writes beyond the end\n", n);
			exit(2);
		}
		s->pending[s->pending_count++] = n;
	}
	if (e->ends == LOG_NEVER)
		return;
	for (i = 0; i < s->pending_count; i++)
		if (log->entry[s->pending[i]].durable == n)
			put_durable(s, log, s->pending[i]);
		else
			s->pending[left++] = s->pending[i];
	s->pending_count = left;
}

/**
 * state_cut() - make a state that a power cut before entry @position can leave
 * @s: has passed all entries before @position
 * @log: the recording
 * @position: number of an entry
 * @random: state of the random numbers
 *
 * Each device keeps a share of its pending writes of its own: often none or all of them.
 */
void state_cut(struct state *s, const struct log *log, size_t position, uint64_t *random)
{
	unsigned int share[LOG_DEVICES], i;
	size_t n;

	for (i = 0; i < LOG_DEVICES; i++) {
		share[i] = random_next(random) % 161;
		share[i] = share[i] > 130 ? 0 : share[i] > 100 ? 100 : share[i];
	}
	for (n = 0; n < s->pending_count; n++) {
		const struct log_entry *e = &log->entry[s->pending[n]];

		if (chance(random, share[e->device]))
			put_pending(s, log, s->pending[n],
				    chance(random, e->done >= position ? TORN_UNDER_WAY : TORN),
				    random);
	}
}

/* Begin before the first entry, with the content of file @base; NULL: with zeros. */
void state_begin(struct state *s, const struct log *log, const char *base, uint64_t sectors)
{
	FILE *from;

	memset(s, 0, sizeof(*s));
	s->sectors = sectors;
	s->atomic = SIZE_MAX;
	s->image = must(calloc(sectors, SECTOR));
	if (base) {
		from = fopen(base, "r");
		if (!from || fread(s->image, SECTOR, sectors, from) != sectors) {
			fprintf(stderr, "%s: not readable, or too short\n", base);
			exit(2);
		}
		fclose(from);
	}
	s->writer = must(calloc(sectors, sizeof(*s->writer)));
	s->pending = must(calloc(log->count + 1, sizeof(*s->pending)));
}

void state_end(struct state *s)
{
	free(s->image);
	free(s->writer);
	free(s->pending);
	free(s->undo);
}
