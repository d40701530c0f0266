// SPDX-License-Identifier: GPL-2.0-only
/* Generate the block reads of training jobs; equal seeds give equal reads. */
#include <stdlib.h>

#include "policy_trace.h"

struct trace *trace_new(u64 seed)
{
	struct trace *t = calloc(1, sizeof(*t));

	t->random = seed * 0x9e3779b97f4a7c15ULL + 1;
	return t;
}

void trace_free(struct trace *t)
{
	free(t->reads);
	free(t);
}

/* Return a random number below @below: xorshift64*, the same with every C library. */
u32 trace_random(struct trace *t, u32 below)
{
	t->random ^= t->random >> 12;
	t->random ^= t->random << 25;
	t->random ^= t->random >> 27;
	return (u32)((t->random * 0x2545f4914f6cdd1dULL) >> 33) % below;
}

void trace_read(struct trace *t, u32 block)
{
	if (t->count == t->room) {
		t->room = t->room ? 2 * t->room : 4096;
		t->reads = realloc(t->reads, t->room * sizeof(*t->reads));
	}
	t->reads[t->count++] = block;
}

/* Shuffle the reads from @from on in pieces of @piece reads, which stay together. */
static void shuffle(struct trace *t, u32 from, u32 piece)
{
	u32 i, j, k, pieces = (t->count - from) / piece;
	u32 *reads = t->reads + from, swap;

	for (i = pieces - 1; i; i--) {
		j = trace_random(t, i + 1);
		for (k = 0; k < piece; k++) {
			swap = reads[i * piece + k];
			reads[i * piece + k] = reads[j * piece + k];
			reads[j * piece + k] = swap;
		}
	}
}

/* Add one epoch: one read of each of the @blocks blocks from @first on. */
void trace_epoch(struct trace *t, u32 first, u32 blocks, enum order order)
{
	u32 i, from = t->count;

	for (i = 0; i < blocks; i++)
		trace_read(t, first + i);
	if (order != SAME)
		shuffle(t, from, order == SHARDS ? SHARD : 1);
}

/* Add the share of one of two nodes in an epoch: a random half of the blocks, each once. */
void trace_half(struct trace *t, u32 blocks)
{
	u32 from = t->count;

	trace_epoch(t, 0, blocks, SHUFFLED);
	t->count = from + blocks / 2;
}

/* Add the reads of two jobs, interleaved at random; the second one begins amid an epoch. */
void trace_jobs(struct trace *t, u32 blocks, u32 epochs)
{
	struct trace *job[2] = { trace_new(t->random), trace_new(t->random + 1) };
	u32 i, n, next[2] = { 0, blocks / 2 };

	for (n = 0; n <= epochs; n++)
		for (i = 0; i < 2; i++)
			trace_epoch(job[i], 0, blocks, SHUFFLED);
	for (n = 0; n < 2 * epochs * blocks; n++) {
		i = trace_random(t, 2);
		if (next[i] == job[i]->count)
			i = !i;
		trace_read(t, job[i]->reads[next[i]++]);
	}
	for (i = 0; i < 2; i++)
		trace_free(job[i]);
}

/* Add one epoch: 10 % of the blocks four times, 30 % twice, and half of the other 60 % once. */
void trace_mixture(struct trace *t, u32 blocks, u32 epoch)
{
	u32 i, n, from = t->count;

	for (i = 0; i < blocks; i++) {
		u32 times = i < blocks / 10 ? 4 : i < blocks * 4 / 10 ? 2 : (i + epoch) & 1;

		for (n = 0; n < times; n++)
			trace_read(t, i);
	}
	shuffle(t, from, 1);
}
