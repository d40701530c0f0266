/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Format cache devices as a new, empty cache of an origin. The functions are listed in the order of
 * their calls; formatting_undo() reverts them after a failure.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_FORMAT_H
#define HELPER_OPEN_FORMAT_H

#include "cli/options.h"
#include "block/device.h"
#include "meta/ondisk_check.h"
#include "ondisk/fingerprint_fs.h"
#include "ondisk/layout.h"
#include "open/members.h"
#include "open/witness.h"

/**
 * struct formatting - a new cache
 * @args: the command line: block size, dataset version, --force, --dry-run
 * @label: name of the cache
 * @origin: open origin
 * @cache: first or only cache device, open; formatting_claim() claims it
 * @members: the other cache devices, open; formatting_claim() claims them
 * @witness: open witness that passed witness_check_place(); empty path: none
 * @replaced: uuid of the cache that is overwritten, zeros: none
 * @layout: where blocks and metadata lie on the cache devices
 * @content: the file systems on the origin, set by formatting_prepare()
 * @sb: the superblock to write, NULL before formatting_prepare(); the caller frees it
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
	struct fsprint_result content;
	struct nearcache_super *sb;
};

int formatting_check_words(const struct arguments *args);
int formatting_claim(const struct formatting *new);
int formatting_check_content(const struct device *cache, const char *advice);
int formatting_prepare(struct formatting *new);
int formatting_write_areas(const struct formatting *new);
int formatting_claim_record(const struct formatting *new);
int formatting_write_super(const struct formatting *new);
void formatting_end_gaps(const struct formatting *new);
void formatting_undo(const struct formatting *new);

#endif /* HELPER_OPEN_FORMAT_H */
