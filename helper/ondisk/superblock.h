/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read, check and write the superblock of a cache device, which is stored in two copies.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_ONDISK_SUPERBLOCK_H
#define HELPER_ONDISK_SUPERBLOCK_H

#include "block/device.h"
#include "meta/ondisk_check.h"

/**
 * struct super - both copies of a superblock
 * @copy: both copies as read, 4096 bytes each
 * @geo: decoded fields of @best
 * @best: the valid copy that the kernel would use; NULL: none
 * @sound: per copy, true if it is valid by itself
 * @magic: per copy, true if it begins with the magic, valid or not
 * @why: per copy, the reason why it is not valid
 * @refused: message if both copies are valid but of different caches; @best is then NULL
 */
struct super {
	struct nearcache_super *copy[NEARCACHE_SUPER_COPIES];
	struct nc_geometry geo;
	const struct nearcache_super *best;
	bool sound[NEARCACHE_SUPER_COPIES];
	bool magic[NEARCACHE_SUPER_COPIES];
	char why[NEARCACHE_SUPER_COPIES][NC_WHY_SIZE];
	char refused[NC_WHY_SIZE];
};

/* Size of a buffer for a uuid as text, with NUL. */
#define SUPER_UUID_TEXT	37

int super_read(struct super *super, const struct device *dev);
int super_require(const struct super *super, const struct device *dev);
const char *super_why(const struct super *super);
void super_free(struct super *super);
int super_write(const struct device *dev, const struct nearcache_super *sb);
int super_rewrite(const struct device *dev, const struct super *super,
		  const struct nearcache_super *sb);
int super_wipe(const struct device *dev);
u64 super_offset(unsigned int copy);
const char *super_state_word(const struct nearcache_super *sb);

#endif /* HELPER_ONDISK_SUPERBLOCK_H */
