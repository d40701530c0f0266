/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Chooses cached blocks to compare with the origin, from the slot table of a closed cache device.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_SAMPLE_CHOICE_H
#define HELPER_OPEN_SAMPLE_CHOICE_H

#include "block/device.h"
#include "ondisk/fingerprint_fs.h"
#include "ondisk/superblock.h"

/**
 * struct choice - a cached block
 * @block: number of the block on the origin
 * @slot: its slot
 * @valid: valid bits of the slot
 * @generation: of the slot
 */
struct choice {
	u64 block;
	u64 slot;
	u64 valid;
	u32 generation;
};

/**
 * struct choice_list - chosen blocks, each once
 * @choices: entries of @choice in use
 * @room: most entries
 * @choice: array of @room entries
 * @seen: number of blocks that were offered
 */
struct choice_list {
	u64 choices;
	u64 room;
	struct choice *choice;
	u64 seen;
};

/**
 * struct choices - the blocks to compare; a block may be in more than one list
 * @metadata: blocks that have metadata of file systems, by block number
 * @recent: the blocks that got their slots last, in no order
 * @random: random blocks, in random order
 * @last: number of the last commit of the slot table
 * @unsettled: only a part of the slot table was read after a crash: the rest may have a later slot of
 *	a block, see choices_check_latest()
 */
struct choices {
	struct choice_list metadata;
	struct choice_list recent;
	struct choice_list random;
	u64 last;
	bool unsettled;
};

int choices_make(struct choices *choices, const struct device *cache, const struct super *super,
		 const struct fsprint_result *content, u64 recent, u64 random, u64 pages);
int choices_check_latest(const struct device *cache, const struct super *super,
			 const struct choice *choice, bool *latest);
const struct choice *choices_find(const struct choices *choices, u64 block);
void choices_free(struct choices *choices);

#endif /* HELPER_OPEN_SAMPLE_CHOICE_H */
