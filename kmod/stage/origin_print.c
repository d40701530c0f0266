// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fingerprint of the origin: a checksum of each sector in its first and last blocks.  File
 * systems and partition tables have fields there that change with each use.  At a start the
 * fingerprint shows whether another host wrote to the origin.
 *
 * The drain changes these sectors itself.  So before the drain of an epoch that touches some, the
 * superblock gets their checksums as of the end of that epoch.  After a crash each sector must have
 * its old or its new checksum: a power cut may tear a write, but not a sector.
 */
#include <linux/crc32c.h>
#include <linux/ktime.h>
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

	/* The log may hang. */
	if (bdev == s->log->bdev && READ_ONCE(s->given_up))
		return -EIO;
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

/* The blocks of the fingerprint that a range of the volume touches, a bit for each. */
u32 nc_origin_print_blocks(const struct nc_stage *s, u64 sector, u32 sectors)
{
	u32 i, blocks = 0;
	u64 start;

	static_assert(NEARCACHE_STAGE_PRINT_BLOCKS <= 32);
	for (i = 0; i < NEARCACHE_STAGE_PRINT_BLOCKS && print_sector(s, i, &start); i++)
		if (start < sector + sectors && sector < start + NEARCACHE_STAGE_BLOCK_SECTORS)
			blocks |= BIT(i);
	return blocks;
}

/* Compute the checksums of the sectors of a block, 0 for those in @unknown (bit per sector). */
static void print_crcs(const u8 *block, u8 unknown, __le32 *crc)
{
	u32 i, sum;

	for (i = 0; i < NEARCACHE_STAGE_BLOCK_SECTORS; i++) {
		sum = ~crc32c(~0U, block + i * SECTOR_SIZE, SECTOR_SIZE);
		crc[i] = unknown & BIT(i) ? 0 : cpu_to_le32(sum ?: 1);
	}
}

/* Read the block of the origin that begins at @start.  Return: the sectors that cannot be read. */
static u8 read_block(struct nc_stage *s, u64 start, u8 *block)
{
	u32 step = bdev_logical_block_size(s->origin->bdev) >> SECTOR_SHIFT, i;
	u8 bad = 0;

	if (!read_sectors(s, s->origin->bdev, start, NEARCACHE_STAGE_BLOCK_SECTORS, block))
		return 0;
	for (i = 0; i < NEARCACHE_STAGE_BLOCK_SECTORS; i += step)
		if (read_sectors(s, s->origin->bdev, start + i, step, block + i * SECTOR_SIZE))
			bad |= GENMASK(i + step - 1, i);
	return bad;
}

/* Put the part of an extent that is in the block at sector @start into @block.  Set the bits of its
 * sectors in @written; set them in @unknown for a discard, otherwise clear them.
 * Return: 0 or the error of the log.
 */
static int put_extent(struct nc_stage *s, const struct nc_extent *x, u64 start, u8 *block,
		      u8 *written, u8 *unknown)
{
	u64 from = max(x->sector, start);
	u32 sectors = min(nc_extent_end(x), start + NEARCACHE_STAGE_BLOCK_SECTORS) - from;
	u32 first = from - start;
	u8 mask = GENMASK(first + sectors - 1, first), *to = block + first * SECTOR_SIZE;

	*written |= mask;
	if (x->kind == NEARCACHE_STAGE_DISCARD) {
		*unknown |= mask;
		return 0;
	}
	*unknown &= ~mask;
	if (x->kind == NEARCACHE_STAGE_DATA)
		return read_sectors(s, s->log->bdev,
				    nc_stage_log_sector(s, x->at + (from - x->sector)), sectors,
				    to);
	memset(to, 0, sectors << SECTOR_SHIFT);
	return 0;
}

/* Does a sector have one of the contents that the drain gave it?  @crc: 0 if it cannot be read. */
static bool sector_matches(__le32 now, __le32 next, __le32 crc)
{
	if (!now || !next)
		return true;
	/* A sector that was being written at a power cut may be unreadable: the drain writes it. */
	return crc ? crc == now || crc == next : now != next;
}

/* Report a sector that another host changed; only the first one.  Return: -ESTALE. */
static int refuse_changed(struct nc_stage *s, u64 sector)
{
	if (READ_ONCE(s->origin_error) == -ESTALE)
		return -ESTALE;
	WRITE_ONCE(s->origin_error, -ESTALE);
	DMERR("%s: origin %s: another host changed sector %llu meanwhile: the drain waits",
	      nc_stage_name(s), s->origin->name, sector);
	return -ESTALE;
}

/* Compute the checksums of a block as of the end of the epoch in @s->drain.pieces.  Sets those in
 * @now that are not known, of sectors that the epoch does not write; these sectors keep theirs,
 * also while the origin cannot be read.  A written one stays unknown until the mark: an earlier
 * attempt may have written it, and the origin may lose this write.
 */
static int next_crcs(struct nc_stage *s, u64 start, u8 *block, __le32 *now, __le32 *crc)
{
	const struct nc_extent *x = nc_overlay_find(&s->drain.pieces, start);
	/* An earlier attempt may have written a part of the epoch. */
	const __le32 *next = s->super.block->origin_next + (crc - s->drain.origin_next);
	u64 end = start + NEARCACHE_STAGE_BLOCK_SECTORS;
	u8 unknown = read_block(s, start, block), written = 0;
	u32 i;

	print_crcs(block, unknown, crc);
	for (i = 0; i < NEARCACHE_STAGE_BLOCK_SECTORS; i++)
		if (crc[i] && !sector_matches(now[i], next[i], crc[i]))
			return refuse_changed(s, start + i);
	for (; x && x->sector < end; x = nc_extent_next(x))
		if (put_extent(s, x, start, block, &written, &unknown))
			return -ENODATA;
	print_crcs(block, unknown, crc);
	for (i = 0; i < NEARCACHE_STAGE_BLOCK_SECTORS; i++) {
		if (written & BIT(i))
			continue;
		if (!now[i])
			now[i] = crc[i];
		crc[i] = now[i];
	}
	return 0;
}

/* Does the epoch that is to be drained touch the block? */
static bool epoch_touches(const struct nc_stage *s, u64 start)
{
	const struct nc_extent *x = nc_overlay_find(&s->drain.pieces, start);

	return x && x->sector < start + NEARCACHE_STAGE_BLOCK_SECTORS;
}

/* Requests of the drain have ended: it does not hang. */
static void note_progress(struct nc_stage *s)
{
	spin_lock_irq(&s->lock);
	s->drain.progress = ktime_get_ns();
	spin_unlock_irq(&s->lock);
}

/**
 * nc_origin_print_expect() - record the fingerprint after the epoch in @s->drain.pieces
 * @s: stage
 *
 * Context: the drain, before it writes anything of the epoch.
 * Return: 0; -ENODATA: the log cannot be read or written; -ESTALE: another host wrote to the
 * origin.
 */
int nc_origin_print_expect(struct nc_stage *s)
{
	__le32 *now = s->drain.origin_now, *next = s->drain.origin_next;
	bool touched = false;
	u64 start;
	u32 i, at;
	int r;

	/* Only the drain changes it, after the start. */
	memcpy(now, s->super.block->origin_now, sizeof(s->drain.origin_now));
	memcpy(next, now, sizeof(s->drain.origin_next));
	for (i = 0; i < NEARCACHE_STAGE_PRINT_BLOCKS; i++) {
		if (!print_sector(s, i, &start) || !epoch_touches(s, start))
			continue;
		touched = true;
		at = nc_place_sector(i);
		r = next_crcs(s, start, s->drain.block, now + at, next + at);
		if (r)
			return r;
		note_progress(s);
	}
	if (!touched)
		return 0;
	return nc_stage_super_expect(s, now, next) ? -ENODATA : 0;
}

/**
 * nc_origin_print_take() - record the fingerprint of the present content of the origin
 * @s: stage that has nothing to drain, and that passes no write
 * @unknown: blocks whose content may change by itself, as after a discard, a bit for each
 *
 * Context: may sleep.
 * Return: 0 or the error of the log.
 */
int nc_origin_print_take(struct nc_stage *s, u32 unknown)
{
	__le32 *now = s->drain.origin_now;
	u64 start;
	u32 i;

	memset(now, 0, sizeof(s->drain.origin_now));
	for (i = 0; i < NEARCACHE_STAGE_PRINT_BLOCKS && print_sector(s, i, &start); i++)
		if (!(unknown & BIT(i)))
			print_crcs(s->drain.block, read_block(s, start, s->drain.block),
				   now + nc_place_sector(i));
	return nc_stage_super_expect(s, now, now);
}

/* Compare block @i, which begins at @start.  Sets @unreadable to the sectors that cannot be read.
 * Return: the sectors that differ, with those that should be readable, a bit for each.
 */
static u8 compare_block(struct nc_stage *s, u32 i, u64 start, __le32 *crc, u8 *unreadable)
{
	struct nearcache_stage_super *sb = s->super.block;
	bool grown = le64_to_cpu(sb->volume_sectors) != s->ti->len;
	u32 j, at = nc_place_sector(i);
	u8 differ = 0;

	*unreadable = read_block(s, start, s->drain.block);
	print_crcs(s->drain.block, *unreadable, crc);
	for (j = 0; j < NEARCACHE_STAGE_BLOCK_SECTORS; j++, at++)
		if (!sector_matches(sb->origin_now[at], sb->origin_next[at], crc[j]))
			differ |= BIT(j);
	/* The origin may have a new end. */
	return grown && i >= NEARCACHE_STAGE_END_BLOCKS ? 0 : differ;
}

/* Report why a start is refused.  @differ, @unreadable: of compare_block(), for the block that
 * begins at @start.  Return: -ESTALE or -EIO.
 */
static int refuse_start(struct nc_stage *s, u64 start, u8 differ, u8 unreadable)
{
	u8 foreign = differ & ~unreadable;

	if (foreign)
		DMERR("%s: origin %s: another host changed it: sector %llu, log %s",
		      nc_stage_name(s), s->origin->name, start + __ffs(foreign), s->log->name);
	else
		DMERR("%s: origin %s: cannot read sector %llu: start again when it can be read",
		      nc_stage_name(s), s->origin->name, start + __ffs(differ));
	return foreign ? -ESTALE : -EIO;
}

/* Record the checksums of block @i. */
static void take_block(struct nc_stage *s, u32 i, const __le32 *crc)
{
	u32 at = nc_place_sector(i);
	size_t bytes = NEARCACHE_STAGE_BLOCK_SECTORS * sizeof(*crc);

	memcpy(s->super.block->origin_now + at, crc, bytes);
	memcpy(s->super.block->origin_next + at, crc, bytes);
}

/**
 * nc_origin_print_check() - compare the origin with the fingerprint, at a start
 * @s: stage whose ring was read
 * @changed: set to whether another host wrote to the origin
 *
 * If all epochs are marked, records the checksums of the origin as it is; the caller writes the
 * superblock.
 *
 * Context: may sleep.
 * Return: 0; if epochs are not marked, -ESTALE: another host wrote to the origin; -EIO: a sector
 * cannot be read.
 */
int nc_origin_print_check(struct nc_stage *s, bool *changed)
{
	bool drained = s->ring.marked.record == s->ring.committed.record;
	bool grown = le64_to_cpu(s->super.block->volume_sectors) != s->ti->len;
	__le32 crc[NEARCACHE_STAGE_BLOCK_SECTORS];
	u8 differ, unreadable;
	u64 start;
	u32 i;

	*changed = false;
	for (i = 0; i < NEARCACHE_STAGE_PRINT_BLOCKS && print_sector(s, i, &start); i++) {
		differ = compare_block(s, i, start, crc, &unreadable);
		*changed |= differ;
		if (differ && !drained)
			return refuse_start(s, start, differ, unreadable);
		if (drained || (grown && i >= NEARCACHE_STAGE_END_BLOCKS))
			take_block(s, i, crc);
	}
	return 0;
}
