// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slot table on the cache device.  Each page has two copies.  A write goes to the copy
 * without the current state, so that a torn write leaves the copy with the current state.
 */
#include <linux/blkdev.h>
#include <linux/dm-io.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "cache.h"
#include "meta/meta.h"
#include "meta/recover.h"
#include "meta/write_group.h"
#include "meta/write_session.h"
#include "meta/slot_table.h"

/* Pages that a load reads at once: each copy of them takes half of the buffer. */
#define LOAD_PAGES	(NC_TABLE_BATCH / 2)

/* Uses kvcalloc(), because the bitmap of a large cache is too large for kmalloc(). */
static unsigned long *page_bitmap(u64 pages)
{
	return kvcalloc(BITS_TO_LONGS(pages), sizeof(long), GFP_KERNEL);
}

/* May sleep.  Return: 0 or -ENOMEM; in both cases the caller must call nc_table_destroy(). */
int nc_table_init(struct nc_table *t, u64 pages)
{
	t->pages = pages;
	t->buffer = vmalloc(NC_TABLE_BATCH * NEARCACHE_PAGE_SIZE);
	t->current_copy = page_bitmap(pages);
	t->dirty = page_bitmap(pages);
	t->both = page_bitmap(pages);
	return t->buffer && t->current_copy && t->dirty && t->both ? 0 :
								      -ENOMEM;
}

void nc_table_destroy(struct nc_table *t)
{
	kvfree(t->both);
	kvfree(t->dirty);
	kvfree(t->current_copy);
	vfree(t->buffer);
}

/* The table differs from the medium: queue a commit, NC_COMMIT_PERIOD from now. */
static void arm_commit(struct nc_cache *c)
{
	struct nc_commit *commit = &c->meta->commit;

	/* Set the page's dirty bit, then test @armed: pairs with nc_commit_work(). */
	smp_mb__after_atomic();
	if (!READ_ONCE(commit->live) || READ_ONCE(commit->armed))
		return;
	WRITE_ONCE(commit->armed, true);
	queue_delayed_work(c->workers.cache, &c->workers.commit, NC_COMMIT_PERIOD);
}

/* Mark the table page of @slot dirty, because the slot changed.  Context: any. */
void nc_table_dirty(struct nc_cache *c, u32 slot)
{
	struct nc_table *t = &c->meta->table;
	u32 page = slot / NEARCACHE_SLOTS_PER_PAGE;

	/* Change the slot, then test the dirty bit: pairs with take_page(). */
	smp_mb();
	if (test_bit(page, t->dirty))
		return;
	set_bit(page, t->dirty);
	arm_commit(c);
}

/* Of two slots with @block, keep the higher generation.  Returns false if that is the old slot. */
static bool drop_older_entry(struct nc_cache *c, u64 block, u32 generation)
{
	u32 twin = nc_index_find(&c->index, block);

	if (twin == NC_NIL)
		return true;
	if (c->index.generation[twin] >= generation)
		return false;
	nc_index_unlink(&c->index, twin);
	nc_table_dirty(c, twin);
	nc_count(c, SLOTS_DROPPED);
	c->life.warm--;
	atomic64_sub(hweight64(c->index.slots[twin].valid), &c->slots.valid_subblocks);
	return true;
}

static void load_slot(struct nc_cache *c, u32 i,
		      const struct nearcache_slot *disk)
{
	u64 block = le64_to_cpu(disk->origin_block);
	struct nc_slot *slot = &c->index.slots[i];
	struct nc_bucket_lock *bucket;
	u64 valid = 0;

	if (block == NEARCACHE_NO_BLOCK)
		return;
	bucket = nc_index_bucket(&c->index, block);
	spin_lock(&bucket->lock);
	if (nc_recover_slot(&c->geo, disk) &&
	    drop_older_entry(c, block, le32_to_cpu(disk->generation)))
		valid = le64_to_cpu(disk->valid) &
			~nc_session_written(c, block);
	if (valid) {
		slot->valid = valid;
		c->index.generation[i] = le32_to_cpu(disk->generation);
		nc_index_link(&c->index, i, block);
	}
	spin_unlock(&bucket->lock);
	if (valid) {
		c->life.warm++;
		atomic64_add(hweight64(valid), &c->slots.valid_subblocks);
	} else {
		nc_count(c, SLOTS_DROPPED);
	}
	if (!valid || valid != le64_to_cpu(disk->valid))
		nc_table_dirty(c, i);
}

static void load_page(struct nc_cache *c, struct nc_table *t, u64 index,
		      const struct nearcache_page *p0,
		      const struct nearcache_page *p1,
		      const struct nearcache_commit *last)
{
	int copy = nc_recover_page(p0, p1, c->dev.uuid, index, c->geo.table_epoch,
				   last, &t->sequence);
	const struct nearcache_page *page = copy > 0 ? p1 : p0;
	u64 first = index * NEARCACHE_SLOTS_PER_PAGE;
	u64 n = min_t(u64, NEARCACHE_SLOTS_PER_PAGE,
		      c->geo.slot_count - first);
	unsigned int i;

	if (copy < 0) {
		nc_count(c, PAGES_DAMAGED);
		set_bit(index, t->dirty);
		set_bit(index, t->both);
		return;
	}
	if (copy)
		set_bit(index, t->current_copy);
	/* The other copy may be torn: have the next commit rewrite it. */
	if (nc_recover_listed(last, index) != NC_RECOVER_NONE)
		set_bit(index, t->dirty);
	if (le64_to_cpu(page->epoch) != c->geo.table_epoch)
		return;
	for (i = 0; i < n; i++)
		load_slot(c, first + i, &page->slot[i]);
}

/* Read @n pages of one copy; zero unreadable pages.  Returns the number of unreadable pages.  Stops
 * at NC_HEALTH_ERRORS_MAX, because each read of a dying device may take its full timeout.
 */
static u32 read_pages(struct nc_cache *c, int copy, u64 first, u32 n,
		      struct nearcache_page *buffer)
{
	struct block_device *bdev = c->dev.bdev;
	u64 offset = c->geo.table_offset +
		     (copy * c->geo.table_pages + first) * NEARCACHE_PAGE_SIZE;
	u32 i, failed = 0;

	if (!nc_super_io(c->meta->super.io, bdev, REQ_OP_READ | REQ_META, offset,
			 buffer, n * NEARCACHE_PAGE_SIZE))
		return 0;
	for (i = 0; i < n && failed < NC_HEALTH_ERRORS_MAX; i++)
		if (nc_super_io(c->meta->super.io, bdev, REQ_OP_READ | REQ_META,
				offset + i * NEARCACHE_PAGE_SIZE, &buffer[i],
				NEARCACHE_PAGE_SIZE)) {
			memset(&buffer[i], 0, NEARCACHE_PAGE_SIZE);
			failed++;
		}
	return failed;
}

/**
 * nc_table_load() - fill the index from the slot table
 * @c: live cache with an empty index
 * @t: table
 * @last: record of the last commit, or NULL if there is none
 *
 * Damaged pages and slots are dropped and counted.
 *
 * Return: 0; -EIO after too many errors: the index is then unusable.
 */
int nc_table_load(struct nc_cache *c, struct nc_table *t,
		  const struct nearcache_commit *last)
{
	struct nearcache_page *buffer = t->buffer;
	u32 i, n, failed = 0;
	u64 first;

	for (first = 0; first < t->pages; first += LOAD_PAGES) {
		n = min_t(u64, LOAD_PAGES, t->pages - first);
		failed += read_pages(c, 0, first, n, buffer);
		failed += read_pages(c, 1, first, n, buffer + LOAD_PAGES);
		if (failed >= NC_HEALTH_ERRORS_MAX)
			return -EIO;
		for (i = 0; i < n; i++)
			load_page(c, t, first + i, &buffer[i],
				  &buffer[LOAD_PAGES + i], last);
		cond_resched();
	}
	return 0;
}

/**
 * nc_table_empty() - prepare a table that a new table_epoch will empty
 * @t: table that is not loaded
 *
 * A crash may have torn either copy of any page, so the next write of a page goes to both copies.
 */
void nc_table_empty(struct nc_table *t)
{
	bitmap_fill(t->both, t->pages);
}

/* Fill @disk, the entry of slot @i, with the current state.  A later change makes the page dirty
 * again.  A slot that is not in the index, or has no valid bit, stays free in @disk.
 */
static void snapshot_slot(struct nc_cache *c, u32 i, struct nearcache_slot *disk)
{
	struct nc_slot *slot = &c->index.slots[i];
	struct nc_bucket_lock *bucket;
	bool linked, done = false;
	u64 block;

	do {
		if (!(READ_ONCE(slot->flags) & NC_SLOT_LINKED) ||
		    !READ_ONCE(slot->valid))
			return;
		/* Read without the lock; verified below under the bucket lock of that block. */
		block = (u64)READ_ONCE(slot->block_hi) << 32 |
			READ_ONCE(slot->block_lo);
		bucket = nc_index_bucket(&c->index, block);
		spin_lock(&bucket->lock);
		linked = nc_index_find(&c->index, block) == i;
		if (linked && slot->valid) {
			disk->origin_block = cpu_to_le64(block);
			disk->valid = cpu_to_le64(slot->valid);
			disk->generation = cpu_to_le32(c->index.generation[i]);
		}
		done = linked;
		spin_unlock(&bucket->lock);
	} while (!done);
}

static void build_page(struct nc_cache *c, u64 index, u64 sequence,
		       struct nearcache_page *page)
{
	u64 first = index * NEARCACHE_SLOTS_PER_PAGE;
	u64 n = min_t(u64, NEARCACHE_SLOTS_PER_PAGE,
		      c->geo.slot_count - first);
	unsigned int i;

	nc_page_init(page, c->dev.uuid, index, sequence, c->geo.table_epoch);
	for (i = 0; i < n; i++)
		snapshot_slot(c, first + i, &page->slot[i]);
	nc_page_seal(page);
}

static void take_page(struct nc_cache *c, struct nc_table *t, u64 page, u64 sequence)
{
	clear_bit(page, t->dirty);
	/* Clear the dirty bit, then read the slots: pairs with nc_table_dirty(). */
	smp_mb__after_atomic();
	build_page(c, page, sequence, &t->buffer[t->batched]);
	t->batch[t->batched++] = page;
	cond_resched();
}

/* Is @page one of the first @count pages of the batch?  A page that became dirty again after it was
 * taken waits for the next batch: nc_table_written() would change the copy of a page that is in the
 * batch twice back to the old copy.
 */
static bool is_batched(const struct nc_table *t, u32 count, u64 page)
{
	while (count--)
		if (t->batch[count] == page)
			return true;
	return false;
}

/* Begin a batch with the dirty pages that the last record names: a crash may have torn a copy of
 * each.  Once no record names these pages, a torn copy would count as damage.
 */
static void take_named(struct nc_cache *c, struct nc_table *t, u64 sequence)
{
	const struct nearcache_commit *last = c->meta->commit.record;
	u32 i, n = le32_to_cpu(last->count);

	for (i = 0; i < n && t->batched < NC_TABLE_BATCH; i++) {
		u64 page = le64_to_cpu(last->page[i]) &
			   ~NEARCACHE_COMMIT_COPY_1;

		if (page < t->pages && test_bit(page, t->dirty) &&
		    !is_batched(t, t->batched, page))
			take_page(c, t, page, sequence);
	}
}

/**
 * nc_table_collect() - build the next batch of dirty pages from the current slots
 * @c: live cache
 * @t: table
 * @from: page to start at; set to the page behind the batch
 * @sequence: number of the commit
 *
 * Clears the dirty bits of these pages.  nc_table_written() must follow.
 *
 * Context: nc_commit.lock.
 * Return: number of pages in t->buffer.
 */
u32 nc_table_collect(struct nc_cache *c, struct nc_table *t, u64 *from,
		     u64 sequence)
{
	u64 i = *from;
	u32 named;

	lockdep_assert_held(&c->meta->commit.lock);
	t->batched = 0;
	take_named(c, t, sequence);
	named = t->batched;
	for (; t->batched < NC_TABLE_BATCH; i++) {
		i = find_next_bit(t->dirty, t->pages, i);
		if (i >= t->pages)
			break;
		if (!is_batched(t, named, i))
			take_page(c, t, i, sequence);
	}
	*from = i;
	return t->batched;
}

/* Must entry @n of the batch be written to @copy? */
static bool must_write_copy(const struct nc_table *t, u32 n, int copy)
{
	return test_bit(t->batch[n], t->both) ||
	       test_bit(t->batch[n], t->current_copy) != copy;
}

/* Number of consecutive pages, from entry @i of the batch, that one write covers. */
static u32 run_of(const struct nc_table *t, u32 i, int copy)
{
	u32 n = 0;

	while (i + n < t->batched && must_write_copy(t, i + n, copy) &&
	       t->batch[i + n] == t->batch[i] + n)
		n++;
	return n;
}

static int write_table_copy(struct nc_cache *c, struct nc_table *t, int copy)
{
	u64 base = c->geo.table_offset + copy * t->pages * NEARCACHE_PAGE_SIZE;
	struct nc_write_group writes;
	u32 i, n, pages = 0;
	int r;

	nc_write_group_init(&writes);
	for (i = 0; i < t->batched; i += max(n, 1U)) {
		n = run_of(t, i, copy);
		if (!n)
			continue;
		nc_write_group_add(&writes, c, base + (u64)t->batch[i] * NEARCACHE_PAGE_SIZE,
				   &t->buffer[i], n * NEARCACHE_PAGE_SIZE);
		pages += n;
	}
	r = nc_write_group_wait(&writes);
	if (!r)
		nc_count_add(c, COMMIT_PAGES, pages);
	return r;
}

/* Write the pages of the batch, not yet durably.  The second copy of a page comes after the first
 * one: if that cannot be written, the second one stays as it is.  Return: 0 or -EIO.
 */
int nc_table_write(struct nc_cache *c, struct nc_table *t)
{
	return write_table_copy(c, t, 0) ?: write_table_copy(c, t, 1);
}

/* End the batch: if its pages are not @durable on the medium, they become dirty again. */
void nc_table_written(struct nc_table *t, bool durable)
{
	u32 i;

	for (i = 0; i < t->batched; i++) {
		u32 page = t->batch[i];

		if (!durable)
			set_bit(page, t->dirty);
		else if (test_and_clear_bit(page, t->both))
			clear_bit(page, t->current_copy);
		else
			change_bit(page, t->current_copy);
	}
	t->batched = 0;
}
