// SPDX-License-Identifier: GPL-2.0-only
/* Page buffers: allocate, free, copy to a reader, compute checksums. */
#include <linux/build_bug.h>
#include <linux/crc32c.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "cache.h"
#include "core/pages.h"

/* Chunks of up to eight pages are cheap to allocate and keep bios short. */
#define CHUNK_ORDER	3

static bool reserve_memory(struct nc_cache *c, u32 bytes, u64 cap)
{
	s64 held = atomic64_add_return(bytes, &c->fills.memory);
	s64 peak = atomic64_read(&c->fills.memory_peak);

	if (held > (s64)cap) {
		atomic64_sub(bytes, &c->fills.memory);
		return false;
	}
	while (held > peak &&
	       !atomic64_try_cmpxchg(&c->fills.memory_peak, &peak, held))
		;
	return true;
}

/* The slab allocator aligns a power of two up to here to its size: it lies in one page. */
static_assert(PAGE_SIZE / 2 <= KMALLOC_MAX_CACHE_SIZE);

/* Does a chunk for @bytes take only a part of a page?  Pages of 64 KiB would be wasted on the
 * sub-block of 4 KiB that a random read brings.
 */
static bool is_part_of_page(u32 bytes)
{
	return bytes <= PAGE_SIZE / 2;
}

/* Return the size of all chunks for @bytes: whole pages, and perhaps a part of one. */
static u32 chunks_size(u32 bytes)
{
	u32 rest = bytes & ~PAGE_MASK;

	return bytes - rest + (rest ? roundup_pow_of_two(rest) : 0);
}

static bool alloc_part_of_page(struct bio_vec *chunk, u32 bytes, gfp_t gfp)
{
	void *data = kmalloc(roundup_pow_of_two(bytes), gfp);

	if (!data)
		return false;
	bvec_set_page(chunk, virt_to_page(data), bytes, offset_in_page(data));
	return true;
}

/* Each chunk has a power of two of pages, and only the data of the last chunk may end inside its
 * last page, so that get_order(bv_len) is the order that free_chunk() needs.
 */
static bool alloc_whole_pages(struct bio_vec *chunk, u32 bytes, gfp_t gfp)
{
	/* A rest that fits into a part of a page gets a chunk of its own. */
	int order = min_t(int, CHUNK_ORDER, ilog2((bytes + PAGE_SIZE / 2 - 1) / PAGE_SIZE));
	struct page *page = alloc_pages(gfp | __GFP_COMP, order);

	if (!page && order) {
		order = 0;
		page = alloc_pages(gfp | __GFP_COMP, 0);
	}
	if (!page)
		return false;
	bvec_set_page(chunk, page, min_t(u32, bytes, PAGE_SIZE << order), 0);
	return true;
}

static bool alloc_chunks(struct nc_pages *pages, u32 bytes, gfp_t gfp)
{
	while (bytes) {
		struct bio_vec *chunk = &pages->vecs[pages->count];

		if (is_part_of_page(bytes) ? !alloc_part_of_page(chunk, bytes, gfp) :
					     !alloc_whole_pages(chunk, bytes, gfp))
			return false;
		pages->count++;
		bytes -= chunk->bv_len;
	}
	return true;
}

static void free_chunk(const struct bio_vec *chunk)
{
	if (is_part_of_page(chunk->bv_len))
		kfree(page_address(chunk->bv_page) + chunk->bv_offset);
	else
		__free_pages(chunk->bv_page, get_order(chunk->bv_len));
}

/**
 * nc_pages_alloc() - allocate an object together with its pages
 * @c: live cache
 * @offset: offset of struct nc_pages, the object's last member
 * @bytes: size of the pages
 * @cap: upper limit of nc_fills.memory after the allocation, bytes
 * @zero: zero the pages
 *
 * Context: map; does not sleep.
 * Return: object for nc_pages_free(), with only struct nc_pages set; NULL: no memory, or over @cap.
 */
void *nc_pages_alloc(struct nc_cache *c, size_t offset, u32 bytes, u64 cap,
		     bool zero)
{
	u32 count = DIV_ROUND_UP(bytes, PAGE_SIZE);
	struct nc_pages *pages;
	size_t size = offset + struct_size(pages, vecs, count);
	u32 memory = chunks_size(bytes) + size;
	void *owner;

	if (!reserve_memory(c, memory, cap))
		return NULL;
	owner = kmalloc(size, NC_PAGES_GFP);
	if (!owner) {
		atomic64_sub(memory, &c->fills.memory);
		return NULL;
	}
	pages = owner + offset;
	pages->memory = memory;
	pages->count = 0;
	if (alloc_chunks(pages, bytes, NC_PAGES_GFP | __GFP_NORETRY | (zero ? __GFP_ZERO : 0)))
		return owner;
	nc_pages_free(c, owner, pages);
	return NULL;
}

/* Free @owner, which nc_pages_alloc() returned.  Any context except hard interrupts. */
void nc_pages_free(struct nc_cache *c, void *owner, struct nc_pages *pages)
{
	unsigned int i;

	for (i = 0; i < pages->count; i++)
		free_chunk(&pages->vecs[i]);
	atomic64_sub(pages->memory, &c->fills.memory);
	kfree(owner);
}

/* copy_page() is faster than memcpy() on some CPUs. */
static void copy_words(void *to, const void *from, u32 bytes)
{
	if (PAGE_ALIGNED(to) && PAGE_ALIGNED(from))
		for (; bytes >= PAGE_SIZE; bytes -= PAGE_SIZE) {
			copy_page(to, (void *)from);
			to += PAGE_SIZE;
			from += PAGE_SIZE;
		}
	if (bytes)
		memcpy(to, from, bytes);
}

static void flush_dcache(const struct bio_vec *bv)
{
	u32 at;

	if (ARCH_IMPLEMENTS_FLUSH_DCACHE_PAGE)
		for (at = 0; at < bv->bv_offset + bv->bv_len; at += PAGE_SIZE)
			flush_dcache_page(bv->bv_page + at / PAGE_SIZE);
}

/**
 * nc_pages_copy() - copy data to the pages of a read
 * @pages: source
 * @bytes: size of the source
 * @skip: offset in the source where the read begins, bytes
 * @bio: read; its pages have kernel addresses, because the module needs a 64-bit kernel
 *
 * Context: any, interrupts included.
 */
void nc_pages_copy(const struct nc_pages *pages, u32 bytes, u32 skip,
		   struct bio *bio)
{
	struct bvec_iter from = { .bi_size = bytes }, iter = bio->bi_iter;
	struct bio_vec to;

	bvec_iter_advance(pages->vecs, &from, skip);
	__bio_for_each_bvec(to, bio, iter, bio->bi_iter) {
		char *dst = page_address(to.bv_page) + to.bv_offset;
		u32 copied = 0;

		while (copied < to.bv_len) {
			struct bio_vec src = mp_bvec_iter_bvec(pages->vecs, from);
			u32 n = min(src.bv_len, to.bv_len - copied);

			copy_words(dst + copied, page_address(src.bv_page) + src.bv_offset, n);
			bvec_iter_advance(pages->vecs, &from, n);
			copied += n;
		}
		flush_dcache(&to);
	}
}

/* CRC-32C of the @bytes of @vecs that start at @iter; moves @iter behind them. */
__le32 nc_pages_sum(const struct bio_vec *vecs, struct bvec_iter *iter, u32 bytes)
{
	u32 crc = ~0U;

	while (bytes) {
		struct bio_vec bv = bvec_iter_bvec(vecs, *iter);
		u32 n = min(bv.bv_len, bytes);
		char *data = bvec_kmap_local(&bv);

		crc = crc32c(crc, data, n);
		kunmap_local(data);
		bvec_iter_advance(vecs, iter, n);
		bytes -= n;
	}
	return cpu_to_le32(~crc);
}
