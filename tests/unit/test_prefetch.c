// SPDX-License-Identifier: GPL-2.0-only
/* The prefetch engine: failed allocations (kmod/prefetch/prefetch.c), blocks that readers have passed
 * (kmod/core/user_load.h), and the size of the prefetch reserve (kmod/prefetch/slot_wait.c and
 * kmod/evict/prefetch_reserve.c).
 */
#include "helper/unit.h"
#include "cache.h"
#include "prefetch/slot_wait.h"

#define BLOCK	7ULL

unsigned long fuzz_jiffies = 1000 * HZ;
size_t fuzz_allocated;
void (*fuzz_resched)(void);

/* The allocation that fails, counted from 1; 0: none. */
static unsigned int failing;
static struct nc_cache cache;

void *fuzz_alloc(size_t bytes)
{
	if (failing && !--failing)
		return NULL;
	fuzz_allocated++;
	return malloc(bytes);
}

void *fuzz_zalloc(size_t bytes)
{
	void *memory = fuzz_alloc(bytes);

	return memory ? memset(memory, 0, bytes) : NULL;
}

void fuzz_free(const void *memory)
{
	fuzz_allocated -= !!memory;
	free((void *)memory);
}

/* The engine has no jobs. */
void nc_jobs_detach(struct nc_jobs *jobs, struct list_head *to)
{
	(void)jobs;
	(void)to;
}

void nc_jobs_free(struct list_head *list)
{
	(void)list;
}

bool nc_ranges_pinned(struct nc_cache *c, u64 block)
{
	(void)c;
	(void)block;
	return false;
}

void nc_slots_check(struct nc_cache *c)
{
	(void)c;
}

void nc_slots_look_again(struct nc_cache *c)
{
	(void)c;
}

static void memory_fails(void **state)
{
	unsigned int n;

	(void)state;
	for (n = 1; n <= 2; n++) {
		memset(&cache, 0, sizeof(cache));
		failing = n;
		assert_int_equal(nc_prefetch_alloc(&cache), -ENOMEM);
		nc_prefetch_destroy(&cache);
		assert_int_equal(fuzz_allocated, 0);
	}
	memset(&cache, 0, sizeof(cache));
	assert_int_equal(nc_prefetch_alloc(&cache), 0);
	assert_int_equal(fuzz_allocated, 2);
	nc_prefetch_destroy(&cache);
	assert_int_equal(fuzz_allocated, 0);
}

/* A job leaves out a block once for each time that readers have passed it since the job was submitted,
 * and within a minute.
 */
static void leaves_out_passed(void **state)
{
	struct nc_demand *d = &cache.origin.demand;
	u32 since;

	(void)state;
	memset(&cache, 0, sizeof(cache));
	assert_int_equal(nc_prefetch_alloc(&cache), 0);
	/* Without a job, nothing is noted. */
	since = nc_demand_stamp();
	fuzz_jiffies += HZ;
	nc_demand_see_passed(d, BLOCK);
	fuzz_jiffies += HZ;
	assert_false(nc_demand_take_passed(d, BLOCK, since));
	d->watched = true;
	nc_demand_see_passed(d, BLOCK);
	assert_false(nc_demand_take_passed(d, BLOCK + NC_DEMAND_PASSED, since));
	assert_true(nc_demand_take_passed(d, BLOCK, since));
	/* The job names the block again: readers have yet to come. */
	assert_false(nc_demand_take_passed(d, BLOCK, since));
	fuzz_jiffies += 59 * HZ;
	nc_demand_see_passed(d, BLOCK);
	assert_true(nc_demand_take_passed(d, BLOCK, since));
	/* Readers passed the block before the job came, or long ago. */
	nc_demand_see_passed(d, BLOCK);
	fuzz_jiffies += HZ;
	assert_false(nc_demand_take_passed(d, BLOCK, nc_demand_stamp()));
	fuzz_jiffies += 61 * HZ;
	assert_false(nc_demand_take_passed(d, BLOCK, since));
	nc_prefetch_destroy(&cache);
}

/* A job waits for a slot in another tick.  @ended: reads of jobs have ended since the last time; @full:
 * they queued.  Returns the size of the reserve.
 */
static u32 look(struct nc_job *job, bool ended, bool full)
{
	cache.hot.now++;
	cache.prefetch.reads += ended;
	cache.prefetch.pipe.full = full;
	assert_true(nc_job_waits_for_slot(&cache, job, BLOCK));
	cache.slots.reserve.need = 0;
	return nc_reserve_room(&cache);
}

static void sizes_reserve(u32 slots)
{
	struct nc_job job = { .blocks = U32_MAX };
	u32 most, least, size, before, i;

	memset(&cache, 0, sizeof(cache));
	cache.index.count = slots;
	most = slots - nc_index_pinnable(&cache.index);
	least = min(max(slots / 400, 8U), most);
	/* No user reads the origin. */
	cache.origin.demand.last = jiffies - HZ;
	size = nc_reserve_room(&cache);
	assert_int_equal(size, least);
	for (i = 0; i < 100; i++) {
		before = size;
		/* Without a read of a job the idle origin is the measurement, whatever was before. */
		size = look(&job, i % 2, !(i % 2));
		assert_int_equal(size, min(before + before / 8 + 1, most));
	}
	assert_int_equal(size, most);
	/* The slots that the reserve has taken are given back. */
	cache.slots.reserve.own = most;
	for (i = 0; i < 100; i++) {
		/* Users read: without a read of a job there is no measurement. */
		cache.origin.demand.last = jiffies;
		assert_int_equal(look(&job, false, true), size);
		assert_int_equal(look(&job, false, false), size);
		before = size;
		size = look(&job, true, true);
		assert_int_equal(size, max(before - before / 8, least));
		assert_int_equal(cache.slots.reserve.own, size);
	}
	assert_int_equal(size, least);
	/* The reserve grows again after 30 s without a queue. */
	fuzz_jiffies += 30 * HZ - 1;
	assert_int_equal(look(&job, true, false), least);
	fuzz_jiffies++;
	assert_int_equal(look(&job, true, false), min(least + least / 8 + 1, most));
}

/* A job takes the slots that were freed for it slowly: the rest stays reserved for jobs. */
static void keeps_freed_slots(void **unused)
{
	struct nc_prefetch_reserve *r = &cache.slots.reserve;
	u32 due;

	(void)unused;
	memset(&cache, 0, sizeof(cache));
	cache.index.count = 100000;
	nc_reserve_want(&cache, 100);
	due = nc_reserve_due(&cache);
	assert_int_equal(due, 100);
	/* The worker has taken 30 slots since reclaim looked. */
	atomic_set(&r->used, 30);
	nc_reserve_gain(&cache, 0, due);
	nc_reserve_want(&cache, 0);
	assert_int_equal(nc_reserve_kept(&cache), 70);
	atomic_set(&r->used, 0);
	assert_int_equal(nc_reserve_kept(&cache), 100);
	/* No job waits any more. */
	nc_reserve_gain(&cache, 100, 100);
	assert_int_equal(nc_reserve_kept(&cache), 100);
	nc_reserve_want(&cache, 1);
	nc_reserve_gain(&cache, 10, 20);
	assert_int_equal(nc_reserve_kept(&cache), 100);
	/* No more than the size of the reserve. */
	nc_reserve_gain(&cache, 100, 100000);
	assert_int_equal(nc_reserve_kept(&cache), 250);
}

static void sizes_any_reserve(void **state)
{
	static const u32 slots[] = { 2, 8, 100, 1000, 3300, 100000, 1U << 24 };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
		sizes_reserve(slots[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_fails),
		cmocka_unit_test(leaves_out_passed),
		cmocka_unit_test(sizes_any_reserve),
		cmocka_unit_test(keeps_freed_slots),
	};

	return RUN(tests);
}
