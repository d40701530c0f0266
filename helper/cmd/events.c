// SPDX-License-Identifier: GPL-2.0-only
/* nearcache events: list what happened to devices, one line each. */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "block/device_sysfs.h"
#include "block/dm.h"
#include "block/kmsg.h"
#include "block/status_line.h"
#include "block/uevent.h"
#include "cmd/commands.h"
#include "lib/error.h"
#include "lib/name.h"
#include "lib/print.h"
#include "lib/sanitize.h"
#include "nearcache.h"
#include "netlink/event_listener.h"

#define SECOND		1000000000ULL
/* The kernel module's lines in the kernel log. */
#define OUR_LINES	"device-mapper: nearcache"

/* A device that was open when the program looked last. */
struct known_device {
	dev_t number;
	char name[128];
};

/* @shown: number of new events that were printed. */
struct listening {
	const struct arguments *args;
	struct known_device *known;
	size_t count;
	unsigned int shown;
};

static bool more_wanted(const struct listening *listening)
{
	return !fail_code() && (!listening->args->count || listening->shown < listening->args->count);
}

static bool is_wanted(const struct arguments *args, const char *name)
{
	int i;

	for (i = 0; i < args->operands; i++)
		if (!strcmp(name_of_operand(args->operand[i]), name))
			return true;
	return !args->operands;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static void put_line(uint64_t time, const char *name, const char *event, const char *text)
{
	time_t seconds = (time_t)(time / SECOND);
	char when[32] = "", line[1024];
	struct tm local;

	if (localtime_r(&seconds, &local))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &local);
	snprintf(line, sizeof(line), "%s  %s  %s%s%s", when, *name ? name : "-", event,
		 *text ? ": " : "", text);
	puts(text_clean(line));
}

/* @source: which interface of the kernel the event comes from. @time: wall clock, nanoseconds. */
static void print_event(uint64_t time, const char *source, const char *name, const char *event,
			const char *text)
{
	if (!print_is_json())
		put_line(time, name, event, text);
	print_number("time_ns", NULL, time);
	print_string("source", NULL, source);
	print_string("name", NULL, *name ? name : NULL);
	print_string("event", NULL, event);
	print_reason("text", NULL, text);
	print_next();
}

static bool is_ours(const char *uuid)
{
	return !strncmp(uuid, DM_UUID_PREFIX, strlen(DM_UUID_PREFIX)) || dm_uuid_is_stage(uuid);
}

/* Reads the name of a device of this project. Returns false for another device. */
static bool read_name(dev_t number, char *name, size_t size)
{
	char uuid[130];

	return identity_attribute(number, "dm/uuid", uuid, sizeof(uuid)) && is_ours(uuid) &&
	       identity_attribute(number, "dm/name", name, size);
}

/* The last line in the kernel log that a device with this number writes when it is opened. */
struct opening {
	dev_t number;
	uint64_t microseconds;
};

struct past {
	const struct arguments *args;
	struct opening *opening;
	size_t count;
};

/* Finds "253:0: text" in a line of the kernel log. Returns the text, or NULL. */
static const char *numbered_text(const char *line, dev_t *number)
{
	unsigned int major_number, minor_number;
	const char *text = strstr(line + strlen(OUR_LINES), ": ");
	int length = 0;

	if (!text || sscanf(text + 2, "%u:%u: %n", &major_number, &minor_number, &length) < 2 || !length)
		return NULL;
	*number = makedev(major_number, minor_number);
	return text + 2 + length;
}

static struct opening *find_opening(const struct past *past, dev_t number)
{
	size_t i;

	for (i = 0; i < past->count; i++)
		if (past->opening[i].number == number)
			return &past->opening[i];
	return NULL;
}

/* A cache logs how many blocks are warm when it is opened, and a stage its epochs. */
static void take_opening(const char *line, uint64_t microseconds, void *arg)
{
	struct past *past = arg;
	struct opening *opening;
	const char *text;
	dev_t number;

	text = numbered_text(line, &number);
	if (!text || (!strstr(text, " blocks warm") && !strstr(text, ": epoch ")))
		return;
	opening = find_opening(past, number);
	if (!opening) {
		opening = reallocarray(past->opening, past->count + 1, sizeof(*opening));
		if (!opening) {
			fail_memory();
			return;
		}
		past->opening = opening;
		opening += past->count++;
		opening->number = number;
	}
	opening->microseconds = microseconds;
}

/*
 * Replaces the number of a device in a line by its @name, or sets @name to "": device-mapper uses numbers
 * again, so a line before the last opening may be about another device.
 */
static const char *split_line(const struct past *past, const char *line, uint64_t microseconds,
			      char *name, size_t size)
{
	const char *text = strstr(line + strlen(OUR_LINES), ": "), *rest;
	const struct opening *opening;
	dev_t number;

	*name = '\0';
	text = text ? text + 2 : line;
	rest = numbered_text(line, &number);
	if (!rest)
		return text;
	opening = find_opening(past, number);
	if (opening && microseconds < opening->microseconds)
		return text;
	return read_name(number, name, size) ? rest : text;
}

static void print_past(const char *line, uint64_t microseconds, void *arg)
{
	uint64_t boot = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
	const struct past *past = arg;
	char name[128];
	const char *text = split_line(past, line, microseconds, name, sizeof(name));

	if (is_wanted(past->args, name))
		print_event(boot + microseconds * 1000, "kernel log", name, "log", text);
}

static void print_log(const struct arguments *args)
{
	struct past past = { .args = args };

	kmsg_each(OUR_LINES, take_opening, &past);
	if (!fail_code())
		kmsg_each(OUR_LINES, print_past, &past);
	free(past.opening);
}

struct event_words {
	const char *word;
	const char *text;
};

static const struct event_words *words_of(unsigned int event)
{
	static const struct event_words words[] = {
		[NEARCACHE_EVENT_STATE] = { "state", "" },
		[NEARCACHE_EVENT_ORIGIN_LOST] = { "origin-lost", "the origin fails, and reads wait for it" },
		[NEARCACHE_EVENT_ORIGIN_BACK] = { "origin-back", "the origin answers again" },
		[NEARCACHE_EVENT_DAMAGE] = { "damage", "damaged cached data was found and dropped" },
		[NEARCACHE_EVENT_SCRUB_OVER] = { "scrub-over", "the scrub has ended" },
		[NEARCACHE_EVENT_RANGES] = { "ranges", "pins or other ranges changed" },
		[NEARCACHE_EVENT_JOB_OVER] = { "job-over", "a prefetch job has ended" },
		[NEARCACHE_EVENT_STAGE_ORIGIN_LOST] = { "stage-origin-lost", "the origin fails; the drain tries again" },
		[NEARCACHE_EVENT_STAGE_ORIGIN_BACK] = { "stage-origin-back", "the origin works again" },
		[NEARCACHE_EVENT_STAGE_LOG_FAILED] = { "stage-log-failed", "the log failed, and writes fail" },
		[NEARCACHE_EVENT_STAGE_FULL] = { "stage-full", "writes wait for room in the log, or go to the origin" },
		[NEARCACHE_EVENT_STAGE_ROOM] = { "stage-room", "writes go to the log, and none waits" },
		[NEARCACHE_EVENT_STAGE_READ_ONLY] = { "stage-read-only", "the origin has failed for long, and writes fail" },
		[NEARCACHE_EVENT_STAGE_WRITABLE] = { "stage-writable", "writes are accepted again" },
	};
	static const struct event_words unknown = { "unknown", "the kernel module is newer than this command" };

	return event < sizeof(words) / sizeof(words[0]) && words[event].word ? &words[event] : &unknown;
}

/* Writes the state of the cache device, its reason, and the next step. */
static void describe_new_state(const struct nl_event *event, char *text, size_t size)
{
	struct status status = { 0 };
	const char *why;

	memcpy(status.field, event->field, sizeof(status.field));
	why = status_explain(&status);
	snprintf(text, size, "%s%s%s", status_word(NEARCACHE_FIELD_STATE, event->field[NEARCACHE_FIELD_STATE]),
		 why ? ", " : "", why ? why : "");
	if (event->field[NEARCACHE_FIELD_STATE] == NEARCACHE_BYPASS)
		snprintf(text + strlen(text), size - strlen(text),
			 "; 'nearcache attach %s' takes it back when it works again", event->name);
}

static void print_netlink(const struct nl_event *event, void *arg)
{
	const struct event_words *words = words_of(event->event);
	struct listening *listening = arg;
	char text[512];

	if (!is_wanted(listening->args, event->name) || !more_wanted(listening))
		return;
	snprintf(text, sizeof(text), "%s", words->text);
	if (event->event == NEARCACHE_EVENT_STATE && event->has_status)
		describe_new_state(event, text, sizeof(text));
	print_event(clock_ns(CLOCK_REALTIME), "nearcache", event->name, words->word, text);
	listening->shown++;
}

static struct known_device *find_known(struct listening *listening, dev_t number)
{
	size_t i;

	for (i = 0; i < listening->count; i++)
		if (listening->known[i].number == number)
			return &listening->known[i];
	return NULL;
}

static struct known_device *add_known(struct listening *listening, dev_t number, const char *name)
{
	struct known_device *longer = reallocarray(listening->known, listening->count + 1,
						   sizeof(*longer));

	if (!longer) {
		fail_memory();
		return NULL;
	}
	listening->known = longer;
	longer += listening->count++;
	longer->number = number;
	snprintf(longer->name, sizeof(longer->name), "%s", name);
	return longer;
}

static void print_dm(struct listening *listening, const char *name, const char *event,
		     const char *text)
{
	if (!is_wanted(listening->args, name))
		return;
	print_event(clock_ns(CLOCK_REALTIME), "device-mapper", name, event, text);
	listening->shown++;
}

/* After a "change" a device has a table, and runs. A removed device is gone from sysfs. */
static void take_uevent(struct listening *listening, const struct uevent *uevent)
{
	struct known_device *known = find_known(listening, uevent->number);
	char name[128];

	if (!strcmp(uevent->action, "remove") && known) {
		print_dm(listening, known->name, "closed", "");
		*known = listening->known[--listening->count];
	} else if (!strcmp(uevent->action, "change") &&
		   read_name(uevent->number, name, sizeof(name))) {
		print_dm(listening, name, known ? "resumed" : "opened",
			 known ? "it runs, perhaps with another table" : "");
		if (known)
			snprintf(known->name, sizeof(known->name), "%s", name);
		else
			add_known(listening, uevent->number, name);
	}
}

/* Remember the devices that are open now. */
static void take_open(struct listening *listening)
{
	DIR *dir = opendir("/sys/class/block");
	struct dirent *entry;
	char path[320], name[128];

	while (dir && (entry = readdir(dir))) {
		unsigned int major_number, minor_number;
		FILE *file;

		snprintf(path, sizeof(path), "/sys/class/block/%s/dev", entry->d_name);
		file = strncmp(entry->d_name, "dm-", 3) ? NULL : fopen(path, "re");
		if (!file)
			continue;
		if (fscanf(file, "%u:%u", &major_number, &minor_number) == 2 &&
		    read_name(makedev(major_number, minor_number), name, sizeof(name)))
			add_known(listening, makedev(major_number, minor_number), name);
		fclose(file);
	}
	if (dir)
		closedir(dir);
}

/* Tells that events were lost. @source: the interface of the kernel that dropped them. */
static void print_lost(const char *source)
{
	print_event(clock_ns(CLOCK_REALTIME), source, "", "lost",
		    "events were lost: 'nearcache status' shows the present state");
}

static void read_uevents(struct listening *listening, int fd)
{
	struct uevent uevent;
	bool lost = false;

	while (more_wanted(listening) && uevents_read(fd, &uevent, &lost))
		take_uevent(listening, &uevent);
	if (!lost)
		return;
	print_lost("device-mapper");
	/* Devices may have come and gone. */
	listening->count = 0;
	take_open(listening);
}

static void read_netlink(struct listening *listening)
{
	bool lost;

	if (!nl_events_read(print_netlink, listening, &lost) && lost)
		print_lost("nearcache");
}

static int listen_on(struct listening *listening, struct pollfd *sockets)
{
	while (more_wanted(listening)) {
		if (poll(sockets, 2, -1) < 0)
			return fail_errno(errno, "cannot wait for events");
		if (sockets[1].revents)
			read_uevents(listening, sockets[1].fd);
		if (sockets[0].revents && more_wanted(listening))
			read_netlink(listening);
	}
	return fail_code();
}

static int cmd_events(const struct arguments *args)
{
	struct pollfd sockets[2] = { { .events = POLLIN }, { .events = POLLIN } };
	struct listening listening = { .args = args };
	bool follow = option_given(args, OPTION_FOLLOW);

	if (!follow && option_given(args, OPTION_COUNT))
		return fail(CODE_USAGE, "--count is the number of new events: add --follow");
	print_lines();
	/* Listen first: nothing that happens meanwhile is lost. */
	if (follow && (nl_events_open(&sockets[0].fd) || uevents_open(&sockets[1].fd)))
		return fail_code();
	take_open(&listening);
	print_log(args);
	/* New events need no kernel log. */
	if (follow && fail_code() == CODE_PERMISSION) {
		warn("earlier events are not shown: %s", fail_message());
		fail_reset();
	}
	if (follow && !fail_code())
		listen_on(&listening, sockets);
	free(listening.known);
	return fail_code();
}

const struct verb events_verb = {
	.name = "events",
	.group = VERBS_OBSERVE,
	.operands = "[NAME...]",
	.operands_max = -1,
	.optional = OPTION_FOLLOW | OPTION_COUNT,
	.summary = "list what happened to devices, and follow it with -f",
	.details =
"Each event is a line: time, device, event, explanation. Earlier events are lines of the\n"
"kernel log, which may need root privileges. New ones, with -f, come from the kernel module\n"
"(state, origin-lost, origin-back, damage, scrub-over, ranges, job-over, and stage-...) and\n"
"from device-mapper (opened, resumed, closed). With NAME, only events of these devices are\n"
"shown. --count ends the command after N new events. In JSON each event is an object on one\n"
"line.\n",
	.run = cmd_events,
};
