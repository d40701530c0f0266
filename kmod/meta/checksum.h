/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checksums of cached data: one per sub-block of each slot, in memory and in the cache
 * device's checksum area.
 */
#ifndef NEARCACHE_META_CHECKSUM_H
#define NEARCACHE_META_CHECKSUM_H

#include <linux/bits.h>
#include <linux/types.h>

struct nc_cache;
struct nc_geometry;

/**
 * struct nc_sums - checksums of all slots
 * @sum: checksums in the medium's format; NULL if the cache has none
 * @dirty: bitmap of the pages of @sum that differ from the medium; set in any context
 * @buffer: copy of the pages being written
 * @pages: pages of @sum, 4096 bytes each
 * @offset: start of the checksum area, bytes
 * @shift: log2 of the sub-blocks of a block
 *
 * Locks: only the fill that covers a sub-block writes its sum.  That fill sets the page's dirty
 * bit before the valid bit, under the bucket lock.  A reader of the sum is in a hit section
 * (nc_hot.hit_srcu), so the slot keeps its block.  The sum is constant while the sub-block is
 * valid: if a reader sees the sum change, the sub-block was invalidated meanwhile.
 * nc_commit.lock protects @buffer.
 */
struct nc_sums {
	__le32 *sum;
	unsigned long *dirty;
	void *buffer;
	u64 pages;
	u64 offset;
	u8 shift;
};

int nc_sums_init(struct nc_sums *s, const struct nc_geometry *geo);
void nc_sums_destroy(struct nc_sums *s);
int nc_sums_load(struct nc_cache *c);
int nc_sums_write(struct nc_cache *c);
void nc_sums_dirty(struct nc_sums *s, u32 slot);
size_t nc_sums_memory(const struct nc_sums *s);

static inline bool nc_sums_present(const struct nc_sums *s)
{
	return s->sum;
}

/* The checksum of sub-block @sub of a slot. */
static inline __le32 *nc_sums_of(const struct nc_sums *s, u32 slot, u32 sub)
{
	return &s->sum[((u64)slot << s->shift) + sub];
}

#endif /* NEARCACHE_META_CHECKSUM_H */
