// SPDX-License-Identifier: GPL-2.0-only
/*
 * The witness.  A cache device that was taken out says what it said then, so another
 * device has to know whether the origin was written without it.  Nothing but a record
 * that carries this cache's uuid is ever written: the helper makes it.
 */
#include <linux/blkdev.h>

#include "cache.h"
#include "meta/meta.h"
#include "meta/witness.h"

/**
 * nc_witness_find() - read the record of a cache
 * @c: live cache
 * @bdev: witness device
 * @w: @record is room for one; filled in
 *
 * Context: may sleep.
 * Return: 0, -ENOENT when there is none, or -EIO.
 */
int nc_witness_find(struct nc_cache *c, struct block_device *bdev,
		    struct nc_witness *w)
{
	u64 end = min_t(u64, bdev_nr_bytes(bdev), NEARCACHE_WITNESS_RECORDS *
						  NEARCACHE_WITNESS_SIZE);
	u64 at;

	for (at = 0; at + NEARCACHE_WITNESS_SIZE <= end;
	     at += NEARCACHE_WITNESS_SIZE) {
		if (nc_super_io(c->meta->super.io, bdev, REQ_OP_READ | REQ_META,
				at, w->record, NEARCACHE_WITNESS_SIZE))
			return -EIO;
		w->offset = at;
		if (nc_witness_check(w->record, c->uuid))
			return 0;
	}
	return -ENOENT;
}

/**
 * nc_witness_write() - durably
 * @c: live cache
 * @bdev: witness device
 * @w: from nc_witness_find()
 * @session: of the cache
 * @previous: the session before, see struct nearcache_witness
 * @state: enum nearcache_witness_state
 *
 * Context: may sleep.
 * Return: 0 or -EIO; then the device may say this or what it said.
 */
int nc_witness_write(struct nc_cache *c, struct block_device *bdev,
		     struct nc_witness *w, u64 session, u64 previous, u32 state)
{
	nc_witness_init(w->record, c->uuid);
	w->record->session = cpu_to_le64(session);
	w->record->previous = cpu_to_le64(previous);
	w->record->state = cpu_to_le32(state);
	nc_witness_seal(w->record);
	return nc_super_io(c->meta->super.io, bdev,
			   REQ_OP_WRITE | REQ_META | REQ_PREFLUSH | REQ_FUA,
			   w->offset, w->record, NEARCACHE_WITNESS_SIZE);
}
