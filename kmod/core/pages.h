/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of our own, in chunks, that data passes through on its way from one device to
 * another or to a reader.  They count against the cap of nc_cache.fill_memory.
 */
#ifndef NEARCACHE_CORE_PAGES_H
#define NEARCACHE_CORE_PAGES_H

#include <linux/bvec.h>
#include <linux/types.h>

struct bio;
struct nc_cache;

/* Not from the emergency reserves: who writes to free memory may use them, for
 * what it cannot do without.
 */
#define NC_PAGES_GFP	(GFP_NOWAIT | __GFP_NOWARN | __GFP_NOMEMALLOC)

/**
 * struct nc_pages - the last member of what owns them
 * @memory: bytes accounted in nc_cache.fill_memory, the owner included
 * @count: chunks
 * @vecs: chunks, contiguous low memory
 */
struct nc_pages {
	u32 memory;
	unsigned short count;
	struct bio_vec vecs[];
};

void *nc_pages_alloc(struct nc_cache *c, size_t offset, u32 bytes, u64 cap,
		     bool zero);
void nc_pages_free(struct nc_cache *c, void *owner, struct nc_pages *pages);
void nc_pages_copy(const struct nc_pages *pages, u32 bytes, u32 skip,
		   struct bio *bio);

#endif /* NEARCACHE_CORE_PAGES_H */
