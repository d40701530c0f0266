/* SPDX-License-Identifier: GPL-2.0-only */
/* The slot table on the cache device: reading and writing its pages. */
#ifndef NEARCACHE_META_SLOT_TABLE_H
#define NEARCACHE_META_SLOT_TABLE_H

#include <linux/types.h>

#include "meta/ondisk_check.h"

struct nc_cache;

/* Table pages per commit: 1 MiB, enough for full write bandwidth. */
#define NC_TABLE_BATCH	256U
static_assert(NC_TABLE_BATCH <= NEARCACHE_COMMIT_PAGES);

/**
 * struct nc_table - state of the table's pages on the medium
 * @pages: pages in one copy of the table
 * @buffer: NC_TABLE_BATCH pages; allocated as long as the cache exists, so that resume and
 *	suspend cannot fail for lack of memory
 * @batch: numbers of the pages in @buffer, which the current commit writes
 * @batched: number of pages in @batch
 * @current_copy: bit per page, the number of the copy with the current state
 * @dirty: bitmap of the pages that differ from the medium; set in any context
 * @both: bitmap of the pages whose next write must go to both copies, because
 *	neither copy can be relied on
 * @sequence: highest sequence of a page that the load found
 *
 * nc_commit.lock protects all members except @dirty, whose bits are set at any time.
 */
struct nc_table {
	u64 pages;
	struct nearcache_page *buffer;
	u32 batch[NC_TABLE_BATCH];
	u32 batched;
	unsigned long *current_copy;
	unsigned long *dirty;
	unsigned long *both;
	u64 sequence;
};

int nc_table_init(struct nc_table *t, u64 pages);
void nc_table_destroy(struct nc_table *t);
int nc_table_load(struct nc_cache *c, struct nc_table *t,
		  const struct nearcache_commit *last);
void nc_table_empty(struct nc_table *t);
void nc_table_dirty(struct nc_cache *c, u32 slot);
u32 nc_table_collect(struct nc_cache *c, struct nc_table *t, u64 *from,
		     u64 sequence);
int nc_table_write(struct nc_cache *c, struct nc_table *t);
void nc_table_written(struct nc_table *t, bool durable);

#endif /* NEARCACHE_META_SLOT_TABLE_H */
