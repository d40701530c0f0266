// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checksums of cached data.  They are written in place and in any order: a stale checksum only
 * makes the verification of its sub-block fail.  So that this is rare after a crash, a commit
 * writes the checksums after the data and before the slot table that calls the data valid.
 */
#include <linux/dm-io.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "cache.h"
#include "meta/meta.h"
#include "meta/checksum.h"
#include "meta/write_group.h"

/* Maximum number of pages in one read or write. */
#define BATCH		64U
/* A write includes up to this many clean pages between two dirty pages. */
#define GAP		15U

/* May sleep.  Return: 0 or -ENOMEM; in both cases the caller must call nc_sums_destroy(). */
int nc_sums_init(struct nc_sums *s, const struct nc_geometry *geo)
{
	if (!geo->sums_length)
		return 0;
	s->pages = geo->sums_length / NEARCACHE_PAGE_SIZE;
	s->offset = geo->sums_offset;
	s->shift = ilog2(geo->subblocks);
	s->sum = vzalloc(geo->sums_length);
	s->dirty = kvcalloc(BITS_TO_LONGS(s->pages), sizeof(long), GFP_KERNEL);
	s->buffer = vmalloc(BATCH * NEARCACHE_PAGE_SIZE);
	return s->sum && s->dirty && s->buffer ? 0 : -ENOMEM;
}

void nc_sums_destroy(struct nc_sums *s)
{
	vfree(s->buffer);
	kvfree(s->dirty);
	vfree(s->sum);
}

/* Memory of the checksums, bytes. */
size_t nc_sums_memory(const struct nc_sums *s)
{
	return s->pages * NEARCACHE_PAGE_SIZE +
	       BITS_TO_LONGS(s->pages) * sizeof(long);
}

static void *page_of(const struct nc_sums *s, u64 page)
{
	return (void *)s->sum + page * NEARCACHE_PAGE_SIZE;
}

static int page_io(struct nc_cache *c, blk_opf_t opf, u64 page, void *buffer,
		   u32 pages)
{
	return nc_super_io(c->meta->super.io, c->dev.bdev, opf | REQ_META,
			   c->sums.offset + page * NEARCACHE_PAGE_SIZE, buffer,
			   pages * NEARCACHE_PAGE_SIZE);
}

/* The first slot that has checksums in @page. */
static u32 first_slot(const struct nc_sums *s, u64 page)
{
	return page * (NEARCACHE_PAGE_SIZE / sizeof(*s->sum)) >> s->shift;
}

/* Read page by page.  Zeroes an unreadable page, so that data with checksums in it fails
 * verification.  Returns the number of unreadable pages; stops at NC_HEALTH_ERRORS_MAX of them.
 */
static u32 load_slowly(struct nc_cache *c, u64 first, u32 n)
{
	struct nc_sums *s = &c->sums;
	u32 i, failed = 0;

	for (i = 0; i < n && failed < NC_HEALTH_ERRORS_MAX; i++) {
		if (!page_io(c, REQ_OP_READ, first + i, page_of(s, first + i), 1))
			continue;
		memset(page_of(s, first + i), 0, NEARCACHE_PAGE_SIZE);
		set_bit(first + i, s->dirty);
		/* Have the next commit write the zeroed page. */
		nc_table_dirty(c, first_slot(s, first + i));
		DMERR_LIMIT("%s: cache device %u:%u: checksums cannot be read",
			    nc_cache_name(c), MAJOR(c->dev.devt), MINOR(c->dev.devt));
		failed++;
	}
	return failed;
}

/* Read the checksums of a warm cache.  May sleep.  Return: 0; -EIO: too many pages unreadable. */
int nc_sums_load(struct nc_cache *c)
{
	struct nc_sums *s = &c->sums;
	u32 n, failed = 0;
	u64 first;

	for (first = 0; first < s->pages; first += n) {
		n = min_t(u64, BATCH, s->pages - first);
		if (page_io(c, REQ_OP_READ, first, page_of(s, first), n))
			failed += load_slowly(c, first, n);
		if (failed >= NC_HEALTH_ERRORS_MAX)
			return -EIO;
		cond_resched();
	}
	return 0;
}

/* Length of the next write in pages, at most @most: from the dirty page @first to a later dirty
 * one, over gaps of up to GAP clean pages.  Clears the dirty bits of these pages.
 */
static u32 take_run(struct nc_sums *s, u64 first, u32 most)
{
	u32 n, run = 0;

	/* Clear the dirty bits, then read the sums: pairs with nc_sums_dirty(). */
	for (n = 0; n < most && n - run <= GAP && first + n < s->pages; n++)
		if (test_and_clear_bit(first + n, s->dirty))
			run = n + 1;
	return run;
}

/* Write dirty pages from *@page on, as many as the buffer holds, in any order.  Sets *@page behind
 * them.  Return: 0; -EIO: they are dirty again.
 */
static int write_some(struct nc_cache *c, u64 *page)
{
	struct nc_sums *s = &c->sums;
	struct nc_write_group writes;
	u64 first = *page;
	u32 n, used = 0;
	int r;

	nc_write_group_init(&writes);
	while (used < BATCH && *page < s->pages) {
		void *copy = s->buffer + (size_t)used * NEARCACHE_PAGE_SIZE;

		n = take_run(s, *page, BATCH - used);
		/* Write a copy: fills may change the sums during the write. */
		memcpy(copy, page_of(s, *page), n * NEARCACHE_PAGE_SIZE);
		nc_write_group_add(&writes, c, s->offset + *page * NEARCACHE_PAGE_SIZE, copy,
				   n * NEARCACHE_PAGE_SIZE);
		used += n;
		*page = find_next_bit(s->dirty, s->pages, *page + n);
	}
	r = nc_write_group_wait(&writes);
	/* Also the clean pages between them. */
	for (; r && first < *page; first++)
		set_bit(first, s->dirty);
	return r;
}

/* Write the changed checksums to the medium, at least those of all data that is valid at the call.
 * The caller must flush.  Context: may sleep; nc_commit.lock.  Return: 0 or -EIO.
 */
int nc_sums_write(struct nc_cache *c)
{
	struct nc_sums *s = &c->sums;
	u64 page = find_next_bit(s->dirty, s->pages, 0);
	int r = 0;

	lockdep_assert_held(&c->meta->commit.lock);
	while (!r && page < s->pages) {
		r = write_some(c, &page);
		cond_resched();
	}
	return r;
}

/* Mark dirty the page with all sums of @slot, because the sums changed.  Any context.  Call this
 * before nc_table_dirty(), so that a commit of the slot's table entry includes the sums.
 */
void nc_sums_dirty(struct nc_sums *s, u32 slot)
{
	u64 page = (((u64)slot << s->shift) * sizeof(*s->sum)) /
		   NEARCACHE_PAGE_SIZE;

	/* Write the sums, then set the dirty bit: pairs with take_run(). */
	smp_mb__before_atomic();
	set_bit(page, s->dirty);
}
