/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two superblock copies of a cache device. Functions that return int return 0, or an exit
 * code after recording an error with fail().
 */
#ifndef HELPER_ONDISK_SUPERBLOCK_H
#define HELPER_ONDISK_SUPERBLOCK_H

#include "block/device.h"
#include "meta/format.h"

/**
 * struct super - both copies of a superblock
 * @copy: 4096 bytes each
 * @geo: decoded fields of @best
 * @best: the valid copy; NULL if there is none
 * @sound: by copy: it verifies
 * @magic: by copy: has the magic, sound or not
 * @why: by copy: the reason why it is not sound
 * @refused: the reason why @best is NULL although both copies are sound
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
