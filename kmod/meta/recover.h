/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interpretation of the metadata on a medium, after a stop or a crash.  Pure functions
 * as in ondisk_check.h: the kernel and the crash tests in user space compile this source.
 */
#ifndef NEARCACHE_META_RECOVER_H
#define NEARCACHE_META_RECOVER_H

#include "meta/ondisk_check.h"

/* Number of commit records in the ring. */
#define NC_RECOVER_RING	(NEARCACHE_COMMIT_AREA_SIZE / NEARCACHE_PAGE_SIZE)

/* Number of sectors of the write-intent bitmap. */
#define NC_RECOVER_INTENT (NEARCACHE_INTENT_AREA_SIZE / NEARCACHE_INTENT_SIZE)

/* "No copy", from nc_recover_page() (the page's slots are lost) or from nc_recover_listed(). */
#define NC_RECOVER_NONE	(-1)

const struct nearcache_commit *
nc_recover_last(const struct nearcache_commit *ring, const u8 *uuid);
int nc_recover_listed(const struct nearcache_commit *last, u64 index);
int nc_recover_page(const struct nearcache_page *p0,
		    const struct nearcache_page *p1, const u8 *uuid, u64 index,
		    u64 epoch, const struct nearcache_commit *last,
		    u64 *newest);
bool nc_recover_slot(const struct nc_geometry *geo,
		     const struct nearcache_slot *slot);
bool nc_recover_stayed(const struct nearcache_super *sb,
		       const struct nearcache_witness *record);
bool nc_recover_older(const struct nearcache_super *sb,
		      const struct nearcache_witness *record);
void nc_recover_intent(struct nearcache_intent *area,
		       const struct nearcache_super *sb,
		       const struct nearcache_witness *record);
bool nc_recover_ends(const struct nearcache_intent *area);
bool nc_recover_member(const struct nearcache_super *member, u64 epoch,
		       u64 last);
u64 nc_recover_written(const struct nc_geometry *geo,
		       const struct nearcache_intent *area, u64 block);

#endif /* NEARCACHE_META_RECOVER_H */
