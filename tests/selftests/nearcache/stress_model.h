/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The values that each sector of a device may hold while many threads write and read it.
 *
 * A sector is an atomic register: each write takes effect at one moment between its start and its
 * end, and a read returns the value at one moment between its own start and end. The model keeps,
 * per sector, a list of the writes that a read may still return. The moment of a write is known
 * only to lie in [start, end]; the results of reads shrink this interval. Two events prove that a
 * write was overwritten:
 *
 *	write W ended		W overwrote each write that ended before W started
 *	read R returned W	W took effect before R ended; W overwrote each write that
 *				ended before R or before W started
 *
 * The second rule makes readers agree: of two writes in flight at the same time either may win, but
 * once a read has returned one of them, no later read may return the other. No rule removes a value
 * that a correct device could still return.
 *
 * Times are tickets of one counter, so they order events as the threads saw them. An overwritten
 * write stays in the list until each read that began before the time of overwriting (@gone) ends.
 */
#ifndef NEARCACHE_TEST_STRESS_MODEL_H
#define NEARCACHE_TEST_STRESS_MODEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define MODEL_THREADS	256
#define MODEL_STRIPES	1024
#define MODEL_GROUP	64U	/* consecutive sectors under one lock */
#define MODEL_NEVER	UINT64_MAX
/* Flag in an id: the write wrote zeros. A read cannot tell two such writes apart. */
#define MODEL_ZERO	(1ULL << 63)

struct model_write {
	struct model_write *next;
	uint64_t id;
	/* The earliest and the latest moment at which the write took effect. */
	uint64_t start, end;
	uint64_t gone;	/* reads that begin from then on must not return @id */
};

struct model_stripe {
	pthread_mutex_t lock;
	struct model_write *spare;
};

struct model {
	uint64_t sectors;
	struct model_write **sector;
	struct model_stripe stripe[MODEL_STRIPES];
	_Atomic uint64_t clock;
	_Atomic uint64_t raced;	/* number of reads with several possible values */
	/* Per thread: a time not later than the start of its current read; 0: no read. */
	_Atomic uint64_t reading[MODEL_THREADS];
};

static inline bool model_same(uint64_t a, uint64_t b)
{
	return a == b || (a & b & MODEL_ZERO);
}

static inline uint64_t model_now(struct model *m)
{
	return atomic_fetch_add(&m->clock, 1);
}

static inline struct model_stripe *model_stripe(struct model *m,
						uint64_t sector)
{
	return &m->stripe[sector / MODEL_GROUP % MODEL_STRIPES];
}

/* Take a free node; the caller holds the lock of @stripe. */
static inline struct model_write *model_node(struct model_stripe *stripe)
{
	struct model_write *w = stripe->spare;
	unsigned int i;

	if (!w) {
		w = calloc(64, sizeof(*w));
		if (!w)
			abort();
		for (i = 0; i < 64; i++) {
			w[i].next = stripe->spare;
			stripe->spare = &w[i];
		}
		w = stripe->spare;
	}
	stripe->spare = w->next;
	return w;
}

/* Make @id the only value allowed in the sector; no I/O to the sector is in progress. */
static inline void model_set(struct model *m, uint64_t sector, uint64_t id)
{
	struct model_stripe *stripe = model_stripe(m, sector);
	struct model_write *w;

	while ((w = m->sector[sector])) {
		m->sector[sector] = w->next;
		w->next = stripe->spare;
		stripe->spare = w;
	}
	w = model_node(stripe);
	*w = (struct model_write){ .id = id, .gone = MODEL_NEVER };
	m->sector[sector] = w;
}

static inline void model_init(struct model *m, uint64_t sectors)
{
	unsigned int i;

	m->sectors = sectors;
	m->clock = 1;
	m->sector = calloc(sectors, sizeof(*m->sector));
	if (!m->sector)
		abort();
	for (i = 0; i < MODEL_STRIPES; i++)
		pthread_mutex_init(&m->stripe[i].lock, NULL);
}

/* Returns a time: all reads that are still in progress began at that time or later. */
static inline uint64_t model_horizon(struct model *m)
{
	/*
	 * Load the clock before the array: a read that is not yet in the array when it is loaded
	 * starts at @horizon or later.
	 */
	uint64_t horizon = atomic_load(&m->clock), start;
	unsigned int i;

	for (i = 0; i < MODEL_THREADS; i++) {
		start = atomic_load(&m->reading[i]);
		if (start && start < horizon)
			horizon = start;
	}
	return horizon;
}

/* Mark all writes that ended before @start, except @id, as overwritten at @when or earlier. */
static inline void model_overwrite(struct model_write *list, uint64_t id,
				   uint64_t start, uint64_t when)
{
	struct model_write *w;

	for (w = list; w; w = w->next)
		if (!model_same(w->id, id) && w->end < start && when < w->gone)
			w->gone = when;
}

static inline void model_prune(struct model_stripe *stripe,
			       struct model_write **link, uint64_t horizon)
{
	struct model_write *w;

	while ((w = *link)) {
		if (w->gone < horizon) {
			*link = w->next;
			w->next = stripe->spare;
			stripe->spare = w;
		} else {
			link = &w->next;
		}
	}
}

/* Call before issuing the write. */
static inline void model_write_begin(struct model *m, uint64_t first,
				     uint64_t count, uint64_t id)
{
	uint64_t now = model_now(m), i;
	struct model_write *w;

	for (i = first; i < first + count; i++) {
		struct model_stripe *stripe = model_stripe(m, i);

		pthread_mutex_lock(&stripe->lock);
		w = model_node(stripe);
		*w = (struct model_write){ .next = m->sector[i],
					   .id = id,
					   .start = now,
					   .end = MODEL_NEVER,
					   .gone = MODEL_NEVER };
		m->sector[i] = w;
		pthread_mutex_unlock(&stripe->lock);
	}
}

/* Call after the write completed without error. */
static inline void model_write_end(struct model *m, uint64_t first,
				   uint64_t count, uint64_t id)
{
	uint64_t now = model_now(m), horizon = model_horizon(m), i;
	struct model_write *w;

	for (i = first; i < first + count; i++) {
		struct model_stripe *stripe = model_stripe(m, i);

		pthread_mutex_lock(&stripe->lock);
		for (w = m->sector[i]; w && w->id != id; w = w->next)
			;
		/* If a read has returned a newer write, @id was removed from the list. */
		if (w) {
			if (w->end > now)
				w->end = now;
			model_overwrite(m->sector[i], id, w->start, w->end);
		}
		model_prune(stripe, &m->sector[i], horizon);
		pthread_mutex_unlock(&stripe->lock);
	}
}

static inline uint64_t model_read_begin(struct model *m, unsigned int thread)
{
	m->reading[thread] = atomic_load(&m->clock);
	return model_now(m);
}

static inline void model_read_end(struct model *m, unsigned int thread)
{
	m->reading[thread] = 0;
}

/* May a read from @start to @end return @id?  If so, mark the writes that @id overwrote. */
static inline bool model_read(struct model *m, uint64_t sector, uint64_t id,
			      uint64_t start, uint64_t end)
{
	struct model_stripe *stripe = model_stripe(m, sector);
	struct model_write *w, *found = NULL;
	unsigned int matches = 0;
	uint64_t latest = 0;

	pthread_mutex_lock(&stripe->lock);
	for (w = m->sector[sector]; w; w = w->next) {
		if (!model_same(w->id, id) || w->start >= end ||
		    w->gone <= start)
			continue;
		found = w;
		matches++;
		if (w->end > latest)
			latest = w->end;
	}
	if (latest > end)
		latest = end;
	if (matches == 1) {
		/* Several matches are writes of zeros: it is unknown which of them was read. */
		found->end = latest;
		if (found->start > start)
			start = found->start;
	}
	if (matches && m->sector[sector]->next) {
		m->raced++;
		model_overwrite(m->sector[sector], id, start, latest);
	}
	pthread_mutex_unlock(&stripe->lock);
	return matches;
}

/*
 * @id was read from the sector with no other I/O in progress.  Returns true if the model allows
 * @id, which then becomes the only allowed value; on false, nothing changes.
 */
static inline bool model_settle(struct model *m, uint64_t sector, uint64_t id)
{
	uint64_t now = model_now(m);
	bool good = model_read(m, sector, id, now, model_now(m));

	if (good)
		model_set(m, sector, id);
	return good;
}

#endif /* NEARCACHE_TEST_STRESS_MODEL_H */
