// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fingerprint of XFS: hashes the headers of the allocation groups (superblock, free space, inodes,
 * free list; with checksums and log sequence numbers since version 5) and the head of the log. Each
 * allocation changes a header, and each change of metadata moves the head of the log. With
 * NEARCACHE_FP_MORE also the last part of the log before its head.
 *
 * Offsets: fs/xfs/libxfs/xfs_format.h, xfs_log_format.h.
 */
#include <endian.h>
#include <string.h>

#include "ondisk/fingerprint_fs.h"

#define MAGIC		0x58465342U
#define RECORD_MAGIC	0xFEEDBABEU
#define HEADERS		4
/* Maximum number of allocation groups to hash. Of more groups, evenly spaced ones are hashed. */
#define GROUPS_MAX	1024U
/* Unit of the log, bytes. */
#define LOG_BLOCK	512U
/* Blocks before the head of the log whose content counts for NEARCACHE_FP_MORE. */
#define LOG_LAST	512U

/**
 * struct xfs - decoded fields of the superblock
 * @block: block size, bytes
 * @sector: size of a header, bytes
 * @group_blocks: blocks in an allocation group
 * @groups: allocation groups
 * @log: offset of the log, bytes; 0: on another device
 * @log_blocks: length of the log in blocks of 512 bytes
 */
struct xfs {
	uint64_t block;
	uint64_t sector;
	uint64_t group_blocks;
	uint64_t groups;
	uint64_t log;
	uint64_t log_blocks;
};

static uint32_t get_be32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return be32toh(value);
}

static uint64_t get_be64(const unsigned char *at)
{
	return (uint64_t)get_be32(at) << 32 | get_be32(at + 4);
}

/*
 * Return the byte offset of the log, 0: on another device or invalid. The upper bits of a block
 * number are the allocation group, the lower ones the block within the group.
 */
static uint64_t log_place(const unsigned char *sb, const struct xfs *fs)
{
	uint64_t start = get_be64(sb + 48);
	unsigned int shift = sb[124];

	if (!start || shift > 31)
		return 0;
	return ((start >> shift) * fs->group_blocks +
		(start & ((1ULL << shift) - 1))) * fs->block;
}

static bool read_super(struct fsprint *print, struct xfs *fs)
{
	const unsigned char *sb = fsprint_look(print, 0, 512);

	if (!sb || get_be32(sb) != MAGIC)
		return false;
	fs->block = get_be32(sb + 4);
	fs->group_blocks = get_be32(sb + 84);
	fs->groups = get_be32(sb + 88);
	fs->sector = get_be32(sb + 100) & 0xffff;
	if (fs->block < 512 || fs->block > 65536 || fs->sector < 512 ||
	    fs->sector > 32768 || !fs->group_blocks || !fs->groups)
		return false;
	fs->log_blocks = get_be32(sb + 96) * fs->block / LOG_BLOCK;
	fs->log = log_place(sb, fs);
	return true;
}

static void add_groups(struct fsprint *print, const struct xfs *fs)
{
	uint64_t step = (fs->groups - 1) / GROUPS_MAX + 1;
	uint64_t group;

	for (group = 0; group < fs->groups; group += step) {
		uint64_t offset = group * fs->group_blocks * fs->block;

		/* This group and all later ones lie beyond the end of the device. */
		if (offset >= fsprint_size(print))
			return;
		fsprint_add(print, offset, HEADERS * fs->sector);
	}
}

/* Return how often the log had wrapped around when block @index was written; 0: unreadable. */
static uint32_t log_cycle(struct fsprint *print, const struct xfs *fs,
			  uint64_t index)
{
	const unsigned char *at;

	at = fsprint_look(print, fs->log + index * LOG_BLOCK, LOG_BLOCK);
	if (!at)
		return 0;
	return get_be32(at) == RECORD_MAGIC ? get_be32(at + 4) : get_be32(at);
}

/*
 * Find the head of the log and hash it. Blocks before the head have the cycle number of the first
 * block of the log, and blocks behind the head an older one, so bisection finds the head. Do not
 * hash blocks behind the head: a mount may write there, even a read-only mount.
 */
static void add_log(struct fsprint *print, const struct xfs *fs)
{
	uint64_t low = 0, high = fs->log_blocks;
	uint32_t first;

	if (!fs->log || fs->log >= fsprint_size(print) || !high ||
	    high > (fsprint_size(print) - fs->log) / LOG_BLOCK)
		return;
	first = log_cycle(print, fs, 0);
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (log_cycle(print, fs, middle) == first)
			low = middle;
		else
			high = middle;
	}
	fsprint_add_number(print, first);
	fsprint_add_number(print, low);
	fsprint_add(print, fs->log + low * LOG_BLOCK, LOG_BLOCK);
	/*
	 * These blocks have inodes with times in nanoseconds, so they differ after a rollback even
	 * if the same commands ran again; the head and the headers of groups are equal then.
	 */
	high = low < LOG_LAST ? low : LOG_LAST;
	fsprint_add_more(print, fs->log + (low - high) * LOG_BLOCK, high * LOG_BLOCK);
}

bool fsprint_xfs(struct fsprint *print)
{
	struct xfs fs;

	if (!read_super(print, &fs))
		return false;
	add_groups(print, &fs);
	add_log(print, &fs);
	return true;
}
