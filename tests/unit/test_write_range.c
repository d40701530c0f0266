// SPDX-License-Identifier: GPL-2.0-only
/* Write ranges (kmod/core/write_range.c): queries beside a plain list, and the protocol of
 * kmod/doc/writing.md under random interleavings of writers, fills and readers: valid data equals
 * the origin's.  Barriers are not tested: the simulated processors do not reorder memory accesses.
 */
#include <stdlib.h>
#include <ucontext.h>

#include <linux/limits.h>
#include <linux/minmax.h>

#include "helper/unit.h"
#include "core/write_range.h"

#define REGION		(1ULL << NC_WRITE_REGION_SHIFT)
#define RANGES		48U
#define ROUNDS		20000U

/* Blocks and sub-blocks of the protocol's origin; the blocks lie on both sides of borders. */
#define BLOCKS		8U
#define SUBS		4U
#define SECTORS		(REGION / 4)
#define START		(REGION - SECTORS)
#define TASKS		4U
#define STACK		(256U << 10)
#define STEPS		1000000U

static ucontext_t scheduler, task[TASKS], *running;

void unit_elsewhere(void)
{
	ucontext_t *self = running;

	if (self)
		swapcontext(self, &scheduler);
}

static u64 chance(u64 *seed, u64 below)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*seed >> 33) % below;
}

/* Do @in and the list give the same answers for these sectors? */
static void compare(struct nc_write_ranges *in, const struct nc_write_range *range,
		    const bool *listed, u64 first, u64 last)
{
	u64 expected = U64_MAX, found;
	bool empty = true;
	u32 i;

	for (i = 0; i < RANGES; i++) {
		empty = empty && !listed[i];
		if (listed[i] && range[i].first <= last && range[i].last >= first)
			expected = min(expected, max(range[i].first, first));
	}
	assert_int_equal(nc_write_range_first(in, first, last, &found), expected != U64_MAX);
	if (expected != U64_MAX)
		assert_int_equal(found, expected);
	assert_int_equal(nc_write_ranges_empty(in), empty);
}

static void compare_alone(struct nc_write_ranges *in, const struct nc_write_range *range,
			  const bool *listed, u32 own, u64 first, u64 last)
{
	bool alone = true;
	u32 i;

	for (i = 0; i < RANGES; i++)
		if (i != own && listed[i] && range[i].first <= last && range[i].last >= first)
			alone = false;
	assert_int_equal(nc_write_range_alone(in, &range[own], first, last), alone);
}

/* A length in sectors: most are short; some cover more regions than there are trees. */
static u64 some_length(u64 *seed)
{
	switch (chance(seed, 8)) {
	case 0:
		return 1 + chance(seed, 2 * NC_WRITE_TREES * REGION);
	case 1:
		return 1 + chance(seed, 3 * REGION);
	default:
		return 1 + chance(seed, REGION / 8);
	}
}

static void queries(void **unused)
{
	struct nc_write_ranges *in = aligned_alloc(64, sizeof(*in));
	struct nc_write_range range[RANGES];
	bool listed[RANGES] = {};
	u64 seed = 1, first, room;
	u32 round, i;

	(void)unused;
	nc_write_ranges_init(in);
	for (round = 0; round < ROUNDS; round++) {
		i = chance(&seed, RANGES);
		/* Sometimes few ranges, sometimes nearly none. */
		room = chance(&seed, 2) ? 2 * REGION : 4 * NC_WRITE_TREES * REGION;
		if (listed[i]) {
			nc_write_range_remove(in, &range[i]);
		} else {
			range[i].first = chance(&seed, room);
			range[i].last = range[i].first + some_length(&seed) - 1;
			nc_write_range_add(in, &range[i]);
		}
		listed[i] = !listed[i];
		first = chance(&seed, room);
		compare(in, range, listed, first, first + some_length(&seed) - 1);
		first = chance(&seed, room) / (REGION / 8) * (REGION / 8);
		if (listed[i])
			compare_alone(in, range, listed, i, first, first + REGION / 8 - 1);
		if (round % (ROUNDS / 8))
			continue;
		for (i = 0; i < RANGES; i++)
			if (listed[i])
				nc_write_range_remove(in, &range[i]);
		memset(listed, 0, sizeof(listed));
		compare(in, range, listed, 0, U64_MAX - 1);
	}
	free(in);
}

/* Ranges of different regions are in trees with different locks, each in its own cache lines. */
static void spread(void **unused)
{
	struct nc_write_ranges *in = aligned_alloc(64, sizeof(*in));
	struct nc_write_range range;
	bool used[NC_WRITE_TREES] = {};
	u32 i, region, trees = 0;

	(void)unused;
	nc_write_ranges_init(in);
	for (region = 0; region < 2 * NC_WRITE_TREES; region++) {
		range.first = region * REGION;
		range.last = range.first + REGION - 1;
		nc_write_range_add(in, &range);
		for (i = 0; i < NC_WRITE_TREES; i++)
			if (in->within[i].root.rb_root.rb_node && !used[i]) {
				used[i] = true;
				trees++;
			}
		assert_null(in->across.root.rb_root.rb_node);
		nc_write_range_remove(in, &range);
	}
	assert_true(trees > NC_WRITE_TREES * 3 / 4);
	assert_int_equal(sizeof(struct nc_write_tree) % 64, 0);
	free(in);
}

/**
 * struct block - a block of the origin, and its slot
 * @lock: the bucket lock; protects all fields except @origin
 * @valid: sub-blocks that the slot has
 * @filling: sub-blocks that a fill reads
 * @stale: sub-blocks of the fill that were written since it began
 * @slot: version of each sub-block in the slot
 * @origin: version of each sub-block of the origin
 */
struct block {
	spinlock_t lock;	/* see above */
	u32 valid;
	u32 filling;
	u32 stale;
	u64 slot[SUBS];
	u64 origin[SUBS];
};

static struct block block[BLOCKS];
static struct nc_write_ranges *writes;
static u64 state = 7;
static u32 fills, published, refused, reads;

static u64 sub_start(u32 b, u32 sub)
{
	return START + b * SECTORS + sub * (SECTORS / SUBS);
}

/* Write sub-blocks @first to @last of the origin, counted from the first block's on. */
static void write_subs(u32 first, u32 last)
{
	struct nc_write_range range = {
		.first = sub_start(0, first), .last = sub_start(0, last + 1) - 1,
	};
	u32 i;

	nc_write_range_add(writes, &range);
	for (i = first; i <= last; i++) {
		struct block *b = &block[i / SUBS];

		spin_lock(&b->lock);
		b->valid &= ~(1U << i % SUBS);
		b->stale |= b->filling & 1U << i % SUBS;
		spin_unlock(&b->lock);
	}
	for (i = first; i <= last; i++) {
		block[i / SUBS].origin[i % SUBS]++;
		unit_elsewhere();
	}
	nc_write_range_remove(writes, &range);
}

/* Look a sub-block up; returns whether a fill of it begins. */
static bool fill_begins(struct block *b, u32 sub, u64 first, u64 last)
{
	u64 found;

	if (b->valid & 1U << sub || b->filling)
		return false;
	if (nc_write_range_first(writes, first, last, &found)) {
		refused++;
		return false;
	}
	b->filling = 1U << sub;
	b->stale = 0;
	fills++;
	return true;
}

static void fill_sub(u32 n, u32 sub)
{
	struct block *b = &block[n];
	bool begins;
	u64 version;

	spin_lock(&b->lock);
	begins = fill_begins(b, sub, sub_start(n, sub), sub_start(n, sub + 1) - 1);
	spin_unlock(&b->lock);
	if (!begins)
		return;
	version = b->origin[sub];
	unit_elsewhere();
	spin_lock(&b->lock);
	if (!b->stale) {
		b->slot[sub] = version;
		b->valid |= 1U << sub;
		published++;
	}
	b->filling = 0;
	spin_unlock(&b->lock);
}

/* A sub-block is not valid while a write changes it, so a hit has the origin's data. */
static void read_sub(u32 n, u32 sub)
{
	if (!(block[n].valid & 1U << sub))
		return;
	assert_int_equal(block[n].slot[sub], block[n].origin[sub]);
	reads++;
}

static void works(void)
{
	u32 first;

	for (;;) {
		first = chance(&state, BLOCKS * SUBS);
		switch (chance(&state, 4)) {
		case 0:
			write_subs(first, min(first + (u32)chance(&state, 6), BLOCKS * SUBS - 1));
			break;
		case 1:
			read_sub(first / SUBS, first % SUBS);
			break;
		default:
			fill_sub(first / SUBS, first % SUBS);
		}
		unit_elsewhere();
	}
}

static void protocol(void **unused)
{
	void *stack[TASKS];
	u32 i;

	(void)unused;
	writes = aligned_alloc(64, sizeof(*writes));
	nc_write_ranges_init(writes);
	for (i = 0; i < TASKS; i++) {
		stack[i] = malloc(STACK);
		getcontext(&task[i]);
		task[i].uc_stack.ss_sp = stack[i];
		task[i].uc_stack.ss_size = STACK;
		makecontext(&task[i], works, 0);
	}
	for (i = 0; i < STEPS; i++) {
		running = &task[chance(&state, TASKS)];
		swapcontext(&scheduler, running);
	}
	running = NULL;
	print_message("# %u fills, %u published, %u refused beside a write, %u hits\n", fills,
		      published, refused, reads);
	assert_true(fills > published && published > 1000 && refused > 1000 && reads > 1000);
	for (i = 0; i < TASKS; i++)
		free(stack[i]);
	free(writes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queries),
		cmocka_unit_test(spread),
		cmocka_unit_test(protocol),
	};

	return RUN(tests);
}
