// SPDX-License-Identifier: GPL-2.0-only
/*
 * The witness.  A cache device that was removed keeps its old state, so another device has to
 * record whether the origin was written without the cache device.  The helper creates the record
 * with the cache's uuid; the kernel only overwrites that record.
 */
#include <linux/blkdev.h>

#include "cache.h"
#include "meta/meta.h"
#include "meta/ondisk_check.h"
#include "meta/witness.h"

/**
 * nc_witness_find() - read the record of a cache
 * @c: live cache
 * @bdev: witness device
 * @w: the record is read into w->record; @w is valid if the return value is 0
 *
 * Context: may sleep.
 * Return: 0; -ENOENT: the device has no record of the cache; -EIO: it cannot be read.
 */
int nc_witness_find(const struct nc_cache *c, struct block_device *bdev, struct nc_witness *w)
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
		if (nc_witness_check(w->record, c->dev.uuid))
			return 0;
	}
	return -ENOENT;
}

/**
 * nc_witness_write() - write the record of a cache durably
 * @c: live cache
 * @bdev: witness device
 * @w: from nc_witness_find()
 * @session: number of the write session
 * @previous: session that the superblock may still name, or 0; see struct nearcache_witness
 * @state: enum nearcache_witness_state
 *
 * Context: may sleep.
 * Return: 0; -EIO: the device has the new record or the old one.
 */
int nc_witness_write(const struct nc_cache *c, struct block_device *bdev, struct nc_witness *w,
		     u64 session, u64 previous, u32 state)
{
	nc_witness_init(w->record, c->dev.uuid);
	w->record->session = cpu_to_le64(session);
	w->record->previous = cpu_to_le64(previous);
	w->record->state = cpu_to_le32(state);
	nc_witness_seal(w->record);
	return nc_super_io(c->meta->super.io, bdev,
			   REQ_OP_WRITE | REQ_META | REQ_PREFLUSH | REQ_FUA,
			   w->offset, w->record, NEARCACHE_WITNESS_SIZE);
}
