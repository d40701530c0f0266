// SPDX-License-Identifier: GPL-2.0-only
/* Sample all devices in a loop, look at clusters meanwhile, and serve metrics. */
#include "daemon/daemon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <systemd/sd-daemon.h>

#include "block/signals.h"
#include "daemon/change_setting.h"
#include "daemon/watched.h"
#include "lib/atomic_file.h"
#include "lib/enum_words.h"
#include "lib/error.h"
#include "lib/sanitize.h"
#include "lib/periodic_wait.h"
#include "lib/process.h"
#include "lib/size.h"
#include "metrics/metrics_text.h"

#define SECOND		1000000000ULL
/*
 * Maximum seconds between two watchdog messages to systemd, below half of WatchdogSec, and between
 * two looks at clusters.
 */
#define ALIVE		5U
/* At most this number of changes of a stream's class are logged per sample. */
#define TOLD_MOST	20U

static const char *name_of(const struct daemon *daemon, uint32_t dev)
{
	size_t i;

	for (i = 0; i < daemon->count; i++)
		if (daemon->watched[i].number == makedev(dev >> 20, dev & 0xfffff))
			return daemon->watched[i].name;
	return "a device";
}

/* The part of the device that the stream reads: a process may have several streams. */
static const char *part_text(const struct set_key *set, char *text, size_t size)
{
	char start[SIZE_TEXT];

	if (set->label)
		snprintf(text, size, "in label %u", set->label);
	else
		snprintf(text, size, "from %s", size_print(set->place << (PLACE_SHIFT + 9), start));
	return text;
}

/* Log a new class of a stream, unless its process has ended. */
static void tell_verdict(const struct change *change, void *arg)
{
	struct daemon *daemon = arg;
	char text[400], part[48], command[32], bytes[SIZE_TEXT];

	if (process_ended(change->key.pid) || daemon->told++ >= TOLD_MOST)
		return;
	snprintf(text, sizeof(text),
		 "%s: %s (process %u) %s %s (before: %s) %s: %llu accesses in %llu runs, %s",
		 name_of(daemon, change->key.set.dev),
		 process_command(change->key.pid, command, sizeof(command)) ?: "a program",
		 change->key.pid,
		 change->key.writes ? "writes" : "reads", class_word(change->to),
		 class_word(change->from),
		 part_text(&change->key.set, part, sizeof(part)),
		 (unsigned long long)change->stream.accesses,
		 (unsigned long long)change->stream.runs,
		 size_print(change->stream.bytes, bytes));
	daemon_say(daemon, SD_DEBUG, text_clean(text));
}

/* Set a setting of all devices to the value in the configuration. */
static void apply_setting(struct daemon *daemon, const char *setting, uint64_t value)
{
	struct action action = { .to = value };

	snprintf(action.setting, sizeof(action.setting), "%s", setting);
	snprintf(action.why, sizeof(action.why), "%s",
		 conf_gives(&daemon->conf, setting) ? "set in nearcache.conf" :
						      "default of the daemon (nearcache.conf does not set it)");
	if (knob_get(setting, "", &action.from))
		daemon_say_failure(daemon);
	else if (action.from != value)
		daemon_act(daemon, &action, "done");
}

/* If a user reverted an action on a device, leave that setting alone for conf.hold seconds. */
static void heed_action(const struct action *action, void *arg)
{
	struct daemon *daemon = arg;
	struct watched *watched = watched_find(daemon, action->device);

	daemon->last = action->id;
	if (!watched || strcmp(action->state, "reverted"))
		return;
	if (!strcmp(action->setting, KNOB_READ_AHEAD))
		judge_hold(&watched->judge, daemon_seconds() + daemon->conf.hold);
	if (!strcmp(action->setting, KNOB_REPLAY)) {
		watched_end_replay(daemon, watched, NULL, "");
		replay_hold(watched->replay, daemon_seconds() + daemon->conf.hold);
	}
	/* hot_pins_look() will read the remaining pins from the kernel. */
	if (!strcmp(action->setting, KNOB_PIN)) {
		watched->hot_held = daemon_seconds() + daemon->conf.hold;
		hot_free(&watched->hot);
	}
}

static void look_at_actions(struct daemon *daemon)
{
	struct stat st;

	if (stat(ACTIONS_FILE, &st) || st.st_size == daemon->size)
		return;
	daemon->size = st.st_size;
	action_each(daemon->last, heed_action, daemon);
}

static void look_at_programs(struct daemon *daemon)
{
	if (!observer_renew(&daemon->observer))
		return;
	if (!daemon->observer.classifies) {
		daemon_say(daemon, SD_WARNING,
			 "without the built-in classifier the daemon does not know how devices are read: it only prefetches shards, as long as readers use them");
		return;
	}
	apply_setting(daemon, KNOB_WINDOW, daemon->conf.window);
	apply_setting(daemon, KNOB_CHECKPOINT, daemon->conf.around);
}

static void look_around(struct daemon *daemon)
{
	struct dm_device *list;
	struct watched *watched;
	size_t i, count;

	look_at_actions(daemon);
	look_at_programs(daemon);
	observer_look(&daemon->observer);
	if (!dm_all(&list, &count)) {
		watched_forget_gone(daemon, list, count);
		for (i = 0; i < count; i++) {
			watched = watched_need(daemon, list[i].name);
			if (watched && list[i].live && list[i].status)
				watched_look(daemon, watched, &list[i]);
		}
		dm_device_free_all(list, count);
	}
	daemon_say_failure(daemon);
	/* tell_verdict() finds the device names that watched_look() above has updated. */
	daemon->told = 0;
	observer_tell(&daemon->observer);
}

static void show_metrics(struct daemon *daemon)
{
	struct endpoint_text prometheus = { 0 }, openmetrics = { 0 };

	if (!daemon->endpoint && !*daemon->conf.textfile)
		return;
	prometheus.text = snapshot_take(false, &prometheus.bytes);
	if (prometheus.text && *daemon->conf.textfile)
		atomic_file_write(daemon->conf.textfile, prometheus.text, prometheus.bytes, false);
	if (prometheus.text && daemon->endpoint)
		openmetrics.text = snapshot_take(true, &openmetrics.bytes);
	if (openmetrics.text)
		endpoint_show(daemon->endpoint, prometheus, openmetrics);
	else
		free(prometheus.text);
	daemon_say_failure(daemon);
}

static void ignore_action(const struct action *action, void *arg)
{
	*(uint64_t *)arg = action->id;
}

/* Call replay_step() for each device that records or replays.  Returns whether there is any. */
static bool step_loops(const struct daemon *daemon)
{
	bool any = false;
	size_t i;

	for (i = 0; i < daemon->count; i++) {
		if (daemon->watched[i].replay->state == REPLAY_OFF)
			continue;
		any = true;
		replay_step(daemon->watched[i].replay, daemon->watched[i].number);
	}
	return any;
}

static void say_cluster(const char *text, void *arg)
{
	daemon_say(arg, SD_WARNING, text);
}

/*
 * Wait for the next sample; meanwhile step replays, look at clusters and feed the watchdog.  True
 * after a signal.
 */
static bool rest_interval(struct daemon *daemon)
{
	uint64_t end = watch_now() + daemon->conf.interval * SECOND, now, some;

	while ((now = watch_now()) < end) {
		if (!daemon->observe)
			keep_clusters(&daemon->keeper, say_cluster, daemon);
		some = step_loops(daemon) ? REPLAY_STEP : 1000 * ALIVE;
		if (some > (end - now) / 1000000 + 1)
			some = (end - now) / 1000000 + 1;
		sd_notify(0, "WATCHDOG=1");
		if (signals_wait((unsigned int)some))
			return true;
	}
	return false;
}

static int run_daemon(struct daemon *daemon)
{
	sigset_t before;
	size_t i;

	if (action_each(0, ignore_action, &daemon->last))
		return fail_code();
	/* Block signals first, so that the endpoint's thread inherits the mask. */
	signals_hold(&before);
	if (daemon->conf.listen.sin_port) {
		daemon->endpoint = endpoint_start(&daemon->conf.listen);
		if (!daemon->endpoint)
			return fail_code();
	}
	daemon->prefix = getenv("JOURNAL_STREAM");
	daemon->observer.told = tell_verdict;
	daemon->observer.arg = daemon;
	daemon->observer.idle = daemon->observe;
	daemon->observer.heat = daemon->conf.pin_hot;
	observer_open(&daemon->observer);
	look_at_programs(daemon);
	observer_look(&daemon->observer);
	daemon_say(daemon, SD_INFO, daemon->observe ? "observing devices" : "looking after devices");
	sd_notify(0, "READY=1");
	do {
		look_around(daemon);
		show_metrics(daemon);
	} while (!rest_interval(daemon));
	sd_notify(0, "STOPPING=1");
	for (i = 0; i < daemon->count; i++)
		watched_end_replay(daemon, &daemon->watched[i], "done", "the daemon stops");
	keep_stop(&daemon->keeper);
	endpoint_stop(daemon->endpoint);
	observer_close(&daemon->observer);
	watched_forget_gone(daemon, NULL, 0);
	free(daemon->watched);
	return 0;
}

int daemon_run(const struct arguments *args)
{
	struct daemon daemon = { .observe = option_given(args, OPTION_OBSERVE) };
	const char *path = args->config ? args->config : CONF_FILE;

	if (conf_read(&daemon.conf, path, args->config))
		return fail_code();
	return run_daemon(&daemon);
}
