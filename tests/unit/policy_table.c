// SPDX-License-Identifier: GPL-2.0-only
/* 'make policy-table': print a table of hit rates, one row for each access pattern and policy, one
 * column for each cache size (f: part of the dataset).  The module's policy runs on the cache of
 * policy_sim.h.  A value is the percentage of hits among the reads that count.  These are the reads
 * of the second half of the EPOCHS, or from epoch 4 on if the name of the pattern says so.
 */
#include "policy_reference.h"
#include "policy_sim.h"

#define BLOCKS	4000U
#define ORIGIN	(5 * BLOCKS)
#define EPOCHS	20U
#define SUBS	9U

static const double fractions[] = { 0.1, 0.25, 0.5, 0.65, 0.75 };

/**
 * struct pattern - an access pattern
 * @name: for the table
 * @subs: samples per block
 * @make: add the reads of EPOCHS epochs to @t; return the number of the first read that counts
 */
struct pattern {
	const char *name;
	u32 subs;
	u32 (*make)(struct trace *t);
};

static u32 make_epochs(struct trace *t, u32 blocks, enum order order)
{
	u32 n;

	for (n = 0; n < EPOCHS; n++)
		trace_epoch(t, 0, blocks, order);
	return t->count / 2;
}

static u32 make_shuffled(struct trace *t)
{
	return make_epochs(t, BLOCKS, SHUFFLED);
}

static u32 make_shards(struct trace *t)
{
	return make_epochs(t, BLOCKS, SHARDS);
}

static u32 make_same(struct trace *t)
{
	return make_epochs(t, BLOCKS, SAME);
}

static u32 make_samples(struct trace *t)
{
	return make_epochs(t, BLOCKS * SUBS, SHUFFLED);
}

static u32 make_half(struct trace *t)
{
	u32 n;

	for (n = 0; n < EPOCHS; n++)
		trace_half(t, BLOCKS);
	return t->count / 2;
}

static u32 make_jobs(struct trace *t)
{
	trace_jobs(t, BLOCKS, EPOCHS / 2);
	return t->count / 2;
}

static u32 make_mixture(struct trace *t)
{
	u32 n;

	for (n = 0; n < EPOCHS; n++)
		trace_mixture(t, BLOCKS, n);
	return t->count / 2;
}

static u32 make_switch(struct trace *t)
{
	u32 n, from = 0;

	for (n = 0; n < EPOCHS; n++) {
		if (n == EPOCHS / 2 + 3)
			from = t->count;
		trace_epoch(t, n < EPOCHS / 2 ? 0 : BLOCKS, BLOCKS, SHUFFLED);
	}
	return from;
}

/* Copy the whole origin except the dataset once, then read the dataset. */
static u32 make_junk(struct trace *t)
{
	u32 n, from = 0;

	trace_epoch(t, BLOCKS, ORIGIN - BLOCKS, SAME);
	for (n = 0; n < EPOCHS; n++) {
		if (n == 3)
			from = t->count;
		trace_epoch(t, 0, BLOCKS, SHUFFLED);
	}
	return from;
}

static u32 make_scans(struct trace *t)
{
	u32 n, from = 0;

	for (n = 0; n < EPOCHS; n++) {
		if (n == EPOCHS / 2)
			from = t->count;
		trace_epoch(t, 0, BLOCKS, SHUFFLED);
		if (n == EPOCHS / 2)
			trace_epoch(t, BLOCKS, 3 * BLOCKS, SAME);
	}
	return from;
}

static u32 make_evaluations(struct trace *t)
{
	u32 n;

	for (n = 0; n < EPOCHS; n++)
		trace_epoch(t, n % 4 == 3 ? BLOCKS : 0, BLOCKS, SHUFFLED);
	return t->count / 2;
}

static const struct pattern patterns[] = {
	{ "full reshuffle", 1, make_shuffled },
	{ "shards reshuffled", 1, make_shards },
	{ "same order", 1, make_same },
	{ "a random half each epoch", 1, make_half },
	{ "two unsynchronised jobs", 1, make_jobs },
	{ "mixture (10 % 4x, 30 % 2x, 60 % 0.5x)", 1, make_mixture },
	{ "switch, from its 4th epoch on", 1, make_switch },
	{ "after a copy of 4 D, from the 4th epoch on", 1, make_junk },
	{ "a scan of 3 D between two epochs", 1, make_scans },
	{ "another dataset in each 4th epoch", 1, make_evaluations },
	{ "9 samples in a block", SUBS, make_samples },
};

static double keep(const struct trace *t, u32 from, u32 subs, u32 slots)
{
	struct sim *s = sim_new_subs(&nc_policy_keep, slots, ORIGIN, subs, 1);
	u32 hits;

	sim_run(s, t->reads, from);
	hits = sim_run(s, t->reads + from, t->count - from);
	sim_free(s);
	return (double)hits / (t->count - from);
}

static void print_pattern(const struct pattern *pattern)
{
	struct trace *t = trace_new(1);
	u32 i, r, from = pattern->make(t);

	printf("| %s | **nearcache** |", pattern->name);
	for (i = 0; i < ARRAY_SIZE(fractions); i++)
		printf(" **%.1f** |", 100 * keep(t, from, pattern->subs, fractions[i] * BLOCKS));
	printf("\n");
	/* The reference policies handle only whole blocks: no rows for patterns of samples. */
	for (r = 0; pattern->subs == 1 && r < REFERENCES; r++) {
		printf("| | %s |", references[r].name);
		for (i = 0; i < ARRAY_SIZE(fractions); i++)
			printf(" %.1f |", 100.0 / (t->count - from) *
			       references[r].run(t, from, ORIGIN, fractions[i] * BLOCKS));
		printf("\n");
	}
	trace_free(t);
}

int main(void)
{
	u32 i;

	printf("| pattern | policy |");
	for (i = 0; i < ARRAY_SIZE(fractions); i++)
		printf(" f = %.2f |", fractions[i]);
	printf("\n|---|---|---|---|---|---|---|\n");
	for (i = 0; i < ARRAY_SIZE(patterns); i++)
		print_pattern(&patterns[i]);
	return 0;
}
