// SPDX-License-Identifier: GPL-2.0-only
/* Gives up the log of a stage: the origin is used as it is, and may have an older state. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <uuid/uuid.h>

#include "block/device_sysfs.h"
#include "lib/error.h"
#include "open/stage_device.h"

/* Write a time of the kernel, nanoseconds since 1970, as local time; "" if there is none. */
const char *stage_time(u64 nanoseconds, char *text)
{
	time_t seconds = (time_t)(nanoseconds / 1000000000ULL);
	struct tm local;

	*text = '\0';
	if (nanoseconds && localtime_r(&seconds, &local))
		strftime(text, STAGE_TIME, "%Y-%m-%d %H:%M:%S %z", &local);
	return text;
}

/* Write which moment the origin shows, as far as the log can tell.  @text: STAGE_MOMENT bytes. */
const char *stage_moment(const struct stage *stage, bool found, char *text)
{
	const struct nearcache_stage_super *sb = &stage->sb;
	char time[STAGE_TIME];

	if (!found)
		snprintf(text, STAGE_MOMENT,
			 "a moment before its last writes; the log is lost, so this program does not know which");
	else if (stage_log_drained(sb))
		snprintf(text, STAGE_MOMENT, "all writes: nothing is lost");
	else if (!sb->drained_time)
		snprintf(text, STAGE_MOMENT, "the state before the first write to the stage");
	else
		snprintf(text, STAGE_MOMENT,
			 "the state of %s (flush %llu), or a few flushes later; what was written after that is lost",
			 stage_time(le64_to_cpu(sb->drained_time), time),
			 (unsigned long long)le64_to_cpu(sb->drained_epoch));
	return text;
}

static int find_log(struct stage *stage, const struct arguments *args,
		    const unsigned char *uuid, bool *found)
{
	struct stage_log log = { 0 };

	*found = false;
	if (!args->stage)
		return stage_find_given_up(uuid, &stage->log, &stage->sb, found);
	/* The log may be lost, whole or in part. */
	if (device_open(&stage->log, args->stage, "log device") ||
	    stage_log_read(&log, &stage->log) || stage_log_require(&log, &stage->log))
		fail_reset();
	else if (uuid_compare(log.best->uuid, uuid))
		fail(CODE_DEVICE, "log device '%s' carries another log, of '%s': leave out --stage",
		     stage->log.path, (const char *)log.best->label);
	else
		*found = true;
	if (*found)
		stage->sb = *log.best;
	stage_log_free(&log);
	return fail_code();
}

static int find_origin(struct stage *stage, const struct arguments *args, bool found)
{
	const char *id = (const char *)stage->sb.origin_id;
	dev_t number;

	if (args->origin)
		return device_open(&stage->origin, args->origin, "origin");
	if (found && *id && identity_find(id, stage->log.number, &number) == 1)
		return device_open_number(&stage->origin, number, "origin");
	return fail(CODE_USAGE,
		    "the log named the origin of the stage, and %s: name the origin with --origin DEV",
		    found ? "no device here is that origin" : "is lost");
}

/*
 * Find the origin, and the log @uuid if it is there (@found), for an open without the log.  Nothing
 * is written.  stage_close() is needed even after a failure.
 */
int stage_abandon_prepare(struct stage *stage, const struct arguments *args,
			  const unsigned char *uuid, bool *found)
{
	struct dm_device dev;
	bool running;

	stage_name(stage->cache, stage->name);
	if (stage_of_name(stage->cache, &dev, &running))
		return fail_code();
	dm_device_free(&dev);
	if (running)
		return fail(CODE_BUSY,
			    "the stage '%s' is in use, so its log is there: 'nearcache close %s' writes it to the origin",
			    stage->name, stage->cache);
	return find_log(stage, args, uuid, found) || find_origin(stage, args, *found) ?
	       fail_code() : 0;
}

/*
 * Wipe the log before the origin is used without it: a later drain would overwrite newer data.  A
 * log that cannot be wiped is no obstacle: no cache names it any more.
 */
void stage_abandon_log(struct stage *stage)
{
	if (!stage_format_wipe(stage))
		return;
	warn("%s; do not use that log again, it would overwrite newer data of the origin",
	     fail_message());
	fail_reset();
}
