// SPDX-License-Identifier: GPL-2.0-only
/* Grace periods ("rounds") of hit sections (kmod/core/hit_srcu.c) under random interleavings: when
 * a round is over, each reader that is in a hit section did its look-up after the round began.
 * Barriers only switch tasks here: the simulated processors do not reorder memory accesses.
 */
#include <errno.h>
#include <stdlib.h>
#include <ucontext.h>

#include "helper/unit.h"
#include "core/hit_srcu.h"

#define READERS	3U
#define ASKERS	2U
#define TASKS	(READERS + ASKERS)
#define PARTS	2U
#define STACK	(256U << 10)
#define SEEDS	40U
#define STEPS	200000U
/* Maximum number of polls until a round is over. */
#define LOOKS	1000U

/**
 * struct task - a cooperative task: a reader, or a thread that waits for rounds
 * @context: saved registers
 * @stack: its stack
 * @locks: the task holds the mutex of the rounds
 * @holds: the task is in a hit section
 * @part: part of the index that the reader uses
 * @saw: value of the variable @unlinked when the reader did its look-up
 */
struct task {
	ucontext_t context;
	void *stack;
	bool locks;
	bool holds;
	u32 part;
	u64 saw;
};

int unit_cpu;

static struct nc_hit_srcu holds;
static struct task task[TASKS], *running;
static ucontext_t scheduler;
static u64 unlinked, state, rounds, idles, waits;

static u32 chance(u32 below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % below;
}

void unit_elsewhere(void)
{
	struct task *t = running;
	int cpu = unit_cpu;

	if (!t)
		return;
	t->locks = holds.rounds->lock.held && t >= task + READERS;
	swapcontext(&t->context, &scheduler);
	unit_cpu = cpu;
}

/* Reader: a loop of hits.  A hit may end on another processor than it began on. */
static void reads(void)
{
	struct task *t = running;
	int phase;

	for (;;) {
		unit_cpu = chance(UNIT_CPUS);
		t->part = chance(PARTS);
		phase = nc_hit_lock(&holds, t->part);
		t->saw = unlinked;
		t->holds = true;
		unit_elsewhere();
		t->holds = false;
		unit_cpu = chance(UNIT_CPUS);
		nc_hit_unlock(&holds, phase);
		unit_elsewhere();
	}
}

/* Increment @unlinked.  Once a part is idle, no reader in the part may have an old value. */
static void asks_part(void)
{
	u32 part = chance(PARTS), i;
	u64 mine = ++unlinked;

	while (!nc_hit_part_idle(&holds, part)) {
		waits++;
		unit_elsewhere();
	}
	for (i = 0; i < READERS; i++)
		assert_true(!task[i].holds || task[i].part != part || task[i].saw >= mine);
	idles++;
	unit_elsewhere();
}

/* Waiter: increment @unlinked.  After a round no reader in a hit section may have an old value. */
static void asks(void)
{
	u64 mine, round;
	u32 looks, i;

	for (;;) {
		asks_part();
		mine = ++unlinked;
		round = nc_hit_start_poll(&holds);
		for (looks = 0; !nc_hit_poll(&holds, round); looks++) {
			waits++;
			unit_elsewhere();
			assert_true(looks < LOOKS);
		}
		for (i = 0; i < READERS; i++)
			assert_true(!task[i].holds || task[i].saw >= mine);
		rounds++;
		unit_elsewhere();
	}
}

static void start(struct task *t, void (*what)(void))
{
	memset(t, 0, sizeof(*t));
	t->stack = malloc(STACK);
	assert_non_null(t->stack);
	getcontext(&t->context);
	t->context.uc_stack.ss_sp = t->stack;
	t->context.uc_stack.ss_size = STACK;
	t->context.uc_link = &scheduler;
	makecontext(&t->context, what, 0);
}

static struct task *owner(void)
{
	u32 i;

	for (i = READERS; i < TASKS; i++)
		if (task[i].locks)
			return &task[i];
	return NULL;
}

/* Run a random task that is awake.  While a waiter holds the mutex, no other waiter runs. */
static void run_one(void)
{
	static u32 asleep;
	struct task *t = &task[chance(TASKS)];

	if (!chance(200))
		asleep = chance(1U << TASKS);
	if (t >= task + READERS && owner())
		t = owner();
	if (asleep >> (t - task) & 1)
		return;
	running = t;
	swapcontext(&scheduler, &t->context);
	running = NULL;
}

static void whatever_others_do(void **unused)
{
	u32 seed, i;

	(void)unused;
	rounds = 0;
	waits = 0;
	idles = 0;
	for (seed = 0; seed < SEEDS; seed++) {
		state = seed;
		assert_int_equal(nc_hit_srcu_init(&holds), 0);
		for (i = 0; i < TASKS; i++)
			start(&task[i], i < READERS ? reads : asks);
		for (i = 0; i < STEPS; i++)
			run_one();
		for (i = 0; i < TASKS; i++)
			free(task[i].stack);
		free_percpu(holds.counts);
		kfree(holds.rounds);
	}
	assert_true(rounds > SEEDS * STEPS / 1000);
	assert_true(waits > rounds / 4);
	assert_true(idles > SEEDS * STEPS / 1000);
}

/* A round waits for the hits that began before it, not for the hit that begins after it. */
static void not_for_ever(void **unused)
{
	int first, other = 0, next;
	u64 round;
	u32 i;

	(void)unused;
	assert_int_equal(nc_hit_srcu_init(&holds), 0);
	other = nc_hit_lock(&holds, 0);
	for (i = 0; i < 1000; i++) {
		first = nc_hit_lock(&holds, 0);
		round = nc_hit_start_poll(&holds);
		next = nc_hit_lock(&holds, 0);
		assert_false(nc_hit_poll(&holds, round));
		nc_hit_unlock(&holds, first);
		assert_false(nc_hit_poll(&holds, round));
		nc_hit_unlock(&holds, other);
		assert_true(nc_hit_poll(&holds, round));
		other = next;
	}
	nc_hit_unlock(&holds, other);
	nc_hit_srcu_destroy(&holds);
}

static u32 slept, ends_at;
static unsigned long last;
static int held;

void usleep_range(unsigned long least, unsigned long most)
{
	assert_true(least >= 50 && most <= 2 * least && least >= last);
	last = least;
	if (++slept == ends_at)
		nc_hit_unlock(&holds, held);
}

/* Wait up to waits of 6400 us for a hit that ends after @waits waits. */
static bool waited(u32 waits)
{
	slept = 0;
	last = 0;
	ends_at = waits;
	held = nc_hit_lock(&holds, 5);
	return nc_hit_synchronize(&holds, 6400);
}

static void waited_for(void **unused)
{
	(void)unused;
	assert_int_equal(nc_hit_srcu_init(&holds), 0);
	assert_true(nc_hit_synchronize(&holds, 6400));
	assert_int_equal(slept, 0);
	assert_true(waited(7));
	assert_int_equal(slept, 7);
	assert_false(waited(20));
	assert_int_equal(slept, 8);
	assert_int_equal(last, 6400);
	/* The hit that is left makes its part busy, and no other. */
	assert_false(nc_hit_part_idle(&holds, 5));
	assert_false(nc_hit_part_idle(&holds, 5 + 3 * NC_HIT_PARTS));
	assert_true(nc_hit_part_idle(&holds, 6));
	nc_hit_unlock(&holds, held);
	assert_true(nc_hit_part_idle(&holds, 5));
	nc_hit_srcu_destroy(&holds);
}

static void without_memory(void **unused)
{
	int some;

	(void)unused;
	for (some = 0; some < 2; some++) {
		unit_allocations = some;
		assert_int_equal(nc_hit_srcu_init(&holds), -ENOMEM);
	}
	unit_allocations = -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_others_do),
		cmocka_unit_test(not_for_ever),
		cmocka_unit_test(waited_for),
		cmocka_unit_test(without_memory),
	};

	return RUN(tests);
}
