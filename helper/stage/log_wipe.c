// SPDX-License-Identifier: GPL-2.0-only
/* Wipe the log of a stage, with its cache or alone. */
#include "stage/log_wipe.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "block/device.h"
#include "block/dm_remove.h"
#include "block/stage_params.h"
#include "lib/error.h"
#include "lib/print.h"
#include "lib/size.h"
#include "open/find_cache_devices.h"
#include "open/given_up_log.h"
#include "stage/drain.h"
#include "stage/give_up.h"

/* Refuse to lose writes that are only in the log, unless --abandon-stage is given. */
static int refuse_undrained(const struct log_wipe *wipe, const char *name, const char *what)
{
	if (wipe->abandon)
		return 0;
	return fail(CODE_BUSY,
		    "%s: 'nearcache close %s' writes it to the origin, --abandon-stage loses it",
		    what, name);
}

/* The stage runs: fail if its log holds writes that the origin lacks. */
static int check_running_stage(const struct log_wipe *wipe, bool commit)
{
	char what[128], size[SIZE_TEXT];
	struct stage_status status;
	struct dm_device now;
	uint64_t epoch;
	bool found;

	/* The log may hang. */
	if (wipe->abandon)
		return 0;
	/* Commit first: the status then counts all writes that the origin lacks. */
	if ((commit && stage_commit(&wipe->below, &epoch)) ||
	    dm_find(wipe->below.name, &now, &found))
		return fail_code();
	if (found && !stage_need_status(&now, &status) && !stage_all_drained(&status)) {
		snprintf(what, sizeof(what), "%s in the log are not on the origin yet",
			 size_print(status.behind_bytes, size));
		refuse_undrained(wipe, wipe->above->name, what);
	}
	dm_device_free(&now);
	return fail_code();
}

/* The cache is closed: read in the log whether the origin lacks writes.  @label: name of the cache. */
static int check_closed_stage(struct log_wipe *wipe, const char *label)
{
	struct stage *stage = &wipe->stage;
	struct dm_device dev;
	bool running;

	if (stage_of_name(label, &dev, &running))
		return fail_code();
	dm_device_free(&dev);
	if (running)
		return fail(CODE_BUSY, "the stage '%s' is in use: 'nearcache close %s' first",
			    dev.name, label);
	if ((wipe->abandon ? stage_find_given_up : stage_find_log)
	    (wipe->log, &stage->log, &stage->sb, &wipe->log_found))
		return fail_code();
	if (!wipe->log_found && !wipe->abandon)
		return fail(CODE_BUSY,
			    "the cache has a stage whose log is not here, and may hold writes that the origin lacks: connect the drive of the log; if the log is lost, or an interrupted 'destroy' has wiped it, give --abandon-stage");
	if (!wipe->log_found)
		return 0;
	return stage_log_drained(&stage->sb) ? 0 :
	       refuse_undrained(wipe, label,
				"the log of the stage holds writes that the origin lacks; after 'nearcache open'");
}

/* Open the log of the running stage, to wipe it later.  It may hang. */
static int open_running_log(struct log_wipe *wipe)
{
	struct stage *stage = &wipe->stage;
	struct stage_params params;
	char path[PATH_MAX];

	if (uuid_parse(wipe->below.uuid + strlen(DM_STAGE_PREFIX), wipe->log) ||
	    !wipe->below.table || !stage_params_parse(wipe->below.table, &params))
		return 0;
	if (resolve_log(device_path_of(params.log, path), &stage->sb) ||
	    device_open_number(&stage->log, params.log, "log device")) {
		warn("the log of the stage cannot be read, and is not wiped: %s", fail_message());
		fail_reset();
		return 0;
	}
	wipe->log_found = !uuid_compare(stage->sb.uuid, wipe->log);
	/* To release the reservation; the origin may be gone. */
	if (wipe->log_found && device_open_number(&stage->origin, params.origin, "origin"))
		fail_reset();
	return 0;
}

int log_wipe_check(struct log_wipe *wipe, const struct nearcache_super *sb, bool dry_run)
{
	wipe->staged = sb && stage_id_parse((const char *)sb->origin_id, wipe->log);
	if (wipe->above && stage_below(wipe->above, &wipe->below, &wipe->is_below))
		return fail_code();
	if (wipe->is_below)
		return check_running_stage(wipe, !dry_run) ? fail_code() :
		       open_running_log(wipe);
	if (wipe->staged)
		return check_closed_stage(wipe, (const char *)sb->label);
	return wipe->abandon ?
	       fail(CODE_USAGE, "the cache has no stage: leave out --abandon-stage") : 0;
}

int log_wipe_give_up(struct log_wipe *wipe)
{
	if (!wipe->abandon || !wipe->is_below || stage_give_up(&wipe->below))
		return fail_code();
	if (stop_check(wipe->above) || stage_wait_log(&wipe->below))
		return fail_add("the log is given up, so requests that need it fail from now on: stop the users of '%s', then repeat this command",
				wipe->above->name);
	return 0;
}

int log_wipe_stop_stage(struct log_wipe *wipe)
{
	/* Another program may have written since the first check. */
	if (!wipe->is_below)
		return 0;
	if (check_running_stage(wipe, true) || stage_remove(&wipe->below, !wipe->abandon, false))
		return fail_add("the cache is closed, and nothing is wiped");
	return 0;
}

/* A log that was given up may be on a failing drive: only warn. */
int log_wipe(struct log_wipe *wipe)
{
	if (wipe->abandon) {
		wipe->log_found = stage_abandon_log(&wipe->stage, wipe->log, wipe->log_found);
		return 0;
	}
	if (!wipe->log_found || !stage_format_wipe(&wipe->stage))
		return 0;
	return fail_add("the cache is not wiped");
}

void log_wipe_close(struct log_wipe *wipe)
{
	stage_close(&wipe->stage);
	dm_device_free(&wipe->below);
}

static int check_log(const struct device *dev, const struct stage_log *log, bool abandon)
{
	if (abandon || stage_log_drained(log->best))
		return 0;
	return fail(CODE_BUSY,
		    "the log '%s' of '%s' holds writes that its origin lacks: 'nearcache open' and 'nearcache close' write them there, --abandon-stage loses them",
		    dev->path, (const char *)log->best->label);
}

/* The claim of the device fails while a stage uses the log. */
int log_wipe_alone(const struct arguments *args)
{
	bool dry_run = option_given(args, OPTION_DRY_RUN);
	struct device dev = DEVICE_CLOSED, closed = DEVICE_CLOSED;
	struct stage_log log = { 0 };
	bool busy = false;

	if (!device_open(&dev, args->stage, "log device") &&
	    !(dry_run ? device_test_claim(&dev, &busy) : device_claim(&dev))) {
		if (busy)
			fail(CODE_BUSY, "log device '%s' is in use", dev.path);
		else if (!stage_log_read(&log, &dev) && !stage_log_require(&log, &dev) &&
			 !check_log(&dev, &log, option_given(args, OPTION_ABANDON_STAGE)) &&
			 !dry_run) {
			stage_unreserve(log.best, &closed);
			if (!stage_log_wipe(&dev))
				given_up_forget(log.best->uuid);
		}
	}
	if (!fail_code()) {
		print_string("log", dry_run ? "would wipe" : NULL, dev.path);
		print_string("label", "log of", (const char *)log.best->label);
		print_flag("destroyed", NULL, !dry_run);
		print_flag("dry_run", NULL, dry_run);
	}
	stage_log_free(&log);
	device_close(&dev);
	return fail_code();
}
