// SPDX-License-Identifier: GPL-2.0-only
/* Which bytes of the origin are cached: looked up block by block, as hits do it. */
#include "cache.h"
#include "io/residency.h"

/* Blocks that are looked at before others get the CPU. */
#define LOOK_AT	1024U

/* One look goes no further than so many blocks: others may be waiting for us. */
#define RUN_BLOCKS_MAX	1048576U

static u64 valid_bits(struct nc_cache *c, u64 block)
{
	int state = READ_ONCE(c->state), hold;
	u64 valid = 0;
	u32 slot;

	/* What is not served is not cached, nor what is just being loaded. */
	if (state != NEARCACHE_NORMAL && state != NEARCACHE_DEGRADED)
		return 0;
	hold = nc_holds_take(&c->holds);
	slot = nc_index_find(&c->index, block);
	if (slot != NC_NIL)
		valid = READ_ONCE(c->index.slots[slot].valid);
	nc_holds_give(&c->holds, hold);
	return valid;
}

/* Sectors from @first on, inside one block, that are alike. */
static void run_in_block(struct nc_cache *c, sector_t first, struct nc_run *run)
{
	u64 block = first >> c->block_shift;
	sector_t start = block << c->block_shift;
	u32 sub = (first - start) >> c->sub_shift;
	u64 bits = valid_bits(c, block) >> sub;
	u32 alike;

	run->first = first;
	run->cached = bits & 1;
	if (run->cached)
		bits = ~bits;
	/* What was shifted in is no sub-block of this one. */
	alike = bits ? __ffs64(bits) : NEARCACHE_SUBBLOCKS_MAX;
	run->end = min(start + ((sector_t)(sub + alike) << c->sub_shift),
		       (block + 1) << c->block_shift);
}

/**
 * nc_residency_run() - the run that begins at a sector
 * @c: cache
 * @first: of what is asked for
 * @end: behind it, inside the origin; more than @first
 * @run: filled in; ends at @end, or where the next one begins, or before, when it is long
 *
 * Each block is as it was when it was looked at.
 *
 * Context: may sleep, waits for no I/O.
 */
void nc_residency_run(struct nc_cache *c, sector_t first, sector_t end, struct nc_run *run)
{
	struct nc_run next;
	u32 looked = 0;

	run_in_block(c, first, run);
	while (run->end < end && looked++ < RUN_BLOCKS_MAX) {
		run_in_block(c, run->end, &next);
		if (next.cached != run->cached)
			break;
		run->end = next.end;
		if (!(looked % LOOK_AT))
			cond_resched();
	}
	run->end = min(run->end, end);
}

/**
 * nc_residency_sectors() - how much of a piece of the origin is cached
 * @c: cache
 * @first: its first sector
 * @end: behind it, inside the origin; set to how far was looked, if that is less
 *
 * Context: may sleep, waits for no I/O.
 * Return: sectors.
 */
u64 nc_residency_sectors(struct nc_cache *c, sector_t first, sector_t *end)
{
	sector_t most = first + ((sector_t)RUN_BLOCKS_MAX << c->block_shift);
	struct nc_run run;
	u64 sectors = 0;

	*end = min(*end, most);
	while (first < *end) {
		nc_residency_run(c, first, *end, &run);
		if (run.cached)
			sectors += run.end - run.first;
		first = run.end;
		cond_resched();
	}
	return sectors;
}
