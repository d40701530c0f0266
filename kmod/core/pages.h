/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page buffers in chunks, for data that is copied between two devices or to a reader.  A chunk of
 * half a page or less takes only its size, rounded up to a power of two.  Chunks count towards
 * nc_fills.memory by the memory that they take.
 */
#ifndef NEARCACHE_CORE_PAGES_H
#define NEARCACHE_CORE_PAGES_H

#include <linux/bvec.h>
#include <linux/types.h>

struct bio;
struct nc_cache;

/* Page buffers must leave the emergency reserves, which a task that writes back memory may use
 * (PF_MEMALLOC), to allocations that must succeed: an allocation of page buffers may fail.
 */
#define NC_PAGES_GFP	(GFP_NOWAIT | __GFP_NOWARN | __GFP_NOMEMALLOC)

/**
 * struct nc_pages - page buffer; the last member of the object that owns it
 * @memory: bytes accounted in nc_fills.memory, the owner included
 * @count: number of chunks
 * @vecs: chunks, each of contiguous memory with a kernel address: pages, or (only the last) a part
 *	of a page
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
__le32 nc_pages_sum(const struct bio_vec *vecs, struct bvec_iter *iter, u32 bytes);

#endif /* NEARCACHE_CORE_PAGES_H */
