// SPDX-License-Identifier: GPL-2.0-only
/* Gives up the log of a stage: the origin is used as it is, and may have an older state. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include "block/device_sysfs.h"
#include "block/lock.h"
#include "lib/error.h"
#include "lib/wait_data.h"
#include "open/find_cache_devices.h"
#include "open/given_up_log.h"
#include "open/stage_device.h"

/* Seconds that a log which is given up may take to be wiped. */
#define WIPE_SECONDS	10
/* Bytes of an error message of the process that wipes it. */
#define WIPE_MESSAGE	512

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
	*found = false;
	if (!args->stage)
		return stage_find_given_up(uuid, &stage->log, &stage->sb, found);
	/* The log may be lost, whole or in part. */
	if (resolve_log(args->stage, &stage->sb) ||
	    device_open(&stage->log, args->stage, "log device"))
		fail_reset();
	else if (uuid_compare(stage->sb.uuid, uuid))
		fail(CODE_DEVICE, "log device '%s' carries another log, of '%s': leave out --stage",
		     stage->log.path, (const char *)stage->sb.label);
	else
		*found = true;
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

/* Runs in a child process, which may hang, and sends an error message to its parent. */
static void wipe_in_child(struct stage *stage, int pipe)
{
	char message[WIPE_MESSAGE] = "";

	lock_leave_to_parent();
	/* A reader of the parent's pipes waits for the end of file. */
	if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr) ||
	    stage_format_wipe(stage))
		snprintf(message, sizeof(message), "%s",
			 fail_code() ? fail_message() : "no /dev/null");
	_exit(write(pipe, message, sizeof(message)) < 0);
}

static int await_wipe(const struct stage *stage, int pipe)
{
	char message[WIPE_MESSAGE];

	if (!wait_data(pipe, WIPE_SECONDS * 1000))
		return fail(CODE_DEVICE, "log device '%s' does not answer within %d seconds",
			    stage->log.path, WIPE_SECONDS);
	/* One write of this size to a pipe is one piece. */
	if (read_again(pipe, message, sizeof(message)) != sizeof(message))
		return fail(CODE_DEVICE, "cannot wipe log device '%s': the process that wipes it has ended",
			    stage->log.path);
	return *message ? fail(CODE_DEVICE, "%s", message) : 0;
}

/* Wipe the log in a child process, with a time limit: a drive that dies may not answer. */
static int wipe_log(struct stage *stage)
{
	int pipes[2];
	pid_t child;

	/* The origin is released here, where a warning is seen. */
	stage_unreserve(&stage->sb, &stage->origin);
	if (pipe2(pipes, O_CLOEXEC))
		return fail_errno(errno, "cannot wipe log device '%s'", stage->log.path);
	child = fork();
	if (!child) {
		device_close(&stage->origin);
		wipe_in_child(stage, pipes[1]);
	}
	close(pipes[1]);
	if (child < 0)
		fail_errno(errno, "cannot wipe log device '%s'", stage->log.path);
	else
		await_wipe(stage, pipes[0]);
	close(pipes[0]);
	if (child > 0) {
		/* Do not wait for a child that hangs: it ends only when its request completes. */
		kill(child, SIGKILL);
		waitpid(child, NULL, fail_code() ? WNOHANG : 0);
	}
	device_close(&stage->log);
	return fail_code();
}

/*
 * Give up the log @uuid before the origin is used without it: a later drain would overwrite newer
 * data.  It is wiped if it is there (@found).  The record comes first, and stays if the log is not
 * wiped: no stage is opened with this log then.  Returns whether the log is wiped.
 */
bool stage_abandon_log(struct stage *stage, const unsigned char *uuid, bool found)
{
	char why[1024];

	given_up_record(uuid);
	snprintf(why, sizeof(why), "%s", fail_message());
	fail_reset();
	if (found && !wipe_log(stage)) {
		given_up_forget(uuid);
		return true;
	}
	if (found)
		warn("%s; the log is given up and not wiped", fail_message());
	fail_reset();
	if (*why)
		warn("%s; do not use the log again that is given up: it would overwrite newer data of the origin",
		     why);
	return false;
}
