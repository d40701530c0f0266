// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fingerprint of the origin: checksums of the sectors of its first and last blocks, where file
 * systems and partition tables have what changes whenever they are used.  At a start it tells
 * whether another host wrote to the origin.
 *
 * The drain changes these sectors itself.  So before an epoch that touches some is drained, the
 * superblock gets their checksums as of the end of that epoch.  After a crash each sector must have
 * one of the two contents: a write that a power cut tears leaves whole sectors.
 */
#include <linux/crc32c.h>
#include <linux/vmalloc.h>

#include "core/compat.h"
#include "stage/stage.h"

static int read_sectors(struct nc_stage *s, struct block_device *bdev, u64 sector, u32 sectors,
			void *to)
{
	struct dm_io_region region = { .bdev = bdev, .sector = sector, .count = sectors };
	struct dm_io_request request = {
		.bi_opf = REQ_OP_READ | REQ_SYNC,
		.mem.type = DM_IO_VMA,
		.mem.ptr.vma = to,
		.client = s->super.io,
	};

	return nc_dm_io(&request, &region);
}

/* First sector of block @i of the fingerprint.  Return: false: the origin is too small. */
static bool print_sector(const struct nc_stage *s, u32 i, u64 *sector)
{
	u64 blocks = div_u64(s->ti->len, NEARCACHE_STAGE_BLOCK_SECTORS);

	if (blocks < NEARCACHE_STAGE_PRINT_BLOCKS)
		return false;
	if (i >= NEARCACHE_STAGE_END_BLOCKS)
		i += blocks - NEARCACHE_STAGE_PRINT_BLOCKS;
	*sector = nc_place_sector(i);
	return true;
}

/* Compute the checksums of the sectors of a block. */
static void print_crcs(const u8 *block, __le32 *crc)
{
	u32 i, sum;

	for (i = 0; i < NEARCACHE_STAGE_BLOCK_SECTORS; i++) {
		sum = ~crc32c(~0U, block + i * SECTOR_SIZE, SECTOR_SIZE);
		crc[i] = cpu_to_le32(sum ?: 1);
	}
}

/* Put what an extent has of the block that begins at @start into @block.  Sets @known to false if
 * the content is not known then.  Return: 0 or the error of the log.
 */
static int put_extent(struct nc_stage *s, const struct nc_extent *x, u64 start, u8 *block,
		      bool *known)
{
	u64 from = max(x->sector, start);
	u32 sectors = min(nc_extent_end(x), start + NEARCACHE_STAGE_BLOCK_SECTORS) - from;
	u8 *to = block + ((from - start) << SECTOR_SHIFT);

	switch (x->kind) {
	case NEARCACHE_STAGE_DATA:
		return read_sectors(s, s->log->bdev,
				    nc_stage_log_sector(s, x->at + (from - x->sector)), sectors,
				    to);
	case NEARCACHE_STAGE_ZEROES:
		memset(to, 0, sectors << SECTOR_SHIFT);
		return 0;
	default:
		*known = false;
		return 0;
	}
}

/* Compute the checksums of a block as of the end of the epoch in @s->drain.pieces. */
static int next_crcs(struct nc_stage *s, u64 start, u8 *block, __le32 *crc)
{
	const struct nc_extent *x = nc_overlay_find(&s->drain.pieces, start);
	u64 end = start + NEARCACHE_STAGE_BLOCK_SECTORS;
	bool known = true;
	int r;

	r = read_sectors(s, s->origin->bdev, start, NEARCACHE_STAGE_BLOCK_SECTORS, block);
	for (; !r && x && x->sector < end; x = nc_extent_next(x))
		if (put_extent(s, x, start, block, &known))
			return -ENODATA;
	if (r)
		return -EIO;
	if (known)
		print_crcs(block, crc);
	else
		memset(crc, 0, NEARCACHE_STAGE_BLOCK_SECTORS * sizeof(*crc));
	return 0;
}

/* Does the epoch that is to be drained touch the block? */
static bool epoch_touches(const struct nc_stage *s, u64 start)
{
	const struct nc_extent *x = nc_overlay_find(&s->drain.pieces, start);

	return x && x->sector < start + NEARCACHE_STAGE_BLOCK_SECTORS;
}

/**
 * nc_origin_print_expect() - record what the blocks will be after the epoch in @s->drain.pieces
 * @s: stage
 *
 * Context: the drain, before it writes anything of the epoch.
 * Return: 0; -EIO: the origin cannot be read; -ENODATA: the log cannot be read or written.
 */
int nc_origin_print_expect(struct nc_stage *s)
{
	__le32 *next = s->drain.origin_next;
	bool touched = false;
	u64 start;
	u32 i;
	int r;

	memcpy(next, s->super.block->origin_now, sizeof(s->drain.origin_next));
	for (i = 0; i < NEARCACHE_STAGE_PRINT_BLOCKS; i++) {
		if (!print_sector(s, i, &start) || !epoch_touches(s, start))
			continue;
		touched = true;
		r = next_crcs(s, start, s->drain.block, next + nc_place_sector(i));
		if (r)
			return r;
	}
	if (!touched)
		return 0;
	return nc_stage_super_expect(s, next) ? -ENODATA : 0;
}

/* Compare a sector with the fingerprint.  @take: record its checksum if none is known. */
static bool sector_matches(__le32 *now, __le32 *next, __le32 crc, bool take)
{
	if (*now && *next && crc != *now && crc != *next)
		return false;
	if (!*now && take) {
		*now = crc;
		*next = crc;
	}
	return true;
}

/* Compare block @i, which begins at @start. */
static int check_block(struct nc_stage *s, u32 i, u64 start)
{
	struct nearcache_stage_super *sb = s->super.block;
	bool drained = s->ring.marked.record == s->ring.committed.record;
	bool grown = le64_to_cpu(sb->volume_sectors) != s->ti->len;
	__le32 crc[NEARCACHE_STAGE_BLOCK_SECTORS];
	u32 j, at = nc_place_sector(i);
	int r;

	r = read_sectors(s, s->origin->bdev, start, NEARCACHE_STAGE_BLOCK_SECTORS, s->drain.block);
	if (r)
		return r;
	print_crcs(s->drain.block, crc);
	/* The origin has a new end. */
	if (grown && i >= NEARCACHE_STAGE_END_BLOCKS) {
		memcpy(sb->origin_now + at, crc, sizeof(crc));
		memcpy(sb->origin_next + at, crc, sizeof(crc));
	}
	for (j = 0; j < NEARCACHE_STAGE_BLOCK_SECTORS; j++, at++) {
		if (sector_matches(sb->origin_now + at, sb->origin_next + at, crc[j], drained))
			continue;
		DMERR("%s: origin %s: another host changed it: sector %llu is not from log %s",
		      nc_stage_name(s), s->origin->name, start + j, s->log->name);
		return -ESTALE;
	}
	return 0;
}

/**
 * nc_origin_print_check() - compare the origin with the fingerprint, at a start
 * @s: stage whose ring was read
 *
 * Records sectors that are not known yet; the caller writes the superblock.
 *
 * Context: may sleep.
 * Return: 0; -ESTALE: another host wrote to the origin; or the error of reading it.
 */
int nc_origin_print_check(struct nc_stage *s)
{
	u64 start;
	u32 i;
	int r = 0;

	for (i = 0; i < NEARCACHE_STAGE_PRINT_BLOCKS && !r; i++) {
		if (!print_sector(s, i, &start))
			return 0;
		r = check_block(s, i, start);
	}
	return r;
}
