// SPDX-License-Identifier: GPL-2.0-only
/* Reference policies for policy_table.c.  All policies except random run on one simulated cache:
 * each cached block has a rank, and the block with the lowest rank is evicted.  A heap holds the
 * ranks.  If the rank of a block changes, the block gets a new entry; evict() skips the old entry.
 */
#include <stdlib.h>

#include "policy_reference.h"

/**
 * struct entry - rank of a block
 * @rank: the block with the lowest rank is evicted first
 * @block: block number
 */
struct entry {
	u64 rank;
	u32 block;
};

/**
 * struct cache - cache of whole blocks
 * @heap: entries, the lowest rank first
 * @count: entries in @heap, stale ones included
 * @rank: current rank of each block
 * @cached: whether each block is cached
 * @used: cached blocks
 * @slots: maximum of @used
 */
struct cache {
	struct entry *heap;
	u32 count;
	u64 *rank;
	bool *cached;
	u32 used;
	u32 slots;
};

static void swap_entries(struct cache *c, u32 i, u32 j)
{
	struct entry e = c->heap[i];

	c->heap[i] = c->heap[j];
	c->heap[j] = e;
}

static void push(struct cache *c, u32 block, u64 rank)
{
	u32 i = c->count++;

	c->rank[block] = rank;
	c->heap[i] = (struct entry){ rank, block };
	for (; i && c->heap[i].rank < c->heap[(i - 1) / 2].rank; i = (i - 1) / 2)
		swap_entries(c, i, (i - 1) / 2);
}

static struct entry pop(struct cache *c)
{
	struct entry top = c->heap[0];
	u32 i = 0, child;

	c->heap[0] = c->heap[--c->count];
	for (; (child = 2 * i + 1) < c->count; i = child) {
		child += child + 1 < c->count && c->heap[child + 1].rank < c->heap[child].rank;
		if (c->heap[i].rank <= c->heap[child].rank)
			break;
		swap_entries(c, i, child);
	}
	return top;
}

/* Evict the block with the lowest rank. */
static void evict(struct cache *c)
{
	struct entry e;

	do
		e = pop(c);
	while (!c->cached[e.block] || e.rank != c->rank[e.block]);
	c->cached[e.block] = false;
	c->used--;
}

static struct cache cache_of(const struct trace *t, u32 blocks, u32 slots)
{
	return (struct cache){
		.heap = malloc((t->count + 1) * sizeof(struct entry)),
		.rank = calloc(blocks, sizeof(u64)),
		.cached = calloc(blocks, sizeof(bool)),
		.slots = slots,
	};
}

static void free_cache(struct cache *c)
{
	free(c->heap);
	free(c->rank);
	free(c->cached);
}

/* Return the new rank of block @t->reads[i], or 0 to keep its old rank.  @next[i] is the position
 * of the next read of that block, or @t->count if there is none; only rank_min() uses @next.
 */
typedef u64 (*rank_fn)(const struct trace *t, const u32 *next, u32 i, bool hit);

static u32 run(const struct trace *t, const u32 *next, u32 from, u32 blocks, u32 slots,
	       rank_fn rank)
{
	struct cache c = cache_of(t, blocks, slots);
	u32 i, hits = 0;

	for (i = 0; i < t->count; i++) {
		u32 block = t->reads[i];
		bool hit = c.cached[block];
		u64 r = rank(t, next, i, hit);

		hits += hit && i >= from;
		if (!hit) {
			c.cached[block] = true;
			c.used++;
		}
		if (r)
			push(&c, block, r);
		if (c.used > c.slots)
			evict(&c);
	}
	free_cache(&c);
	return hits;
}

static u64 rank_lru(const struct trace *t, const u32 *next, u32 i, bool hit)
{
	(void)t, (void)next, (void)hit;
	return i + 1;
}

static u64 rank_fifo(const struct trace *t, const u32 *next, u32 i, bool hit)
{
	(void)t, (void)next;
	return hit ? 0 : i + 1;
}

/* The newest block is evicted first, so older blocks stay. */
static u64 rank_never(const struct trace *t, const u32 *next, u32 i, bool hit)
{
	(void)next;
	return hit ? 0 : t->count - i;
}

/* The block with the farthest next read is evicted first. */
static u64 rank_min(const struct trace *t, const u32 *next, u32 i, bool hit)
{
	(void)hit;
	return t->count + 1 - next[i];
}

static u32 run_lru(const struct trace *t, u32 from, u32 blocks, u32 slots)
{
	return run(t, NULL, from, blocks, slots, rank_lru);
}

static u32 run_fifo(const struct trace *t, u32 from, u32 blocks, u32 slots)
{
	return run(t, NULL, from, blocks, slots, rank_fifo);
}

/* Run @t on a cache that evicts a random slot; return the hits from read @from on. */
static u32 run_random(const struct trace *t, u32 from, u32 blocks, u32 slots)
{
	struct trace *dice = trace_new(1);
	u32 *block_of = malloc(slots * sizeof(*block_of)), used = 0, hits = 0, i;
	bool *cached = calloc(blocks, sizeof(*cached));

	for (i = 0; i < t->count; i++) {
		u32 block = t->reads[i], slot = used;

		if (cached[block]) {
			hits += i >= from;
			continue;
		}
		if (used < slots) {
			used++;
		} else {
			slot = trace_random(dice, slots);
			cached[block_of[slot]] = false;
		}
		block_of[slot] = block;
		cached[block] = true;
	}
	free(block_of);
	free(cached);
	trace_free(dice);
	return hits;
}

static u32 run_never(const struct trace *t, u32 from, u32 blocks, u32 slots)
{
	return run(t, NULL, from, blocks, slots, rank_never);
}

static u32 run_min(const struct trace *t, u32 from, u32 blocks, u32 slots)
{
	u32 *next = malloc(t->count * sizeof(*next)), *last = malloc(blocks * sizeof(*last));
	u32 i, hits;

	for (i = 0; i < blocks; i++)
		last[i] = t->count;
	for (i = t->count; i--;) {
		next[i] = last[t->reads[i]];
		last[t->reads[i]] = i;
	}
	hits = run(t, next, from, blocks, slots, rank_min);
	free(next);
	free(last);
	return hits;
}

const struct reference references[REFERENCES] = {
	{ "LRU", run_lru },
	{ "FIFO", run_fifo },
	{ "random", run_random },
	{ "never evict", run_never },
	{ "MIN", run_min },
};
