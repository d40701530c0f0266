/* SPDX-License-Identifier: GPL-2.0-only */
/* Residency: which sectors of the origin are cached. */
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

void nc_residency_run(struct nc_cache *c, sector_t first, sector_t end, struct nc_run *run);
u64 nc_residency_sectors(struct nc_cache *c, sector_t first, sector_t *end);

#endif /* NEARCACHE_IO_RESIDENCY_H */
