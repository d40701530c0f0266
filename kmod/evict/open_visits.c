// SPDX-License-Identifier: GPL-2.0-only
/* Visits that readers make by several reads.  They are few: those near the readers. */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "evict/bittree.h"
#include "evict/block_table.h"
#include "evict/open_visits.h"

/* Allocate an empty table for about @visits open visits.  Returns 0 or -ENOMEM. */
int nc_open_init(struct nc_open_visits *open, u32 visits)
{
	open->bits = visits > NC_OPEN_WAYS ? ilog2((visits - 1) / NC_OPEN_WAYS) + 1 : 1;
	open->entry = kvmalloc_array(nc_open_size(open), sizeof(*open->entry), NC_BITTREE_GFP);
	if (!open->entry)
		return -ENOMEM;
	nc_open_empty(open);
	return 0;
}

void nc_open_destroy(struct nc_open_visits *open)
{
	kvfree(open->entry);
}

void nc_open_empty(struct nc_open_visits *open)
{
	memset(open->entry, 0xff, nc_open_size(open) * sizeof(*open->entry));
}

static struct nc_open_visit *open_set_of(const struct nc_open_visits *open, u32 block)
{
	return open->entry + NC_OPEN_WAYS * hash_64(block, open->bits);
}

/* Return the entry of a block: its latest visit, which several reads make or made.  NULL: none.  A
 * later visit that one read makes replaces the visit of the entry.
 */
struct nc_open_visit *nc_open_find(const struct nc_open_visits *open, u32 block)
{
	struct nc_open_visit *entry = open_set_of(open, block), *end = entry + NC_OPEN_WAYS;

	for (; entry < end; entry++)
		if (READ_ONCE(entry->block) == block)
			return entry;
	return NULL;
}

/* Is entry @a replaced before entry @b?  Complete visits come first, then the earliest visit. */
static bool leaves_before(const struct nc_open_visit *a, const struct nc_open_visit *b)
{
	bool complete = a->seen == NC_OPEN_COMPLETE;

	return complete == (b->seen == NC_OPEN_COMPLETE) ? a->visit < b->visit : complete;
}

/* Return the entry of a block; else a free entry; else the entry to replace. */
static struct nc_open_visit *open_place(const struct nc_open_visits *open, u32 block)
{
	struct nc_open_visit *entry = open_set_of(open, block), *end = entry + NC_OPEN_WAYS;
	struct nc_open_visit *found = nc_open_find(open, block);

	if (found)
		return found;
	for (found = entry; entry < end; entry++) {
		if (entry->block == NC_BLOCK_NONE)
			return entry;
		if (leaves_before(entry, found))
			found = entry;
	}
	return found;
}

/* Record that the sub-blocks @seen of a visit of a block were read. */
void nc_open_set(struct nc_open_visits *open, u32 block, u32 visit, u64 seen)
{
	struct nc_open_visit *entry = open_place(open, block);

	WRITE_ONCE(entry->block, block);
	WRITE_ONCE(entry->visit, visit);
	WRITE_ONCE(entry->seen, seen);
}
