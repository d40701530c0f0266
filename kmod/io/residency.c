// SPDX-License-Identifier: GPL-2.0-only
/* Residency: which sectors of the origin are cached.  Each block is looked up as for a hit. */
#include "cache.h"
#include "io/residency.h"

/* Blocks to look up before cond_resched(). */
#define LOOK_AT	1024U

/* Most blocks per call, because the caller may hold a reference or lock that others wait for. */
#define RUN_BLOCKS_MAX	1048576U

/* Return the valid bits of a block.  @stamp receives that of its slot; unchanged without a slot. */
static u64 valid_bits(struct nc_cache *c, u64 block, u16 *stamp)
{
	int state = READ_ONCE(c->hot.state), hold;
	u64 valid = 0;
	u32 slot;

	/* In other states no read is a hit, and during load not all slots are in the index yet. */
	if (state != NEARCACHE_NORMAL && state != NEARCACHE_DEGRADED)
		return 0;
	hold = nc_hit_lock(&c->hot.hit_srcu, nc_index_hash(&c->index, block));
	slot = nc_index_find(&c->index, block);
	if (slot != NC_NIL) {
		valid = READ_ONCE(c->index.slots[slot].valid);
		*stamp = READ_ONCE(c->index.slots[slot].stamp);
	}
	nc_hit_unlock(&c->hot.hit_srcu, hold);
	return valid;
}

/* Find the run that begins at @first; it ends at the latest with the block. */
static void run_in_block(struct nc_cache *c, sector_t first, struct nc_run *run)
{
	u64 block = first >> c->hot.block_shift;
	sector_t start = block << c->hot.block_shift;
	u32 sub = (first - start) >> c->hot.sub_shift;
	u16 stamp;
	u64 bits = valid_bits(c, block, &stamp) >> sub;
	u32 alike;

	run->first = first;
	run->cached = bits & 1;
	if (run->cached)
		bits = ~bits;
	/* The shift by @sub brought in zeros, so @alike may reach beyond the block: use min(). */
	alike = bits ? __ffs64(bits) : NEARCACHE_SUBBLOCKS_MAX;
	run->end = min(start + ((sector_t)(sub + alike) << c->hot.sub_shift),
		       (block + 1) << c->hot.block_shift);
}

/**
 * nc_residency_run() - find the run that begins at a sector
 * @c: cache
 * @first: first sector
 * @end: sector behind the last one, inside the origin; more than @first
 * @run: result; ends at @end, at the start of the next run, or earlier after RUN_BLOCKS_MAX
 *
 * Blocks are looked up one after the other: the result is no snapshot of one moment.
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
 * nc_residency_sectors() - count the cached sectors of a part of the origin
 * @c: cache
 * @first: first sector
 * @end: sector behind the last one, inside the origin; lowered to where the count stopped
 *
 * Context: may sleep, waits for no I/O.
 * Return: number of cached sectors from @first to the new @end.
 */
u64 nc_residency_sectors(struct nc_cache *c, sector_t first, sector_t *end)
{
	sector_t most = first + ((sector_t)RUN_BLOCKS_MAX << c->hot.block_shift);
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

/**
 * nc_residency_unit() - cached sectors and heat of some blocks of the origin
 * @c: cache
 * @first: first sector, at the start of a block
 * @end: sector behind the last one, at the end of a block or of the origin
 * @unit: result
 *
 * The heat comes from the ticks of the policy's clock since a use, see NC_HEAT_MAX.  The caller
 * limits the number of blocks, as it may hold a reference that others wait for.
 *
 * Context: may sleep, waits for no I/O.
 */
void nc_residency_unit(struct nc_cache *c, sector_t first, sector_t end, struct nc_unit *unit)
{
	u32 now = READ_ONCE(c->hot.now), sectors, subs;
	sector_t step = c->hot.block_mask + 1;
	u16 stamp;
	u64 bits;

	memset(unit, 0, sizeof(*unit));
	for (; first < end; first += step) {
		sectors = min(step, end - first);
		subs = DIV_ROUND_UP(sectors, 1U << c->hot.sub_shift);
		bits = valid_bits(c, first >> c->hot.block_shift, &stamp) &
		       GENMASK_ULL(subs - 1, 0);
		if (!bits)
			continue;
		/* The last sub-block of the origin may be shorter. */
		unit->sectors += min((u32)hweight64(bits) << c->hot.sub_shift, sectors);
		unit->heat = max(unit->heat, NC_HEAT_MAX - fls(nc_stamp_distance(stamp, now)));
	}
}
