// SPDX-License-Identifier: GPL-2.0-only
/*
 * The superblock.  Its states:
 *
 *   clean --nc_meta_go()--> active, live or writing --nc_meta_stop()--> clean
 *
 * The session's state reaches both copies durably before any slot is overwritten and
 * before the origin is written.  "clean" is written only after the data and the table are
 * durable.  After a crash between the two copies the higher sequence wins; the state of
 * either copy is correct.
 */
#include <linux/blkdev.h>
#include <linux/random.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "core/compat.h"
#include "meta/ondisk_check.h"
#include "meta/superblock.h"

static const u64 super_offset[NEARCACHE_SUPER_COPIES] = {
	NEARCACHE_SUPER_OFFSET_0, NEARCACHE_SUPER_OFFSET_1,
};

/* May sleep.  Return: 0 or -ENOMEM; in both cases the caller must call nc_super_destroy(). */
int nc_super_init(struct nc_super *s)
{
	s->io = dm_io_client_create();
	if (IS_ERR(s->io)) {
		s->io = NULL;
		return -ENOMEM;
	}
	s->durable = -1;
	s->sb = vmalloc(NEARCACHE_SUPER_SIZE);
	s->other = vmalloc(NEARCACHE_SUPER_SIZE);
	return s->sb && s->other ? 0 : -ENOMEM;
}

void nc_super_destroy(struct nc_super *s)
{
	vfree(s->other);
	vfree(s->sb);
	if (s->io)
		dm_io_client_destroy(s->io);
}

/**
 * nc_super_io() - read or write metadata synchronously
 * @io: dm-io client
 * @bdev: device
 * @opf: operation and flags
 * @offset: bytes
 * @buffer: from vmalloc()
 * @bytes: length; like @offset a multiple of the device's logical block
 *
 * Context: may sleep.
 * Return: 0 or -EIO.
 */
int nc_super_io(struct dm_io_client *io, struct block_device *bdev,
		blk_opf_t opf, u64 offset, void *buffer, size_t bytes)
{
	struct dm_io_region region = {
		.bdev = bdev,
		.sector = offset >> SECTOR_SHIFT,
		.count = bytes >> SECTOR_SHIFT,
	};
	struct dm_io_request request = {
		.bi_opf = opf | REQ_SYNC,
		.mem.type = DM_IO_VMA,
		.mem.ptr.vma = buffer,
		.client = io,
	};

	return nc_dm_io(&request, &region);
}

/* Do both copies durably say active?  Flushes, as an earlier session may have written them. */
static bool both_active(const struct nc_super *s, struct block_device *bdev)
{
	char why[NC_WHY_SIZE];
	struct nc_geometry geo;

	return le32_to_cpu(s->sb->state) == NEARCACHE_STATE_ACTIVE &&
	       nc_super_check(s->other, bdev_nr_bytes(bdev), &geo, why) &&
	       le32_to_cpu(s->other->state) == NEARCACHE_STATE_ACTIVE &&
	       !blkdev_issue_flush(bdev);
}

/**
 * nc_super_read() - read and validate both copies
 * @s: superblock; s->sb is set to the valid copy with the higher sequence
 * @bdev: cache device
 * @geo: set on success
 * @why: NC_WHY_SIZE bytes; set on failure
 *
 * A copy that cannot be read counts as damaged.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: no valid copy, or unusable device; -EIO: neither copy can be read.
 */
int nc_super_read(struct nc_super *s, struct block_device *bdev,
		  struct nc_geometry *geo, char *why)
{
	const struct nearcache_super *best;
	int r0, r1;

	s->read = false;
	if (bdev_nr_bytes(bdev) < NEARCACHE_AREA_START) {
		/* del_gendisk() leaves a disk that is in use with a size of 0. */
		if (bdev_nr_bytes(bdev))
			snprintf(why, NC_WHY_SIZE, "device has only %llu bytes",
				 (u64)bdev_nr_bytes(bdev));
		else
			snprintf(why, NC_WHY_SIZE,
				 "the disk of the cache device is gone: attach a cache device");
		return -EINVAL;
	}
	r0 = nc_super_io(s->io, bdev, REQ_OP_READ | REQ_META, super_offset[0],
			 s->sb, NEARCACHE_SUPER_SIZE);
	r1 = nc_super_io(s->io, bdev, REQ_OP_READ | REQ_META, super_offset[1],
			 s->other, NEARCACHE_SUPER_SIZE);
	if (r0 && r1) {
		snprintf(why, NC_WHY_SIZE, "superblocks cannot be read");
		return -EIO;
	}
	/* Not earlier: if neither copy can be read, the old @durable stays true for the medium. */
	WRITE_ONCE(s->durable, -1);
	if (r0)
		memset(s->sb, 0, NEARCACHE_SUPER_SIZE);
	if (r1)
		memset(s->other, 0, NEARCACHE_SUPER_SIZE);
	best = nc_super_choose(s->sb, s->other, bdev_nr_bytes(bdev), geo, why);
	if (!best)
		return -EINVAL;
	if (bdev_logical_block_size(bdev) > geo->subblock_size) {
		snprintf(why, NC_WHY_SIZE,
			 "device's logical block size %u exceeds subblock_size %u",
			 bdev_logical_block_size(bdev), geo->subblock_size);
		return -EINVAL;
	}
	s->counts = best == s->other;
	if (s->counts)
		swap(s->sb, s->other);
	if (both_active(s, bdev))
		WRITE_ONCE(s->durable, NEARCACHE_STATE_ACTIVE);
	s->known = le64_to_cpu(s->sb->sequence);
	s->known_id = le64_to_cpu(s->sb->write_id);
	s->read = true;
	return 0;
}

/* Replace the content of @s by that of @from, which was read from the same device. */
void nc_super_take(struct nc_super *s, const struct nc_super *from)
{
	memcpy(s->sb, from->sb, NEARCACHE_SUPER_SIZE);
	memcpy(s->other, from->other, NEARCACHE_SUPER_SIZE);
	s->counts = from->counts;
	s->known = from->known;
	s->known_id = from->known_id;
	WRITE_ONCE(s->durable, from->durable);
	s->read = from->read;
}

/**
 * nc_super_confirm() - is the superblock on the medium the one that was last read or written?
 * @s: superblock that was read
 * @bdev: its device
 *
 * Context: may sleep.
 * Return: 0: yes; -ESTALE: no; or the error of reading it.
 */
int nc_super_confirm(const struct nc_super *s, struct block_device *bdev)
{
	struct nc_super now = { };
	struct nc_geometry geo;
	char why[NC_WHY_SIZE];
	int r = nc_super_init(&now);

	if (!r)
		r = nc_super_read(&now, bdev, &geo, why);
	/* Another boot may have counted to the same sequence, but does not know the write_id. */
	if (!r && (now.known != s->known || now.known_id != s->known_id ||
		   memcmp(now.sb->uuid, s->sb->uuid, sizeof(s->sb->uuid))))
		r = -ESTALE;
	nc_super_destroy(&now);
	return r;
}

/* Durably write the copy that is not current, and make it the current copy. */
static int write_super_copy(struct nc_super *s, struct block_device *bdev)
{
	unsigned int copy = !s->counts;
	int r;

	r = nc_super_io(s->io, bdev,
			REQ_OP_WRITE | REQ_META | REQ_PREFLUSH | REQ_FUA,
			super_offset[copy], s->sb, NEARCACHE_SUPER_SIZE);
	if (r)
		return r;
	s->counts = copy;
	s->known = le64_to_cpu(s->sb->sequence);
	s->known_id = le64_to_cpu(s->sb->write_id);
	return 0;
}

static void seal_super(struct nc_super *s, u32 state)
{
	s->sb->state = cpu_to_le32(state);
	le64_add_cpu(&s->sb->sequence, 1);
	/* Mix in the time: two kernels that were resumed from one image share the state of the
	 * random number generator, and could draw the same number.
	 */
	s->sb->write_id = cpu_to_le64(get_random_u64() ^ ktime_get_real_ns());
	nc_super_seal(s->sb);
}

/**
 * nc_super_put() - write one copy with a new state; a crash may bring back the older state
 * @s: superblock that was read, of a member behind the first
 * @bdev: device of that member
 * @state: enum nearcache_super_state
 *
 * Also makes all earlier writes to the device durable.
 *
 * Context: may sleep.
 * Return: 0 or -EIO; on error the copy has the old or the new content.
 */
int nc_super_put(struct nc_super *s, struct block_device *bdev, u32 state)
{
	if (!s->read)
		return -EIO;
	seal_super(s, state);
	return write_super_copy(s, bdev);
}

/**
 * nc_super_write() - write both copies with a new state
 * @s: superblock that was read
 * @bdev: cache device
 * @state: enum nearcache_super_state
 *
 * Writes the older copy first and then the current one, each durable before the next.  So one
 * intact copy exists at any time.  A crash leaves the current or the new state, never the state
 * of the copy that was the older one before the call.
 *
 * Context: may sleep.
 * Return: 0 or -EIO; on error either copy has the old or the new content.
 */
int nc_super_write(struct nc_super *s, struct block_device *bdev, u32 state)
{
	unsigned int i;
	int r;

	if (!s->read)
		return -EIO;
	/* From writing to active, leave @durable at writing: if only one copy gets written, the
	 * next load drops the slot table as well, provided that the witness says "left".
	 */
	if (s->durable != state && !(s->durable == NEARCACHE_STATE_WRITING &&
				     state == NEARCACHE_STATE_ACTIVE))
		WRITE_ONCE(s->durable, -1);
	seal_super(s, state);
	for (i = 0; i < NEARCACHE_SUPER_COPIES; i++) {
		r = write_super_copy(s, bdev);
		if (r)
			return r;
	}
	/* Only once both copies are written: if just one has the new state and becomes unreadable,
	 * a load trusts the old state of the other copy.
	 */
	WRITE_ONCE(s->durable, state);
	return 0;
}

/* Change the origin's size with the next write.  The regions of the write-intent bitmap grow until
 * the bitmap covers the origin; they never shrink.
 */
void nc_super_resize(struct nc_super *s, u64 size)
{
	u64 region = le64_to_cpu(s->sb->intent_region);

	while (div64_u64(size - 1, region) >= NEARCACHE_INTENT_REGIONS)
		region *= 2;
	s->sb->intent_region = cpu_to_le64(region);
	s->sb->origin_size = cpu_to_le64(size);
}
