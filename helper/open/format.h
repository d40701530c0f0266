/* SPDX-License-Identifier: GPL-2.0-only */
/* A cache device that becomes a new, empty cache of an origin. */
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
 * @label: what the cache is called
 * @origin: open origin
 * @cache: open, later claimed cache device, the first of several
 * @members: open, later claimed: the others
 * @witness: open witness, its place checked; without a path: none
 * @replaced: uuid of the cache that is overwritten, zeros: of none
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
