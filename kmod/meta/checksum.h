/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checksums of cached data: one for each sub-block of each slot, in memory and in the
 * cache device's checksum area.
 */
#ifndef NEARCACHE_META_CHECKSUM_H
#define NEARCACHE_META_CHECKSUM_H

#include <linux/bits.h>
#include <linux/types.h>

struct nc_cache;
struct nc_geometry;

/**
 * struct nc_sums - checksums of all slots
 * @sum: as on the medium; NULL without checksums
 * @dirty: bit for each page of @sum: differs from the medium; set in any context
 * @buffer: what is being written
 * @pages: of @sum, 4096 bytes each
 * @offset: of the area, bytes
 * @shift: log2 of the sub-blocks of a block
 *
 * Who protects what: a sum belongs to whoever may write its sub-block's data, which
 * is the fill that covers it; the page's bit is set before the valid bit is, under the
 * stripe lock.  A reader of the sum holds nc_cache.holds, so that the slot stays its block's;
 * while the sub-block is valid the sum is constant, and who sees another one sees data
 * that was dropped meanwhile.  @buffer: nc_commit.lock.
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

/* Place of a sub-block's sum. */
static inline __le32 *nc_sums_of(const struct nc_sums *s, u32 slot, u32 sub)
{
	return &s->sum[((u64)slot << s->shift) + sub];
}

#endif /* NEARCACHE_META_CHECKSUM_H */
