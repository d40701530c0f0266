// SPDX-License-Identifier: GPL-2.0-only
/*
 * The witness.  A cache device that was removed keeps its old state, so another device has to
 * record whether the origin was written without it.  The helper creates the record with the
 * cache's uuid; the kernel only overwrites that record.
 */
#include <linux/blkdev.h>

#include "cache.h"
#include "meta/meta.h"
#include "meta/witness.h"

/**
 * nc_witness_find() - find and read the record of a cache
 * @c: live cache
 * @bdev: witness device
 * @w: @record is a buffer for one record; both members are set
 *
 * Context: may sleep.
 * Return: 0, -ENOENT if there is none, or -EIO.
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
 * nc_witness_write() - write the record durably
 * @c: live cache
 * @bdev: witness device
 * @w: from nc_witness_find()
 * @session: current session of the cache
 * @previous: previous session, see struct nearcache_witness
 * @state: enum nearcache_witness_state
 *
 * Context: may sleep.
 * Return: 0 or -EIO; on error the device has the new record or the old one.
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
