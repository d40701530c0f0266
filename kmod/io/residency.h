/* SPDX-License-Identifier: GPL-2.0-only */
/* Residency: which sectors of the origin are cached, and how recently they were used. */
#ifndef NEARCACHE_IO_RESIDENCY_H
#define NEARCACHE_IO_RESIDENCY_H

#include <linux/types.h>

struct nc_cache;

/**
 * struct nc_run - adjacent sectors of the origin, either all cached or none cached
 * @first: first sector
 * @end: sector behind the last one
 * @cached: the sectors are cached
 */
struct nc_run {
	sector_t first;
	sector_t end;
	bool cached;
};

/* Heat of a block that was just used.  It falls by one each time the ticks since the use double. */
#define NC_HEAT_MAX	15

/**
 * struct nc_unit - sum over some blocks of the origin
 * @sectors: cached sectors
 * @heat: 0 to NC_HEAT_MAX, of the block that was used last; 0 if nothing is cached
 */
struct nc_unit {
	u64 sectors;
	int heat;
};

void nc_residency_run(struct nc_cache *c, sector_t first, sector_t end, struct nc_run *run);
u64 nc_residency_sectors(struct nc_cache *c, sector_t first, sector_t *end);
void nc_residency_unit(struct nc_cache *c, sector_t first, sector_t end, struct nc_unit *unit);

#endif /* NEARCACHE_IO_RESIDENCY_H */
