/* SPDX-License-Identifier: GPL-2.0-only */
/* The two superblock copies of a cache device. */
#ifndef HELPER_ONDISK_SUPERBLOCK_H
#define HELPER_ONDISK_SUPERBLOCK_H

#include "block/device.h"
#include "meta/format.h"

/**
 * struct super - both copies as read, judged
 * @copy: 4096 bytes each
 * @geo: numbers of the copy that counts
 * @best: the copy that counts, NULL when neither is sound
 * @sound: by copy
 * @magic: by copy: carries the magic, sound or not
 * @why: by copy: why it is not sound
 * @refused: why neither counts though both are sound
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

/* Text form of a uuid with its end. */
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
