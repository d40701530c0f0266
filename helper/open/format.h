/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Format a cache device as a new, empty cache of an origin.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_OPEN_FORMAT_H
#define HELPER_OPEN_FORMAT_H

#include "cli/options.h"
#include "block/device.h"
#include "meta/format.h"
#include "ondisk/layout.h"
#include "open/members.h"
#include "open/witness.h"

/**
 * struct formatting - a new cache
 * @args: the command line: block size, dataset version, --force, --dry-run
 * @label: name of the cache
 * @origin: open origin
 * @cache: cache device (the first of several): open, later claimed
 * @members: the other cache devices: open, later claimed
 * @witness: open witness, place checked; empty path: none
 * @replaced: uuid of the cache that is overwritten, zeros: none
 * @layout: of the cache devices
 * @sb: the superblock to write, for free(); NULL before formatting_prepare()
 */
struct formatting {
	const struct arguments *args;
	const char *label;
	const struct device *origin;
	struct device *cache;
	struct members *members;
	struct witness *witness;
	u8 replaced[16];
	struct layout layout;
	struct nearcache_super *sb;
};

int formatting_check_words(const struct arguments *args);
int formatting_claim(const struct formatting *new);
int formatting_prepare(struct formatting *new);
int formatting_write_areas(const struct formatting *new);
int formatting_claim_record(const struct formatting *new);
int formatting_write_super(const struct formatting *new);
void formatting_end_gaps(const struct formatting *new);
void formatting_undo(const struct formatting *new);

#endif /* HELPER_OPEN_FORMAT_H */
