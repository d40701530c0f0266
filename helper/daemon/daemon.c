// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sample all devices in a loop, follow the decisions of choose_readahead.c, loop_prefetch.c,
 * first_touch_prefetch.c and hot_pins.c, and record and log each action.
 */
#include "daemon/daemon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <systemd/sd-daemon.h>

#include "lib/enum_words.h"
#include "daemon/action_log.h"
#include "daemon/conf.h"
#include "daemon/metrics_endpoint.h"
#include "daemon/first_touch_prefetch.h"
#include "daemon/hot_pins.h"
#include "daemon/choose_readahead.h"
#include "daemon/change_setting.h"
#include "daemon/bpf_observer.h"
#include "daemon/loop_prefetch.h"
#include "daemon/keep_clusters.h"
#include "ondisk/print_superblock.h"
#include "block/device_sysfs.h"
#include "block/dm.h"
#include "lib/error.h"
#include "metrics/metrics_text.h"
#include "block/readahead.h"
#include "lib/atomic_file.h"
#include "lib/process.h"
#include "block/signals.h"
#include "lib/size.h"
#include "lib/sanitize.h"
#include "lib/periodic_wait.h"

#define SECOND		1000000000ULL
/*
 * Maximum seconds between two watchdog messages to systemd, below half of WatchdogSec, and between
 * two looks at clusters.
 */
#define ALIVE		5U
/* The daemon chooses regions to pin at every tenth sample. */
#define HOT_LOOKS	10U
/* At most this number of changes of a stream's class are logged per sample. */
#define TOLD_MOST	20U

/*
 * What the daemon knows about a device.  Times are in seconds, as by seconds_now().
 *
 * @name: dm name
 * @present: the device was sampled, so that @read and @origin are valid
 * @read: counter of bytes read through the device, at the last sample
 * @origin: counter of bytes read from the origin, prefetch included, at the last sample
 * @kept_shut: time before which no shard is prefetched
 * @hot_looks: samples since the regions to pin were last chosen
 * @hot_held: time before which no region is pinned or unpinned
 * @replay: allocated separately because it must not move
 * @replayed: number of the action that started the replay
 * @would: with --observe, readahead that the last action would have set; 0: none
 * @change: number of the last action on the readahead; 0: none
 */
struct watched {
	char name[128];
	dev_t number;
	bool present;
	uint64_t read;
	uint64_t origin;
	struct judge judge;
	struct opening opening;
	uint64_t kept_shut;
	struct hot hot;
	unsigned int hot_looks;
	uint64_t hot_held;
	struct replay *replay;
	uint64_t replayed;
	uint64_t would;
	uint64_t change;
};

/*
 * @observe: change nothing; only record the actions (--observe)
 * @prefix: start each log line with its priority, because stderr is the journal
 * @endpoint: serves metrics; NULL: none
 * @keeper: connects absent nodes of cluster devices
 * @watched: @count devices
 * @told: number of calls of tell_verdict() in this sample
 * @last: number of the last action that was read from ACTIONS_FILE
 * @size: size of ACTIONS_FILE when it was last read, bytes
 */
struct daemon {
	struct conf conf;
	bool observe;
	bool prefix;
	struct observer observer;
	struct endpoint *endpoint;
	struct keeper keeper;
	struct watched *watched;
	size_t count;
	unsigned int told;
	uint64_t last;
	off_t size;
};

static void say_line(const struct daemon *daemon, const char *level, const char *text)
{
	fprintf(stderr, "%s%s\n", daemon->prefix ? level : "", text);
}

/* Log the error that fail() recorded, if any, and clear it, so that the daemon continues. */
static void say_failure(const struct daemon *daemon)
{
	char text[2200];

	if (!fail_code())
		return;
	snprintf(text, sizeof(text), "%s", fail_message());
	say_line(daemon, SD_WARNING, text_clean(text));
	fail_reset();
}

static uint64_t seconds_now(void)
{
	return watch_now() / SECOND;
}

static struct watched *watched_named(const struct daemon *daemon, const char *name)
{
	size_t i;

	for (i = 0; i < daemon->count; i++)
		if (!strcmp(daemon->watched[i].name, name))
			return &daemon->watched[i];
	return NULL;
}

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
	char text[320], part[48];

	if (process_ended(change->key.pid) || daemon->told++ >= TOLD_MOST)
		return;
	snprintf(text, sizeof(text),
		 "%s: process %u %s %s (before: %s) %s: %llu accesses in %llu runs, %llu bytes",
		 name_of(daemon, change->key.set.dev), change->key.pid,
		 change->key.writes ? "writes" : "reads", class_word(change->to),
		 class_word(change->from),
		 part_text(&change->key.set, part, sizeof(part)),
		 (unsigned long long)change->stream.accesses,
		 (unsigned long long)change->stream.runs,
		 (unsigned long long)change->stream.bytes);
	say_line(daemon, SD_INFO, text);
}

/* Append @action to ACTIONS_FILE and log it.  If it cannot be appended, log only the error. */
static void record_action(struct daemon *daemon, struct action *action)
{
	char text[640], from[KNOB_TEXT], to[KNOB_TEXT];

	if (action_add(action)) {
		say_failure(daemon);
		return;
	}
	snprintf(text, sizeof(text), "%s%s%s %s -> %s: %s (action %llu, %s)",
		 action->device, *action->device ? ": " : "", action->setting,
		 knob_print(action->setting, action->from, from),
		 knob_print(action->setting, action->to, to), action->why,
		 (unsigned long long)action->id, action->state);
	say_line(daemon, SD_NOTICE, text_clean(text));
}

/* Do @action and record it; with --observe only record it.  Returns false if doing it failed. */
static bool act_on(struct daemon *daemon, struct action *action, const char *state)
{
	snprintf(action->state, sizeof(action->state), "%s",
		 daemon->observe ? "would" : state);
	if (!daemon->observe &&
	    knob_set(action->setting, action->device, action->to)) {
		say_failure(daemon);
		return false;
	}
	record_action(daemon, action);
	return true;
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
		say_failure(daemon);
	else if (action.from != value)
		act_on(daemon, &action, "done");
}

static void take_advice(struct daemon *daemon, struct watched *watched,
			const struct look *look, const struct advice *advice)
{
	static const char *const states[] = {
		[JUDGE_SET] = "done",
		[JUDGE_TAKE_BACK] = "taken-back",
		[JUDGE_KEEP] = "kept",
	};
	struct action action = { .from = advice->from, .to = advice->to };

	if (advice->what == JUDGE_NOTHING ||
	    (daemon->observe && watched->would == advice->to))
		return;
	snprintf(action.device, sizeof(action.device), "%s", watched->name);
	snprintf(action.setting, sizeof(action.setting), KNOB_READ_AHEAD);
	snprintf(action.why, sizeof(action.why), "%s", advice->why);
	if (advice->what != JUDGE_SET)
		action.of = watched->change;
	if (advice->what == JUDGE_KEEP)
		action.to = action.from;
	if (!act_on(daemon, &action, states[advice->what]))
		return;
	watched->would = advice->to;
	watched->change = action.id;
	if (!daemon->observe)
		judge_done(&watched->judge, &daemon->conf, look, advice);
}

static uint64_t counter_grown(uint64_t *before, uint64_t now)
{
	uint64_t more = now >= *before ? now - *before : now;

	*before = now;
	return more;
}

/* Argument of tell_shard(), tell_pin() and tell_replay(). */
struct bringing {
	struct daemon *daemon;
	struct watched *watched;
};

static void tell_shard(const char *label, uint64_t bytes, uint32_t job, void *arg)
{
	const struct bringing *bringing = arg;
	struct action action = { .to = job };
	char all[SIZE_TEXT], open[SIZE_TEXT];

	snprintf(action.device, sizeof(action.device), "%s", bringing->watched->name);
	snprintf(action.setting, sizeof(action.setting), KNOB_PREFETCH);
	snprintf(action.label, sizeof(action.label), "%s", label);
	snprintf(action.state, sizeof(action.state), job ? "done" : "would");
	snprintf(action.why, sizeof(action.why),
		 "'%s' (%s) was read for the first time%s; all open shards have %s", label,
		 size_print(bytes, all),
		 bringing->daemon->observer.classifies ? ", and is read in pieces" : "",
		 size_print(bringing->watched->opening.open_bytes, open));
	text_clean(action.why);
	record_action(bringing->daemon, &action);
}

/*
 * Whether shards of the device may be prefetched as a whole.  With the built-in classifier the
 * device must be read in pieces.  Without this classifier the daemon does not know how a shard will
 * be read: it prefetches shards until keep_shut() finds that readers do not use the data.
 */
static bool may_bring(const struct daemon *daemon, const struct watched *watched)
{
	/* Not during a replay, which prefetches the same data in the order of the reads. */
	return seconds_now() >= watched->kept_shut && watched->replay->state != REPLAY_ON &&
	       (!daemon->observer.classifies || watched->judge.habit == HABIT_PIECES);
}

static void keep_shut(struct daemon *daemon, struct watched *watched)
{
	char text[240];

	watched->kept_shut = seconds_now() + daemon->conf.hold;
	snprintf(text, sizeof(text),
		 "%s: more prefetched data was dropped than read: no shard is prefetched for %u seconds",
		 watched->name, daemon->conf.hold);
	say_line(daemon, SD_NOTICE, text);
}

static void look_at_shards(struct daemon *daemon, struct watched *watched,
			   const struct dm_device *dev, const struct status *status)
{
	uint64_t cache = status->field[NEARCACHE_FIELD_BLOCKS] *
			 status->field[NEARCACHE_FIELD_BLOCK_SIZE];
	struct bringing bringing = { daemon, watched };
	const struct first_touch what = {
		.time = seconds_now(),
		.room = may_bring(daemon, watched) ?
			cache / 100 * daemon->conf.first_touch : 0,
		.observe = daemon->observe,
		.told = tell_shard,
		.arg = &bringing,
	};

	if (first_touch_look(&watched->opening, dev, &what))
		say_failure(daemon);
	opening_close(&watched->opening, what.time, daemon->conf.calm);
	if (opening_is_wasteful(&watched->opening))
		keep_shut(daemon, watched);
}

static void tell_pin(uint64_t start, const struct hot_advice *advice, void *arg)
{
	const struct bringing *of = arg;
	struct action action = { 0 };
	char heat[SIZE_TEXT], mean[SIZE_TEXT];

	snprintf(action.device, sizeof(action.device), "%s", of->watched->name);
	snprintf(action.setting, sizeof(action.setting), KNOB_PIN);
	snprintf(action.state, sizeof(action.state), of->daemon->observe ? "would" : "done");
	*(advice->pin ? &action.to : &action.from) = start + 1;
	snprintf(action.why, sizeof(action.why), "it saved %s recently, the mean region %s",
		 size_print(advice->heat, heat), size_print(advice->mean, mean));
	record_action(of->daemon, &action);
}

static void look_at_regions(struct daemon *daemon, struct watched *watched,
			    const struct dm_device *dev, const struct status *status)
{
	uint64_t cache = status->field[NEARCACHE_FIELD_BLOCKS] *
			 status->field[NEARCACHE_FIELD_BLOCK_SIZE];
	struct bringing of = { daemon, watched };
	const struct hot_pins what = {
		.quota = cache / 100 * daemon->conf.pin_hot,
		.observe = daemon->observe,
		.told = tell_pin,
		.arg = &of,
	};

	if (++watched->hot_looks < HOT_LOOKS || seconds_now() < watched->hot_held)
		return;
	watched->hot_looks = 0;
	if (hot_pins_look(&watched->hot, dev, &what))
		say_failure(daemon);
}

static void tell_replay(const struct replay_news *news, void *arg)
{
	const struct bringing *of = arg;
	struct action action = { .from = news->from, .to = news->to };
	char text[JUDGE_WHY + 160];

	if (!news->state) {
		snprintf(text, sizeof(text), "%s: %s", of->watched->name, news->why);
		say_line(of->daemon, SD_NOTICE, text_clean(text));
		return;
	}
	snprintf(action.device, sizeof(action.device), "%s", of->watched->name);
	snprintf(action.setting, sizeof(action.setting), KNOB_REPLAY);
	snprintf(action.state, sizeof(action.state), "%s", news->state);
	snprintf(action.why, sizeof(action.why), "%s", news->why);
	if (news->from)
		action.of = of->watched->replayed;
	record_action(of->daemon, &action);
	if (!news->from)
		of->watched->replayed = action.id;
}

static void look_at_loops(struct daemon *daemon, struct watched *watched,
			  const struct dm_device *dev, const struct status *status,
			  const struct look *look)
{
	struct bringing of = { daemon, watched };
	const struct replay_look what = {
		.conf = &daemon->conf,
		.look = look,
		.unit = (uint32_t)status->field[NEARCACHE_FIELD_SUBBLOCK_SIZE],
		.busy = watched->judge.tried,
		.observe = daemon->observe,
		.told = tell_replay,
		.arg = &of,
	};

	if (replay_look(watched->replay, dev, &what))
		say_failure(daemon);
}

/* Prepare the replay of a new device, and cancel the jobs that killed daemons left on it. */
static void begin_replay(struct daemon *daemon, const struct watched *watched)
{
	uint64_t count;

	replay_free(watched->replay);
	if (daemon->conf.replay_loops && !daemon->observe &&
	    replay_cancel(watched->number, &count))
		say_failure(daemon);
}

static void end_replay(struct daemon *daemon, struct watched *watched, const char *state,
		       const char *why)
{
	struct bringing of = { daemon, watched };
	struct replay_news news = { .state = state };

	news.from = replay_stop(watched->replay, watched->number);
	snprintf(news.why, sizeof(news.why), "%s", why);
	if (news.from && state)
		tell_replay(&news, &of);
	say_failure(daemon);
}

/*
 * Sample a device and act on reads since the last sample.  Sample 1 only sets the counters.
 *
 * Below a cluster device the readahead stays as it is: that of the cache has no effect, and the
 * reads of the cache, in part those of peers, do not show how the cluster device is read.
 */
static void look_at(struct daemon *daemon, struct watched *watched,
		    const struct dm_device *dev)
{
	struct look look = { .time = seconds_now() };
	char above[DEVICE_DM_NAME];
	struct advice advice;
	struct status status;
	struct seen since;
	bool known = watched->present && watched->number == dev->number;

	watched->number = dev->number;
	if (describe_status(dev, &status) ||
	    !readahead_get(dev->number, &look.read_ahead)) {
		say_failure(daemon);
		return;
	}
	watched->present = true;
	observer_since(&daemon->observer, dev->number, &since);
	memcpy(look.bytes, since.bytes, sizeof(look.bytes));
	look.measure.stall = since.stall;
	look.measure.read = counter_grown(&watched->read, status_read_bytes(&status));
	look.measure.origin =
		counter_grown(&watched->origin,
			      status.counter[NEARCACHE_COUNTER_FILL_ORIGIN_BYTES] +
			      status.counter[NEARCACHE_COUNTER_BYPASS_BYTES]);
	if (!known) {
		begin_replay(daemon, watched);
		return;
	}
	judge_look(&watched->judge, &daemon->conf, &look, &advice);
	if (!identity_cluster_holder(dev->number, above, sizeof(above)))
		take_advice(daemon, watched, &look, &advice);
	if (daemon->conf.replay_loops)
		look_at_loops(daemon, watched, dev, &status, &look);
	if (daemon->conf.first_touch)
		look_at_shards(daemon, watched, dev, &status);
	if (daemon->conf.pin_hot)
		look_at_regions(daemon, watched, dev, &status);
}

static struct watched *need_watched(struct daemon *daemon, const char *name)
{
	struct watched *watched = watched_named(daemon, name);

	if (watched)
		return watched;
	watched = reallocarray(daemon->watched, daemon->count + 1, sizeof(*watched));
	if (!watched) {
		fail_memory();
		return NULL;
	}
	daemon->watched = watched;
	watched += daemon->count++;
	memset(watched, 0, sizeof(*watched));
	watched->replay = calloc(1, sizeof(*watched->replay));
	if (!watched->replay) {
		daemon->count--;
		fail_memory();
		return NULL;
	}
	snprintf(watched->name, sizeof(watched->name), "%s", name);
	return watched;
}

static void forget_gone(struct daemon *daemon, const struct dm_device *list,
			size_t count)
{
	size_t i = 0, k;

	while (i < daemon->count) {
		for (k = 0; k < count; k++)
			if (!strcmp(daemon->watched[i].name, list[k].name))
				break;
		if (k < count) {
			i++;
			continue;
		}
		opening_free(&daemon->watched[i].opening);
		hot_free(&daemon->watched[i].hot);
		replay_free(daemon->watched[i].replay);
		free(daemon->watched[i].replay);
		daemon->watched[i] = daemon->watched[--daemon->count];
	}
}

/* If a user reverted an action on a device, leave that setting alone for conf.hold seconds. */
static void heed_action(const struct action *action, void *arg)
{
	struct daemon *daemon = arg;
	struct watched *watched = watched_named(daemon, action->device);

	daemon->last = action->id;
	if (!watched || strcmp(action->state, "reverted"))
		return;
	if (!strcmp(action->setting, KNOB_READ_AHEAD))
		judge_hold(&watched->judge, seconds_now() + daemon->conf.hold);
	if (!strcmp(action->setting, KNOB_REPLAY)) {
		end_replay(daemon, watched, NULL, "");
		replay_hold(watched->replay, seconds_now() + daemon->conf.hold);
	}
	/* hot_pins_look() will read the remaining pins from the kernel. */
	if (!strcmp(action->setting, KNOB_PIN)) {
		watched->hot_held = seconds_now() + daemon->conf.hold;
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
		say_line(daemon, SD_WARNING,
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
		forget_gone(daemon, list, count);
		for (i = 0; i < count; i++) {
			watched = need_watched(daemon, list[i].name);
			if (watched && list[i].live && list[i].status)
				look_at(daemon, watched, &list[i]);
		}
		dm_device_free_all(list, count);
	}
	say_failure(daemon);
	/* tell_verdict() finds the device names that look_at() above has updated. */
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
	say_failure(daemon);
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
	say_line(arg, SD_WARNING, text);
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
	say_line(daemon, SD_INFO, daemon->observe ? "observing devices" : "looking after devices");
	sd_notify(0, "READY=1");
	do {
		look_around(daemon);
		show_metrics(daemon);
	} while (!rest_interval(daemon));
	sd_notify(0, "STOPPING=1");
	for (i = 0; i < daemon->count; i++)
		end_replay(daemon, &daemon->watched[i], "done", "the daemon stops");
	keep_stop(&daemon->keeper);
	endpoint_stop(daemon->endpoint);
	observer_close(&daemon->observer);
	forget_gone(daemon, NULL, 0);
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
