// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes of metadata that are in flight together.  A commit writes pages in many places, and
 * evictions wait for it: written one after another, each page would add the latency of the device.
 */
#include <linux/dm-io.h>

#include "cache.h"
#include "meta/meta.h"
#include "meta/write_group.h"

void nc_write_group_init(struct nc_write_group *g)
{
	atomic_set(&g->left, 1);
	g->failed = false;
	init_completion(&g->ended);
}

static void put_write(struct nc_write_group *g)
{
	if (atomic_dec_and_test(&g->left))
		complete(&g->ended);
}

static void end_group_write(NC_DM_IO_RESULT, void *context)
{
	struct nc_write_group *g = context;

	/* The atomic operation of put_write() orders this before nc_write_group_wait(). */
	if (NC_DM_IO_FAILED)
		WRITE_ONCE(g->failed, true);
	put_write(g);
}

/**
 * nc_write_group_add() - begin a write to the cache device, not durable
 * @g: group; the caller calls nc_write_group_wait() before it changes @buffer, and before it
 *	returns if @g is on its stack
 * @c: live cache
 * @offset: bytes
 * @buffer: from vmalloc()
 * @bytes: length; like @offset a multiple of the device's logical block
 *
 * The writes of a group may reach the medium in any order.
 *
 * Context: may sleep: without memory it waits for writes that are in flight.
 */
void nc_write_group_add(struct nc_write_group *g, struct nc_cache *c, u64 offset, void *buffer,
			size_t bytes)
{
	struct dm_io_region region = {
		.bdev = c->dev.bdev,
		.sector = offset >> SECTOR_SHIFT,
		.count = bytes >> SECTOR_SHIFT,
	};
	struct dm_io_request request = {
		.bi_opf = REQ_OP_WRITE | REQ_META | REQ_SYNC,
		.mem.type = DM_IO_VMA,
		.mem.ptr.vma = buffer,
		.notify.fn = end_group_write,
		.notify.context = g,
		.client = c->meta->super.io,
	};

	atomic_inc(&g->left);
	/* nc_dm_io() failed, so it does not call end_group_write(). */
	if (nc_dm_io(&request, &region)) {
		WRITE_ONCE(g->failed, true);
		put_write(g);
	}
}

/* Wait until all writes of the group have ended.  May sleep.  Return: 0; -EIO: a write failed. */
int nc_write_group_wait(struct nc_write_group *g)
{
	put_write(g);
	wait_for_completion_io(&g->ended);
	return READ_ONCE(g->failed) ? -EIO : 0;
}
