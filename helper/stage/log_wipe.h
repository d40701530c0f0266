/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wipe the log of a stage: with its cache, or alone.
 * Functions that return int return 0, or an exit code recorded with fail().
 */
#ifndef HELPER_STAGE_LOG_WIPE_H
#define HELPER_STAGE_LOG_WIPE_H

#include <stdbool.h>
#include <uuid/uuid.h>

#include "block/dm.h"
#include "cli/options.h"
#include "meta/ondisk_check.h"
#include "open/stage_device.h"

/**
 * struct log_wipe - state while the log of a stage is wiped
 * @above: the cache, NULL: it is closed
 * @abandon: --abandon-stage
 * @staged: the cache has a stage
 * @log: uuid of the log
 * @stage: the log, if @log_found
 * @log_found: the log is there, and can be read
 * @below: the device of the stage, if @is_below
 * @is_below: the stage is running
 */
struct log_wipe {
	const struct dm_device *above;
	bool abandon;
	bool staged;
	uuid_t log;
	struct stage stage;
	bool log_found;
	struct dm_device below;
	bool is_below;
};

/*
 * Find the stage of a cache. @sb: superblock of the cache, NULL: damaged. Without @abandon, fails if the
 * log holds writes that the origin lacks. In a dry run, a running stage commits nothing.
 */
int log_wipe_check(struct log_wipe *wipe, const struct nearcache_super *sb, bool dry_run);

/*
 * The steps, in this order. Give the log up before the cache is closed: requests to the log may hang.
 * Remove the stage after the cache, and before its log is wiped.
 */
int log_wipe_give_up(struct log_wipe *wipe);
int log_wipe_stop_stage(struct log_wipe *wipe);
int log_wipe(struct log_wipe *wipe);
void log_wipe_close(struct log_wipe *wipe);

/*
 * Wipe the log on --stage DEV alone: its cache is lost, or was opened without the log. A cache that
 * still names the log then opens with --abandon-stage only.
 */
int log_wipe_alone(const struct arguments *args);

#endif /* HELPER_STAGE_LOG_WIPE_H */
