// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fingerprint of btrfs: hashes the superblock and its first copy. Each commit of the file system
 * writes a superblock with a higher generation and new roots of the trees.
 *
 * Offsets: include/uapi/linux/btrfs_tree.h (struct btrfs_super_block).
 */
#include <string.h>

#include "ondisk/fingerprint_fs.h"

#define SUPER		65536U
#define SUPER_COPY	(64ULL << 20)
#define SUPER_BYTES	4096
#define MAGIC_OFFSET	64
static const char magic[] = "_BHRfS_M";

bool fsprint_btrfs(struct fsprint *print)
{
	const char *sb = fsprint_look(print, SUPER, SUPER_BYTES);

	if (!sb || memcmp(sb + MAGIC_OFFSET, magic, strlen(magic)))
		return false;
	fsprint_add(print, SUPER, SUPER_BYTES);
	if (SUPER_COPY + SUPER_BYTES <= fsprint_size(print))
		fsprint_add(print, SUPER_COPY, SUPER_BYTES);
	return true;
}
