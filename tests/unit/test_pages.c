// SPDX-License-Identifier: GPL-2.0-only
/* Page buffers (kmod/core/pages.c): how much memory they take and account for, with pages of 4, 16 and
 * 64 KiB (test_pages_16k.c, test_pages_64k.c), and copies and checksums across their chunks.
 */
#include <linux/build_bug.h>
#include <linux/slab.h>
#include <linux/types.h>

#include "helper/unit.h"
#include "meta/format_user.h"

#ifndef PAGE_SHIFT
#define PAGE_SHIFT	12
#endif
#define PAGE_SIZE	(1UL << PAGE_SHIFT)
#define PAGE_MASK	(~(PAGE_SIZE - 1))
#define SUBBLOCK	4096U
/* Longest buffer that is tested: 20 pages and a rest. */
#define BYTES_MAX	((u32)(20 * PAGE_SIZE + PAGE_SIZE / 2 + SUBBLOCK))
#define PAGES		64U

/* The model of the kernel's memory.  Each page is whole, or has parts of one size. */
struct page {
	unsigned int order, part, used;
};

struct bio_vec {
	struct page *bv_page;
	u32 bv_len, bv_offset;
};

struct bvec_iter {
	u32 bi_size, bi_idx, bi_bvec_done;
};

struct bio {
	struct bio_vec *bi_io_vec;
	struct bvec_iter bi_iter;
};

typedef struct {
	s64 counter;
} atomic64_t;

struct nc_cache {
	struct {
		atomic64_t memory, memory_peak;
	} fills;
};

static struct page pages[PAGES];
static char memory[PAGES][PAGE_SIZE] __attribute__((aligned(1UL << 17)));
/* Bytes of pages and parts that are allocated now, and of owners. */
static size_t chunk_bytes, owner_bytes;
/* The page allocation that fails, counted from 1; 0: none. */
static unsigned int failing;

static bool memory_fails(void)
{
	return failing && !--failing;
}

static void *page_address(const struct page *page)
{
	return memory[page - pages];
}

static struct page *virt_to_page(const void *data)
{
	return &pages[((char *)data - memory[0]) / PAGE_SIZE];
}

static struct page *alloc_pages(int gfp, unsigned int order)
{
	u32 i, j;

	(void)gfp;
	if (memory_fails())
		return NULL;
	for (i = 0; i < PAGES; i += 1U << order) {
		for (j = 0; j < 1U << order && !pages[i + j].used; j++)
			;
		if (j < 1U << order)
			continue;
		for (j = 0; j < 1U << order; j++)
			pages[i + j] = (struct page){ .order = order, .used = 1 };
		chunk_bytes += PAGE_SIZE << order;
		return &pages[i];
	}
	fail_msg("no pages left");
	return NULL;
}

static void __free_pages(struct page *page, unsigned int order)
{
	u32 i;

	assert_int_equal(page->order, order);
	assert_false(page->part);
	for (i = 0; i < 1U << order; i++) {
		assert_true(page[i].used);
		page[i].used = 0;
	}
	chunk_bytes -= PAGE_SIZE << order;
}

/* Owners come from the C library, whose address sanitizer checks them, and parts from a page. */
static bool is_part(const void *data)
{
	return data >= (void *)memory && data < (void *)(memory + PAGES);
}

static size_t owner_size;

static void *unit_kmalloc(size_t bytes)
{
	struct page *page;

	if (bytes == owner_size) {
		owner_bytes += bytes;
		return malloc(bytes);
	}
	assert_true(bytes <= PAGE_SIZE / 2 && !(bytes & (bytes - 1)));
	page = alloc_pages(0, 0);
	if (!page)
		return NULL;
	page->part = bytes;
	chunk_bytes -= PAGE_SIZE - bytes;
	/* Not the first part of the page. */
	return page_address(page) + bytes;
}

static void unit_kfree(const void *data)
{
	struct page *page;

	if (!is_part(data)) {
		owner_bytes -= owner_size;
		free((void *)data);
		return;
	}
	page = virt_to_page(data);
	assert_true(page->used && page->part);
	assert_int_equal((char *)data - (char *)page_address(page), page->part);
	page->used = 0;
	chunk_bytes -= page->part;
	page->part = 0;
}

static void bvec_set_page(struct bio_vec *bv, struct page *page, u32 bytes, u32 offset)
{
	*bv = (struct bio_vec){ page, bytes, offset };
}

static void bvec_iter_advance(const struct bio_vec *vecs, struct bvec_iter *iter, u32 bytes)
{
	iter->bi_size -= bytes;
	iter->bi_bvec_done += bytes;
	while (iter->bi_bvec_done && iter->bi_bvec_done >= vecs[iter->bi_idx].bv_len)
		iter->bi_bvec_done -= vecs[iter->bi_idx++].bv_len;
}

static struct bio_vec mp_bvec_iter_bvec(const struct bio_vec *vecs, struct bvec_iter iter)
{
	struct bio_vec bv = vecs[iter.bi_idx];

	bv.bv_offset += iter.bi_bvec_done;
	bv.bv_len -= iter.bi_bvec_done;
	bv.bv_len = min(bv.bv_len, iter.bi_size);
	return bv;
}

/* Within one page. */
static struct bio_vec bvec_iter_bvec(const struct bio_vec *vecs, struct bvec_iter iter)
{
	struct bio_vec bv = mp_bvec_iter_bvec(vecs, iter);

	bv.bv_page += bv.bv_offset / PAGE_SIZE;
	bv.bv_offset %= PAGE_SIZE;
	bv.bv_len = min(bv.bv_len, (u32)PAGE_SIZE - bv.bv_offset);
	return bv;
}

static char *bvec_kmap_local(const struct bio_vec *bv)
{
	return (char *)page_address(bv->bv_page) + bv->bv_offset;
}

static void flush_dcache_page(struct page *page)
{
	(void)page;
}

#define __bio_for_each_bvec(bv, bio, iter, start)				\
	for (iter = (start); iter.bi_size &&					\
	     ((bv = mp_bvec_iter_bvec((bio)->bi_io_vec, iter)), true);		\
	     bvec_iter_advance((bio)->bi_io_vec, &iter, bv.bv_len))
#define kunmap_local(data)	((void)(data))
#define kmalloc(bytes, gfp)	((void)(gfp), unit_kmalloc(bytes))
#undef kfree
#define kfree			unit_kfree
#define copy_page(to, from)	memcpy(to, from, PAGE_SIZE)
#define crc32c(crc, data, bytes)	(~crc_extend(~(crc), data, bytes))
#define get_order(bytes)	((bytes) <= PAGE_SIZE ? 0 : ilog2(((bytes) - 1) >> PAGE_SHIFT) + 1)
#define roundup_pow_of_two(n)	((n) < 2 ? 1UL : 2UL << ilog2((n) - 1))
#define offset_in_page(at)	((unsigned long)(at) & ~PAGE_MASK)
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define PAGE_ALIGNED(at)	(!offset_in_page(at))
#define struct_size(p, member, n)	(sizeof(*(p)) + (n) * sizeof(*(p)->member))
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define atomic64_add_return(n, a)	((a)->counter += (n))
#define atomic64_sub(n, a)	((a)->counter -= (n))
#define atomic64_read(a)	((a)->counter)
#define atomic64_try_cmpxchg(a, old, new)	((a)->counter = (new), (void)(old), true)
#define KMALLOC_MAX_CACHE_SIZE	(2 * PAGE_SIZE)
#define ARCH_IMPLEMENTS_FLUSH_DCACHE_PAGE	1
#define GFP_NOWAIT		0
#define __GFP_NOMEMALLOC	0
#define __GFP_NORETRY		0
#define __GFP_COMP		0
#define __GFP_ZERO		0
typedef int gfp_t;
/* In place of struct nc_cache of the module. */
#define NEARCACHE_CACHE_H

#include "core/pages.c"

/* An object with page buffers, as struct nc_fill. */
struct owner {
	u64 other[40];
	struct nc_pages pages;
};

static struct nc_cache cache;

static struct owner *alloc_owner(u32 bytes, u64 cap)
{
	owner_size = offsetof(struct owner, pages) + sizeof(struct nc_pages) +
		     DIV_ROUND_UP(bytes, PAGE_SIZE) * sizeof(struct bio_vec);
	return nc_pages_alloc(&cache, offsetof(struct owner, pages), bytes, cap, false);
}

static void all_is_free(void)
{
	assert_int_equal(cache.fills.memory.counter, 0);
	assert_int_equal(chunk_bytes, 0);
	assert_int_equal(owner_bytes, 0);
}

/* A sub-block takes and accounts for its own size, not for a page. */
static void subblock_takes_its_size(void **state)
{
	struct owner *owner = alloc_owner(SUBBLOCK, 1 << 20);

	(void)state;
	assert_non_null(owner);
	assert_int_equal(owner->pages.memory, SUBBLOCK + owner_size);
	assert_int_equal(chunk_bytes, SUBBLOCK);
	nc_pages_free(&cache, owner, &owner->pages);
	all_is_free();
}

static void check_chunks(const struct nc_pages *p, u32 bytes)
{
	const struct bio_vec *bv;
	u32 size, sum = 0;

	assert_true(p->count <= DIV_ROUND_UP(bytes, PAGE_SIZE));
	for (bv = p->vecs; bv < p->vecs + p->count; bv++) {
		sum += bv->bv_len;
		/* Only the last chunk may end inside a page, and only it may be a part of one. */
		assert_true(bv == p->vecs + p->count - 1 || !(bv->bv_len % PAGE_SIZE));
		size = bv->bv_page->part ?: PAGE_SIZE << bv->bv_page->order;
		assert_true(bv->bv_len <= size && bv->bv_len > size / 2);
		assert_int_equal(bv->bv_offset % min(size, (u32)PAGE_SIZE), 0);
		assert_true(bv->bv_offset + bv->bv_len <= PAGE_SIZE << bv->bv_page->order);
	}
	assert_int_equal(sum, bytes);
}

/* Exactly the allocated memory is accounted for, and less than a half of it is unused. */
static void all_sizes(void **state)
{
	u32 bytes, fails;

	(void)state;
	for (bytes = 512; bytes <= BYTES_MAX; bytes += 512)
		for (fails = 0; fails < 4; fails++) {
			struct owner *owner;

			failing = fails;
			owner = alloc_owner(bytes, 1 << 30);
			failing = 0;
			if (owner) {
				assert_int_equal(owner->pages.memory, chunk_bytes + owner_bytes);
				assert_true(chunk_bytes < 2 * bytes);
				check_chunks(&owner->pages, bytes);
				nc_pages_free(&cache, owner, &owner->pages);
			} else {
				assert_true(fails);
			}
			all_is_free();
		}
}

/* The cap counts the owner, too. */
static void cap_holds(void **state)
{
	struct owner *owner;
	u64 cap;

	(void)state;
	assert_null(alloc_owner(SUBBLOCK, SUBBLOCK));
	cap = SUBBLOCK + owner_size;
	assert_null(alloc_owner(SUBBLOCK, cap - 1));
	all_is_free();
	owner = alloc_owner(SUBBLOCK, cap);
	assert_non_null(owner);
	assert_null(alloc_owner(SUBBLOCK, cap));
	nc_pages_free(&cache, owner, &owner->pages);
	all_is_free();
}

static void copy_and_sum(void **state)
{
	static char data[BYTES_MAX];
	u32 i, n, at, bytes = BYTES_MAX;
	struct owner *owner = alloc_owner(bytes, 1 << 30);
	struct page *target = alloc_pages(0, 0);
	struct bvec_iter iter = { .bi_size = bytes };

	(void)state;
	for (i = 0; i < bytes; i++)
		data[i] = i * 7 + i / 251;
	for (i = 0, at = 0; i < owner->pages.count; at += owner->pages.vecs[i++].bv_len)
		memcpy(bvec_kmap_local(&owner->pages.vecs[i]), data + at, owner->pages.vecs[i].bv_len);
	for (at = 0; at < bytes; at += 512 * 5)
		for (n = 512; n <= min((u32)PAGE_SIZE, bytes - at); n *= 2) {
			struct bio_vec to = { target, n, PAGE_SIZE - n };
			struct bio bio = { .bi_io_vec = &to, .bi_iter.bi_size = n };

			nc_pages_copy(&owner->pages, bytes, at, &bio);
			assert_memory_equal(bvec_kmap_local(&to), data + at, n);
		}
	for (at = 0; at < bytes; at += n) {
		n = min(SUBBLOCK * 3, bytes - at);
		assert_int_equal(le32_to_cpu(nc_pages_sum(owner->pages.vecs, &iter, n)),
				 crc_extend(0, data + at, n));
	}
	__free_pages(target, 0);
	nc_pages_free(&cache, owner, &owner->pages);
	all_is_free();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(subblock_takes_its_size),
		cmocka_unit_test(all_sizes),
		cmocka_unit_test(cap_holds),
		cmocka_unit_test(copy_and_sum),
	};

	return RUN(tests);
}
