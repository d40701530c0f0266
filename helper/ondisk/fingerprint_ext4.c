// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fingerprint of ext2, ext3 and ext4: hashes the superblock (uuid, times and number of mounts and
 * writes, free counts), the group descriptors (free counts, checksums of the bitmaps) and the
 * superblock of the journal (number of the last transaction). Each mount for writing changes the
 * superblock, and each allocation changes a group descriptor.
 *
 * Offsets: fs/ext4/ext4.h, include/linux/jbd2.h.
 */
#include <endian.h>
#include <string.h>

#include "ondisk/fingerprint_fs.h"

#define SUPER		1024
#define SUPER_BYTES	1024
#define MAGIC		0xEF53
#define JOURNAL_MAGIC	0xC03B3998U
#define EXTENTS_MAGIC	0xF30A
#define COMPAT_SPARSE_SUPER2	0x200U
#define INCOMPAT_META_BG	0x10U
#define INCOMPAT_64BIT		0x80U
#define RO_COMPAT_SPARSE_SUPER	0x1U
/* Maximum of group descriptors to hash, in bytes: enough for 32 TiB in blocks of 4 KiB. */
#define GROUPS_MAX	(16ULL << 20)

/**
 * struct ext4 - decoded fields of the superblock
 * @sb: the superblock
 * @block: block size, bytes
 * @first: number of the first data block
 * @per_group: number of blocks in a group
 * @blocks: number of blocks with group descriptors that are hashed
 * @together: how many of @blocks directly follow the superblock; the others are spread (meta_bg)
 * @per_block: number of descriptors in a block
 */
struct ext4 {
	unsigned char sb[SUPER_BYTES];
	uint64_t block;
	uint64_t first;
	uint64_t per_group;
	uint64_t blocks;
	uint64_t together;
	uint64_t per_block;
};

static uint32_t get_le16(const unsigned char *sb, size_t offset)
{
	uint16_t value;

	memcpy(&value, sb + offset, sizeof(value));
	return le16toh(value);
}

static uint32_t get_le32(const unsigned char *sb, size_t offset)
{
	uint32_t value;

	memcpy(&value, sb + offset, sizeof(value));
	return le32toh(value);
}

static void measure_groups(struct ext4 *fs)
{
	uint32_t incompat = get_le32(fs->sb, 0x60);
	bool wide = incompat & INCOMPAT_64BIT;
	uint64_t blocks = get_le32(fs->sb, 0x4) |
			  (wide ? (uint64_t)get_le32(fs->sb, 0x150) << 32 : 0);
	uint64_t size = wide && get_le16(fs->sb, 0xFE) ? get_le16(fs->sb, 0xFE) : 32;
	uint64_t groups;

	fs->blocks = 0;
	fs->per_block = fs->block / size;
	if (!fs->per_group || !fs->per_block || blocks <= fs->first)
		return;
	groups = (blocks - fs->first - 1) / fs->per_group + 1;
	fs->blocks = (groups - 1) / fs->per_block + 1;
	if (fs->blocks > GROUPS_MAX / fs->block)
		fs->blocks = GROUPS_MAX / fs->block;
	fs->together = fs->blocks;
	if (incompat & INCOMPAT_META_BG && fs->together > get_le32(fs->sb, 0x104))
		fs->together = get_le32(fs->sb, 0x104);
}

static bool read_super(struct fsprint *print, struct ext4 *fs)
{
	const unsigned char *sb = fsprint_look(print, SUPER, SUPER_BYTES);

	if (!sb || get_le16(sb, 0x38) != MAGIC || get_le32(sb, 0x18) > 6)
		return false;
	memcpy(fs->sb, sb, sizeof(fs->sb));
	fs->block = 1024ULL << get_le32(sb, 0x18);
	fs->first = get_le32(sb, 0x14);
	fs->per_group = get_le32(sb, 0x20);
	measure_groups(fs);
	return true;
}

static bool is_power(uint64_t number, unsigned int base)
{
	while (number > 1 && !(number % base))
		number /= base;
	return number == 1;
}

/* True if a group begins with a copy of the superblock. */
static bool has_super(const struct ext4 *fs, uint64_t group)
{
	if (!group)
		return true;
	if (get_le32(fs->sb, 0x5C) & COMPAT_SPARSE_SUPER2)
		return group == get_le32(fs->sb, 0x24C) ||
		       group == get_le32(fs->sb, 0x250);
	return !(get_le32(fs->sb, 0x64) & RO_COMPAT_SPARSE_SUPER) ||
	       is_power(group, 3) || is_power(group, 5) || is_power(group, 7);
}

/*
 * Hash the blocks of group descriptors: those behind the superblock, then with meta_bg the others,
 * each of which lies in the first group that it describes.
 */
static void add_groups(struct fsprint *print, const struct ext4 *fs)
{
	uint64_t i;

	fsprint_add(print, (fs->first + 1) * fs->block,
		    fs->together * fs->block);
	for (i = fs->together; i < fs->blocks; i++) {
		uint64_t group = i * fs->per_block;

		fsprint_add(print, (fs->first + group * fs->per_group +
				    has_super(fs, group)) * fs->block,
			    fs->block);
	}
}

/*
 * Return the number of the journal's first block, 0: unknown. The superblock has a copy of the
 * block map in the journal's inode (EXT3_JNL_BACKUP_BLOCKS): extents, or a map as in ext2.
 */
static uint64_t journal_block(const struct ext4 *fs)
{
	const unsigned char *map = fs->sb + 0x10C;

	if (fs->sb[0xFD] != 1)
		return 0;
	if (get_le16(map, 0) != EXTENTS_MAGIC)
		return get_le32(map, 0);
	if (get_le16(map, 6) || !get_le16(map, 2))
		return 0;
	return (uint64_t)get_le16(map, 18) << 32 | get_le32(map, 20);
}

bool fsprint_ext4(struct fsprint *print)
{
	const uint32_t magic = htobe32(JOURNAL_MAGIC);
	const void *journal;
	uint64_t block;
	struct ext4 fs;

	if (!read_super(print, &fs))
		return false;
	fsprint_add(print, SUPER, SUPER_BYTES);
	if (fs.blocks)
		add_groups(print, &fs);
	block = journal_block(&fs);
	journal = block && block < fsprint_size(print) / fs.block ?
		  fsprint_look(print, block * fs.block, sizeof(magic)) : NULL;
	if (journal && !memcmp(journal, &magic, sizeof(magic)))
		fsprint_add(print, block * fs.block, 1024);
	return true;
}
