// SPDX-License-Identifier: GPL-2.0-only
#include "stage/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "block/device.h"
#include "lib/error.h"
#include "lib/print.h"
#include "lib/size.h"
#include "open/stage_device.h"
#include "stage/reconnect.h"

#define SECOND		1000000000ULL
/* Time over which the rate of the drain is measured. */
#define SAMPLE_US	(500 * 1000)

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

/* How old the oldest write is that the origin lacks; 0: there is none. */
uint64_t stage_seconds_behind(const struct stage_status *status)
{
	uint64_t now = clock_ns(CLOCK_REALTIME);

	if (!status->behind_bytes || !status->behind_since || now < status->behind_since)
		return 0;
	return (now - status->behind_since) / SECOND;
}

/* Write which moment the origin shows.  @text: STAGE_MOMENT bytes. */
const char *stage_shows(const struct stage_status *status, char *text)
{
	char time[STAGE_TIME];

	if (!status->behind_bytes)
		snprintf(text, STAGE_MOMENT, "all writes");
	else if (!status->drained_time)
		snprintf(text, STAGE_MOMENT, "the state before the first write");
	else
		snprintf(text, STAGE_MOMENT, "the flush of %s, or a later one",
			 stage_time(status->drained_time, time));
	return text;
}

/* Why the origin fails; NULL if it does not. */
const char *stage_origin_error(const struct stage_status *status)
{
	if (!status->origin_error)
		return NULL;
	if (status->origin_error == ETIMEDOUT)
		return "it does not answer";
	if (status->origin_error == ESTALE)
		return "another host has written to it, so nothing is drained: 'nearcache close NAME --keep', then 'nearcache open NAME --abandon-stage' gives up the log";
	return status->origin_error == EBADE ?
	       "another node has reserved it: 'nearcache close NAME --keep', then 'nearcache open NAME --preempt' takes it back, or --abandon-stage gives up the log" :
	       strerror((int)status->origin_error);
}

/* Bytes per second that the drain writes now. */
static uint64_t measure_rate(const struct dm_device *dev, const struct stage_status *first)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), rate = 0, elapsed;
	struct stage_status second;
	struct dm_device now;
	bool found;

	usleep(SAMPLE_US);
	if (dm_find(dev->name, &now, &found)) {
		fail_reset();
		return 0;
	}
	elapsed = clock_ns(CLOCK_MONOTONIC) - start;
	if (found && now.status && stage_status_parse(now.status, &second) &&
	    second.drained_bytes >= first->drained_bytes)
		rate = (uint64_t)((double)(second.drained_bytes - first->drained_bytes) * SECOND /
				  (double)elapsed);
	dm_device_free(&now);
	return rate;
}

static void print_drain(const struct dm_device *dev, const struct stage_status *status)
{
	uint64_t rate = status->behind_bytes ? measure_rate(dev, status) : 0;
	uint64_t left = rate ? (status->behind_bytes + rate - 1) / rate : 0;

	print_bytes("drain_rate", rate ? "written per second" : NULL, rate);
	print_seconds("seconds_to_durable", left ? "on the origin in" : NULL, left);
	if (status->behind_bytes && !rate)
		print_string(NULL, "on the origin in", "unknown: the drain writes nothing now");
}

static void print_limits(const struct stage_params *params)
{
	const struct stage_limit *limit = &params->max_behind;

	print_bytes("rate", params->rate ? "limit of the rate" : NULL, params->rate);
	print_bytes("max_behind_bytes", limit->bytes ? "writes wait beyond" : NULL, limit->bytes);
	print_seconds("max_behind_seconds", limit->seconds ? "writes wait beyond" : NULL,
		      limit->seconds);
	print_string("on_full", params->on_full ? "if the log is full" : NULL,
		     stage_on_full_word(params->on_full));
	print_seconds("origin_timeout_s", params->origin_timeout ? "origin timeout" : NULL,
		      params->origin_timeout);
}

/* Print how long the origin has failed, and the next step if it is gone. */
static void print_origin_state(const struct dm_device *dev, const struct stage_status *status)
{
	bool gone = stage_origin_gone(dev);

	print_flag("origin_gone", gone ? "origin gone" : NULL, gone);
	if (gone)
		print_string(NULL, "next step",
			     "connect the origin, then 'nearcache attach' gives it to the stage");
	print_seconds("origin_failing_seconds", status->failing_ns ? "origin fails for" : NULL,
		      status->failing_ns / SECOND);
}

static void print_behind(const struct stage_status *status)
{
	bool behind = status->behind_bytes;
	char text[STAGE_MOMENT];

	print_bytes("behind_bytes", "not yet on the origin", status->behind_bytes);
	print_number("behind_epochs", behind ? "flushes behind" : NULL,
		     stage_epochs_behind(status));
	print_seconds("behind_seconds", behind ? "oldest write" : NULL,
		      stage_seconds_behind(status));
	print_string(NULL, "origin shows", stage_shows(status, text));
	print_number("drained_time_ns", NULL, status->drained_time);
	print_number("drained_epoch", NULL, status->drained_epoch);
	print_number("committed_epoch", NULL, status->committed_epoch);
}

/* Print a stage as fields of the current record. */
int stage_report(const struct dm_device *dev)
{
	struct stage_params params;
	struct stage_status status;
	char path[PATH_MAX];

	if (stage_need_status(dev, &status))
		return fail_code();
	if (!dev->table || !stage_params_parse(dev->table, &params))
		return fail(CODE_DEVICE,
			    "the table of '%s' cannot be parsed ('%s'): the kernel module is newer than this command",
			    dev->name, dev->table ? dev->table : "");
	print_string("name", NULL, dev->name);
	print_string("device", "device", device_path_of(dev->number, path));
	print_string("state", "state", stage_state_word(status.state));
	print_string("origin_error", status.origin_error ? "the origin fails" : NULL,
		     stage_origin_error(&status));
	print_string("log", "log device", device_path_of(params.log, path));
	print_string("origin", "origin", device_path_of(params.origin, path));
	print_origin_state(dev, &status);
	print_string("writes_go_to", status.mode ? "writes go to" : NULL,
		     stage_mode_word(status.mode));
	print_flag("suspended", dev->suspended ? "suspended" : NULL, dev->suspended);
	print_behind(&status);
	print_drain(dev, &status);
	print_bytes("log_bytes", "size of the log", status.ring_bytes);
	print_bytes("retained_bytes", "retained", status.retained_bytes);
	print_limits(&params);
	print_number("waiting", status.waiting ? "writes that wait" : NULL, status.waiting);
	print_bytes("written_bytes", "written", status.written_bytes);
	print_bytes("drained_bytes", "written to the origin", status.drained_bytes);
	print_bytes("passed_bytes", status.passed_bytes ? "passed to the origin" : NULL,
		    status.passed_bytes);
	print_bytes("log_read_bytes", "read from the log", status.log_read_bytes);
	print_number("commits", NULL, status.commits);
	print_number("retries", status.retries ? "repeated drains" : NULL, status.retries);
	return 0;
}

/* Find the stage below a cache, and its status.  dm_device_free() is needed if there is one. */
static bool find_below(const struct dm_device *cache, struct dm_device *dev,
		       struct stage_status *status)
{
	bool found;

	if (stage_below(cache, dev, &found) || !found || stage_need_status(dev, status)) {
		fail_reset();
		if (found)
			dm_device_free(dev);
		return false;
	}
	return true;
}

/* Print the stage below a cache, in the record of the cache; only a null in JSON if there is none. */
void stage_report_brief(const struct dm_device *cache)
{
	struct stage_status status;
	struct dm_device dev;
	char text[STAGE_MOMENT];

	if (!find_below(cache, &dev, &status)) {
		print_string("stage", NULL, NULL);
		return;
	}
	print_string("stage", "stage", dev.name);
	print_string("stage_state", status.state ? "stage state" : NULL,
		     stage_state_word(status.state));
	print_bytes("behind_bytes", "not yet on the origin", status.behind_bytes);
	print_seconds("behind_seconds", status.behind_bytes ? "oldest write" : NULL,
		      stage_seconds_behind(&status));
	print_string(NULL, status.behind_bytes ? "origin shows" : NULL, stage_shows(&status, text));
	dm_device_free(&dev);
}

/* The same for a line of a list, in JSON only: most caches have no stage. */
void stage_report_list(const struct dm_device *cache)
{
	struct stage_status status;
	struct dm_device dev;
	bool found = find_below(cache, &dev, &status);

	print_string("stage", NULL, found ? dev.name : NULL);
	print_bytes("behind_bytes", NULL, found ? status.behind_bytes : 0);
	if (found)
		dm_device_free(&dev);
}
