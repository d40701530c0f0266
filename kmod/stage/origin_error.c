// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reason why the drain fails.  dm-kcopyd and dm-io report only that a write has failed.  So
 * after a failure the drain writes the first block of its pieces once more, with a bio of its own,
 * which has the error.  The reason matters most for a reservation, where waiting does not help.
 */
#include <linux/bio.h>
#include <linux/vmalloc.h>

#include "core/compat.h"
#include "stage/stage.h"

/* Put the first block of an extent into @block.  Return: 0 or the error of the log. */
static int read_first_block(struct nc_stage *s, const struct nc_extent *x, u32 sectors, void *block)
{
	struct dm_io_region region = {
		.bdev = s->log->bdev,
		.sector = nc_stage_log_sector(s, x->at),
		.count = sectors,
	};
	struct dm_io_request request = {
		.bi_opf = REQ_OP_READ | REQ_SYNC,
		.mem.type = DM_IO_VMA,
		.mem.ptr.vma = block,
		.client = s->drain.io,
	};

	/* The log may hang. */
	if (READ_ONCE(s->given_up))
		return -EIO;
	if (x->kind == NEARCACHE_STAGE_DATA)
		return nc_dm_io(&request, &region);
	memset(block, 0, sectors << SECTOR_SHIFT);
	return 0;
}

/* Write the first block of an extent to the origin.  Return: the error of the origin; 0: none, or
 * the log cannot be read.
 */
static int write_first_block(struct nc_stage *s, const struct nc_extent *x)
{
	u32 bytes = bdev_logical_block_size(s->origin->bdev);
	void *block = s->drain.block;
	struct bio_vec vec;
	struct bio bio;
	int r;

	if (read_first_block(s, x, bytes >> SECTOR_SHIFT, block))
		return 0;
	bio_init(&bio, s->origin->bdev, &vec, 1, REQ_OP_WRITE | REQ_SYNC);
	bio.bi_iter.bi_sector = x->sector;
	__bio_add_page(&bio, vmalloc_to_page(block), bytes, 0);
	r = submit_bio_wait(&bio);
	bio_uninit(&bio);
	return r;
}

/**
 * nc_origin_error_find() - find out why the origin fails; log the reason if it has changed
 * @s: stage; its drain holds the pieces of the newest epoch of the batch that failed
 *
 * Context: the drain, with no copy in flight.
 */
void nc_origin_error_find(struct nc_stage *s)
{
	const struct nc_extent *x = nc_overlay_find(&s->drain.pieces, 0);
	int r = 0;

	/* The drain ignores errors of a discard. */
	while (x && x->kind == NEARCACHE_STAGE_DISCARD)
		x = nc_extent_next(x);
	if (x)
		r = write_first_block(s, x);
	/* No error: the origin works again, or only the flush of the epoch has failed. */
	r = r ?: -EIO;
	if (r == READ_ONCE(s->origin_error))
		return;
	WRITE_ONCE(s->origin_error, r);
	if (r == -EBADE)
		DMERR("%s: origin %s: another node has reserved it, so nothing is drained",
		      nc_stage_name(s), s->origin->name);
	else
		DMWARN("%s: origin %s fails with error %d", nc_stage_name(s), s->origin->name, r);
	dm_table_event(s->ti->table);
}
