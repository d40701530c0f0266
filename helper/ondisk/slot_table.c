// SPDX-License-Identifier: GPL-2.0-only
#include "ondisk/slot_table.h"

#include <stdlib.h>

#include "lib/error.h"
#include "meta/recover.h"

/* Pages per read or write: 4 MiB. */
#define BATCH	1024ULL

static u64 batch_of(u64 left)
{
	return left < BATCH ? left : BATCH;
}

static int write_copy(const struct device *dev, const struct nearcache_super *sb,
		      u64 offset, struct nearcache_page *batch)
{
	u64 pages = le64_to_cpu(sb->table_pages);
	u64 index, i, n;

	for (index = 0; index < pages; index += n) {
		n = batch_of(pages - index);
		for (i = 0; i < n; i++) {
			nc_page_init(&batch[i], sb->uuid, index + i, 0,
				     le64_to_cpu(sb->table_epoch));
			nc_page_seal(&batch[i]);
		}
		if (device_write(dev, batch, n * NEARCACHE_PAGE_SIZE,
				 offset + index * NEARCACHE_PAGE_SIZE))
			return fail_code();
	}
	return 0;
}

/*
 * Write both copies of an empty slot table to a claimed device, without a flush. @sb: the
 * superblock that the caller will write; its uuid, epoch and layout are used. Every page is
 * written, so that a page that is invalid later is known to be torn or damaged.
 */
int table_write(const struct device *dev, const struct nearcache_super *sb)
{
	u64 offset = le64_to_cpu(sb->area[NEARCACHE_AREA_TABLE].offset);
	u64 length = le64_to_cpu(sb->area[NEARCACHE_AREA_TABLE].length);
	struct nearcache_page *batch;
	int error;

	batch = device_buffer(BATCH * NEARCACHE_PAGE_SIZE);
	if (!batch)
		return fail_code();
	error = write_copy(dev, sb, offset, batch);
	if (!error)
		error = write_copy(dev, sb, offset + length / 2, batch);
	free(batch);
	return error;
}

/**
 * struct scan - a pass over the slot table
 * @super: of the cache device
 * @count: result of the checks
 * @most: if the table has more pages, take random runs with about @most pages in all; 0: take all
 * @visit: called for each used slot; NULL: none
 * @data: first argument of @visit
 * @last: number of the last commit record, in the superblock or the ring
 */
struct scan {
	const struct super *super;
	struct table_count count;
	u64 most;
	table_visit_t *visit;
	void *data;
	u64 last;
};

static void take_slots(struct scan *scan, const struct nearcache_page *page, u64 index)
{
	const struct super *super = scan->super;
	u64 slot = index * NEARCACHE_SLOTS_PER_PAGE;
	unsigned int i;

	/* The kernel treats a page of another epoch as empty. */
	if (page->epoch != super->best->table_epoch)
		return;
	for (i = 0; i < NEARCACHE_SLOTS_PER_PAGE; i++, slot++) {
		if (slot >= super->geo.slot_count ||
		    le64_to_cpu(page->slot[i].origin_block) ==
			    NEARCACHE_NO_BLOCK)
			continue;
		scan->count.slots_used++;
		scan->count.bytes_valid +=
			(u64)__builtin_popcountll(page->slot[i].valid) *
			super->geo.subblock_size;
		if (scan->visit)
			scan->visit(scan->data, slot, &page->slot[i]);
	}
}

/* Check both copies of a page, and take the slots in the copy that the kernel would use. */
static void take_page(struct scan *scan, const struct nearcache_page *a,
		      const struct nearcache_page *b, u64 index,
		      const struct nearcache_commit *last)
{
	const struct super *super = scan->super;
	int sound = nc_page_check(a, super->best->uuid, index) +
		    nc_page_check(b, super->best->uuid, index);
	u64 newest = 0;
	int copy = nc_recover_page(a, b, super->best->uuid, index,
				   super->geo.table_epoch, last, &newest);

	scan->count.pages++;
	scan->count.sound_both += sound == 2;
	scan->count.sound_one += sound == 1;
	scan->count.damaged += !sound;
	if (copy != NC_RECOVER_NONE)
		take_slots(scan, copy ? b : a, index);
}

/* Take @pages pages, at most BATCH, from page @index on. */
static int scan_run(struct scan *scan, const struct device *dev, struct nearcache_page *a,
		    struct nearcache_page *b, u64 index, u64 pages,
		    const struct nearcache_commit *last)
{
	const struct super *super = scan->super;
	u64 offset = super->geo.table_offset + index * NEARCACHE_PAGE_SIZE;
	u64 copy = super->geo.table_pages * NEARCACHE_PAGE_SIZE;
	u64 i;

	if (device_read(dev, a, pages * NEARCACHE_PAGE_SIZE, offset) ||
	    device_read(dev, b, pages * NEARCACHE_PAGE_SIZE, offset + copy))
		return fail_code();
	for (i = 0; i < pages; i++)
		take_page(scan, &a[i], &b[i], index + i, last);
	return 0;
}

/* Divide the table into stretches, and take a run of pages from a random place in each. */
static int scan_stretches(struct scan *scan, const struct device *dev, struct nearcache_page *a,
			  struct nearcache_page *b, const struct nearcache_commit *last)
{
	u64 pages = scan->super->geo.table_pages;
	bool all = !scan->most || scan->most >= pages;
	u64 run = batch_of(all ? BATCH : scan->most);
	u64 stretch = all ? run : pages / (scan->most / run);
	u64 index, n, room;

	for (index = 0; index < pages; index += stretch) {
		room = pages - index < stretch ? pages - index : stretch;
		n = room < run ? room : run;
		if (scan_run(scan, dev, a, b, index + (u64)random() % (room - n + 1), n, last))
			return fail_code();
	}
	return 0;
}

static int scan_pages(struct scan *scan, const struct device *dev,
		      struct nearcache_page *a, struct nearcache_page *b)
{
	const struct super *super = scan->super;
	const struct nearcache_commit *last;
	struct nearcache_commit record;

	if (device_read(dev, a, NEARCACHE_COMMIT_AREA_SIZE,
			super->geo.commit_offset))
		return fail_code();
	scan->last = le64_to_cpu(super->best->commit_sequence);
	last = nc_recover_last((const void *)a, super->best->uuid);
	if (last) {
		record = *last;
		last = &record;
		if (le64_to_cpu(record.sequence) > scan->last)
			scan->last = le64_to_cpu(record.sequence);
	}
	return scan_stretches(scan, dev, a, b, last);
}

static int scan_table(struct scan *scan, const struct device *dev)
{
	struct nearcache_page *a = device_buffer(BATCH * NEARCACHE_PAGE_SIZE);
	struct nearcache_page *b = device_buffer(BATCH * NEARCACHE_PAGE_SIZE);
	int error = fail_code();

	if (a && b)
		error = scan_pages(scan, dev, a, b);
	free(a);
	free(b);
	return error;
}

/*
 * Check each page of the slot table. @super: has a valid copy. If a device uses the cache now, the
 * result is the state of the last commit.
 */
int table_scan(const struct device *dev, const struct super *super,
	       struct table_count *count)
{
	struct scan scan = { .super = super };
	int error = scan_table(&scan, dev);

	*count = scan.count;
	return error;
}

/*
 * Call @visit for each used slot that the kernel would recover; of the slots of a block it would
 * use the one of the highest generation, and of equal ones the first. @most, @last: see struct scan.
 */
int table_walk(const struct device *dev, const struct super *super, u64 most,
	       table_visit_t *visit, void *data, u64 *last)
{
	struct scan scan = { .super = super, .most = most, .visit = visit, .data = data };
	int error = scan_table(&scan, dev);

	*last = scan.last;
	return error;
}
