// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checksums of cached data.  They need no copies and no order among themselves: a
 * sum that does not fit its data says so.  For what is warm after a crash they reach
 * the medium between the data and the slot table that calls it valid.
 */
#include <linux/dm-io.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "cache.h"
#include "meta/meta.h"
#include "meta/checksum.h"

/* Pages that one write or read takes. */
#define BATCH		64U
/* Clean pages between dirty ones that are written, too. */
#define GAP		15U

/**
 * nc_sums_init() - memory for the checksums of all slots
 * @s: zeroed
 * @geo: geometry
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; nc_sums_destroy() in either case.
 */
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

/* RAM, bytes. */
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
	return nc_super_io(c->meta->super.io, c->bdev, opf | REQ_META,
			   c->sums.offset + page * NEARCACHE_PAGE_SIZE, buffer,
			   pages * NEARCACHE_PAGE_SIZE);
}

/* The first slot whose sums are in a page. */
static u32 first_slot(const struct nc_sums *s, u64 page)
{
	return page * (NEARCACHE_PAGE_SIZE / sizeof(*s->sum)) >> s->shift;
}

/* Page by page; what cannot be read fits no data.  Returns how many those are. */
static u32 load_slowly(struct nc_cache *c, u64 first, u32 n)
{
	struct nc_sums *s = &c->sums;
	u32 i, failed = 0;

	for (i = 0; i < n && failed < NC_HEALTH_ERRORS_MAX; i++) {
		if (!page_io(c, REQ_OP_READ, first + i, page_of(s, first + i), 1))
			continue;
		memset(page_of(s, first + i), 0, NEARCACHE_PAGE_SIZE);
		set_bit(first + i, s->dirty);
		/* So that a commit writes it. */
		nc_meta_dirty(c, first_slot(s, first + i));
		DMERR_LIMIT("%s: cache device %u:%u: checksums cannot be read",
			    nc_cache_name(c), MAJOR(c->devt), MINOR(c->devt));
		failed++;
	}
	return failed;
}

/**
 * nc_sums_load() - read the checksums of a warm cache
 * @c: live cache, its slot table loaded
 *
 * Context: may sleep.
 * Return: 0; -EIO when the device fails too often.
 */
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

/* Pages from @first on, a dirty one, that one write takes, up to the last dirty one of
 * them; clean from now on.  Rather a few that are clean than another write.
 */
static u32 take_run(struct nc_sums *s, u64 first)
{
	u32 n, run = 0;

	/* Clears before what follows is read: pairs with nc_sums_dirty(). */
	for (n = 0; n < BATCH && n - run <= GAP && first + n < s->pages; n++)
		if (test_and_clear_bit(first + n, s->dirty))
			run = n + 1;
	return run;
}

/**
 * nc_sums_write() - bring the checksums on the medium up to date
 * @c: live cache
 *
 * Of all that was valid at the call.  Not yet durable.
 *
 * Context: may sleep; nc_commit.lock.
 * Return: 0 or -EIO.
 */
int nc_sums_write(struct nc_cache *c)
{
	struct nc_sums *s = &c->sums;
	u64 page = 0;
	u32 i, n;
	int r;

	lockdep_assert_held(&c->meta->commit.lock);
	while ((page = find_next_bit(s->dirty, s->pages, page)) < s->pages) {
		n = take_run(s, page);
		/* They change while they are being written. */
		memcpy(s->buffer, page_of(s, page), n * NEARCACHE_PAGE_SIZE);
		r = page_io(c, REQ_OP_WRITE, page, s->buffer, n);
		if (r) {
			for (i = 0; i < n; i++)
				set_bit(page + i, s->dirty);
			return r;
		}
		page += n;
		cond_resched();
	}
	return 0;
}

/**
 * nc_sums_dirty() - sums of a slot are new
 * @s: checksums
 * @slot: slot; its sums are in one page
 *
 * Context: any; before the slot's page of the table is made dirty.
 */
void nc_sums_dirty(struct nc_sums *s, u32 slot)
{
	u64 page = (((u64)slot << s->shift) * sizeof(*s->sum)) /
		   NEARCACHE_PAGE_SIZE;

	/* The sums first. */
	smp_mb__before_atomic();
	set_bit(page, s->dirty);
}
