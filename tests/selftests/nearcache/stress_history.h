/* SPDX-License-Identifier: GPL-2.0-only */
/* A ring of the last operations of 'stress', to print those on a sector that is found wrong. */
#ifndef NEARCACHE_TEST_STRESS_HISTORY_H
#define NEARCACHE_TEST_STRESS_HISTORY_H

#include "stress_sector.h"

#define HISTORY		(1U << 18)
#define HISTORY_TOLD	48	/* most operations printed for a sector */

enum action {
	READ,
	READ_NOWAIT,
	READ_BUFFERED,
	WRITE,
	WRITE_DSYNC,
	WRITE_BUFFERED,
	DISCARD,
	ZERO,
	SYNC,
	DROP,
	ACTIONS
};

static const char *const action_names[ACTIONS] = {
	"read",	   "read-nowait", "read-buffered",
	"write",   "write-dsync", "write-buffered",
	"discard", "zero",	  "sync",
	"drop"
};

/* @start, @end: tickets of the model's clock; @end 0: unfinished.  @first, @count: sectors. */
struct operation {
	uint64_t id, start, end;
	uint32_t first, count;
	uint16_t thread, action;
};

static struct operation history[HISTORY];
static _Atomic uint64_t history_next;

static inline struct operation *history_add(const struct operation *what)
{
	uint64_t n = atomic_fetch_add(&history_next, 1) % HISTORY;

	history[n] = *what;
	return &history[n];
}

static inline void operation_tell(const struct operation *op)
{
	printf("  %8llu - ", (unsigned long long)op->start);
	if (op->end)
		printf("%-8llu", (unsigned long long)op->end);
	else
		printf("...     ");
	printf(" thread %-3u %-14s %u + %u", op->thread,
	       action_names[op->action], op->first, op->count);
	if (op->id) {
		printf(": ");
		id_tell(op->id);
	}
	printf("\n");
}

/* Print the last HISTORY_TOLD operations on a sector, oldest first. */
static inline void history_tell(uint64_t sector)
{
	uint64_t next = history_next, i = next, told = 0;
	uint64_t from = next > HISTORY ? next - HISTORY : 0;
	const struct operation *op;

	for (; i > from && told < HISTORY_TOLD; i--) {
		op = &history[(i - 1) % HISTORY];
		told += op->first <= sector &&
			sector < op->first + (uint64_t)op->count;
	}
	printf("operations on sector %llu, start - end:\n",
	       (unsigned long long)sector);
	for (; i < next; i++) {
		op = &history[i % HISTORY];
		if (op->first <= sector &&
		    sector < op->first + (uint64_t)op->count)
			operation_tell(op);
	}
}

/* Print the writes that the model lists for @sector.  The caller holds the lock of the stripe. */
static inline void candidates_tell(const struct model *m, uint64_t sector)
{
	const struct model_write *w;

	for (w = m->sector[sector]; w; w = w->next) {
		printf("  ");
		id_tell(w->id);
		printf(", started %llu", (unsigned long long)w->start);
		if (w->end == MODEL_NEVER)
			printf(", in flight");
		else
			printf(", took effect before %llu",
			       (unsigned long long)w->end);
		if (w->gone != MODEL_NEVER)
			printf(", overwritten at %llu",
			       (unsigned long long)w->gone);
		printf("\n");
	}
}

#endif /* NEARCACHE_TEST_STRESS_HISTORY_H */
