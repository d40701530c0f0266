// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sample a device, and follow the decisions of choose_readahead.c, loop_prefetch.c,
 * first_touch_prefetch.c and hot_pins.c.
 */
#include "daemon/watched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "block/device_sysfs.h"
#include "block/readahead.h"
#include "daemon/change_setting.h"
#include "daemon/first_touch_prefetch.h"
#include "daemon/hot_pins.h"
#include "lib/error.h"
#include "lib/periodic_wait.h"
#include "lib/sanitize.h"
#include "lib/size.h"
#include "ondisk/print_superblock.h"

#define SECOND		1000000000ULL
/* The daemon chooses regions to pin at every tenth sample. */
#define HOT_LOOKS	10U

uint64_t daemon_seconds(void)
{
	return watch_now() / SECOND;
}

struct watched *watched_find(const struct daemon *daemon, const char *name)
{
	size_t i;

	for (i = 0; i < daemon->count; i++)
		if (!strcmp(daemon->watched[i].name, name))
			return &daemon->watched[i];
	return NULL;
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
	if (!daemon_act(daemon, &action, states[advice->what]))
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
	daemon_record(bringing->daemon, &action);
}

/*
 * Whether shards of the device may be prefetched as a whole.  With the built-in classifier the
 * device must be read in pieces.  Without this classifier the daemon does not know how a shard will
 * be read: it prefetches shards until keep_shut() finds that readers do not use the data.
 */
static bool may_bring(const struct daemon *daemon, const struct watched *watched)
{
	/* Not during a replay, which prefetches the same data in the order of the reads. */
	return daemon_seconds() >= watched->kept_shut && watched->replay->state != REPLAY_ON &&
	       (!daemon->observer.classifies || watched->judge.habit == HABIT_PIECES);
}

static void keep_shut(struct daemon *daemon, struct watched *watched)
{
	char text[240];

	watched->kept_shut = daemon_seconds() + daemon->conf.hold;
	snprintf(text, sizeof(text),
		 "%s: more prefetched data was dropped than read: no shard is prefetched for %u seconds",
		 watched->name, daemon->conf.hold);
	daemon_say(daemon, SD_NOTICE, text);
}

static void look_at_shards(struct daemon *daemon, struct watched *watched,
			   const struct dm_device *dev, const struct status *status)
{
	uint64_t cache = status->field[NEARCACHE_FIELD_BLOCKS] *
			 status->field[NEARCACHE_FIELD_BLOCK_SIZE];
	struct bringing bringing = { daemon, watched };
	const struct first_touch what = {
		.time = daemon_seconds(),
		.room = may_bring(daemon, watched) ?
			cache / 100 * daemon->conf.first_touch : 0,
		.observe = daemon->observe,
		.told = tell_shard,
		.arg = &bringing,
	};

	if (first_touch_look(&watched->opening, dev, &what))
		daemon_say_failure(daemon);
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
	daemon_record(of->daemon, &action);
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

	if (++watched->hot_looks < HOT_LOOKS || daemon_seconds() < watched->hot_held)
		return;
	watched->hot_looks = 0;
	if (hot_pins_look(&watched->hot, dev, &what))
		daemon_say_failure(daemon);
}

static void tell_replay(const struct replay_news *news, void *arg)
{
	const struct bringing *of = arg;
	struct action action = { .from = news->from, .to = news->to };
	char text[JUDGE_WHY + 160];

	if (!news->state) {
		snprintf(text, sizeof(text), "%s: %s", of->watched->name, news->why);
		daemon_say(of->daemon, SD_NOTICE, text_clean(text));
		return;
	}
	snprintf(action.device, sizeof(action.device), "%s", of->watched->name);
	snprintf(action.setting, sizeof(action.setting), KNOB_REPLAY);
	snprintf(action.state, sizeof(action.state), "%s", news->state);
	snprintf(action.why, sizeof(action.why), "%s", news->why);
	if (news->from)
		action.of = of->watched->replayed;
	daemon_record(of->daemon, &action);
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
		daemon_say_failure(daemon);
}

/* Prepare the replay of a new device, and cancel the jobs that killed daemons left on it. */
static void begin_replay(struct daemon *daemon, const struct watched *watched)
{
	uint64_t count;

	replay_free(watched->replay);
	if (!daemon->observe &&
	    replay_cancel(watched->number, &count))
		daemon_say_failure(daemon);
}

void watched_end_replay(struct daemon *daemon, struct watched *watched, const char *state,
		       const char *why)
{
	struct bringing of = { daemon, watched };
	struct replay_news news = { .state = state };

	news.from = replay_stop(watched->replay, watched->number);
	snprintf(news.why, sizeof(news.why), "%s", why);
	if (news.from && state)
		tell_replay(&news, &of);
	daemon_say_failure(daemon);
}

/*
 * Sample a device and act on reads since the last sample.  Sample 1 only sets the counters.
 *
 * Below a cluster device the readahead stays as it is: that of the cache has no effect, and the
 * reads of the cache, in part those of peers, do not show how the cluster device is read.
 */
void watched_look(struct daemon *daemon, struct watched *watched,
		    const struct dm_device *dev)
{
	struct look look = { .time = daemon_seconds() };
	char above[DEVICE_DM_NAME];
	struct advice advice;
	struct status status;
	struct seen since;
	bool known = watched->present && watched->number == dev->number;

	watched->number = dev->number;
	if (describe_status(dev, &status) ||
	    !readahead_get(dev->number, &look.read_ahead)) {
		daemon_say_failure(daemon);
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

struct watched *watched_need(struct daemon *daemon, const char *name)
{
	struct watched *watched = watched_find(daemon, name);

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

void watched_forget_gone(struct daemon *daemon, const struct dm_device *list,
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
