// SPDX-License-Identifier: GPL-2.0-only
/* nearcache actions: list the actions of the daemon with their reasons, or revert one. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cluster/homes.h"
#include "cmd/commands.h"
#include "daemon/action_log.h"
#include "daemon/hot_pins.h"
#include "daemon/change_setting.h"
#include "daemon/loop_prefetch.h"
#include "block/dm.h"
#include "lib/error.h"
#include "lib/name.h"
#include "netlink/client.h"
#include "lib/print.h"

static void show_value(const char *key, const char *label,
		       const struct action *action, uint64_t value)
{
	char text[KNOB_TEXT];

	print_string(NULL, label, knob_print(action->setting, value, text));
	print_number(key, NULL, value);
}

/* @name: list the actions of this device; NULL: of all. @all: also actions without effect */
struct listing {
	const char *name;
	bool all;
};

static bool made_change(const struct action *action)
{
	return strcmp(action->state, "would") && strcmp(action->state, "kept");
}

static void show_action(const struct action *action, void *arg)
{
	const struct listing *listing = arg;
	time_t at = (time_t)action->time;
	char text[32] = "";
	struct tm tm;

	if ((listing->name && strcmp(listing->name, action->device)) ||
	    !(listing->all || made_change(action)))
		return;
	if (gmtime_r(&at, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	print_record(NULL, NULL);
	print_number("id", "id", action->id);
	print_string("time", "time", text);
	print_string("device", "device", action->device);
	print_string("setting", "setting", action->setting);
	show_value("from", "from", action, action->from);
	show_value("to", "to", action, action->to);
	print_string("state", "state", action->state);
	if (action->of)
		print_number("of", NULL, action->of);
	print_string("why", "why", action->why);
	print_end();
}

static int check_state(const struct action *action)
{
	if (!strcmp(action->state, "done") || !strcmp(action->state, "taken-back"))
		return 0;
	return fail(CODE_USAGE, "action %llu is '%s': it changed nothing",
		    (unsigned long long)action->id, action->state);
}

static int check_value(const struct action *action)
{
	char now_text[KNOB_TEXT], to_text[KNOB_TEXT];
	uint64_t now;

	if (knob_get(action->setting, action->device, &now))
		return fail_code();
	if (now != action->to)
		return fail(CODE_BUSY,
			    "%s is %s, not %s as action %llu left it: another change followed",
			    action->setting,
			    knob_print(action->setting, now, now_text),
			    knob_print(action->setting, action->to, to_text),
			    (unsigned long long)action->id);
	return 0;
}

/* Cancel the job that the action started. Fails if the job is over; data that it loaded stays. */
static int end_job(const struct action *action, bool dry_run)
{
	struct dm_device dev;
	struct nl_job job;
	uint64_t count;
	bool found;

	if (dm_need_ours(action->device, &dev))
		return fail_code();
	if (!nl_job_get(dev.number, (uint32_t)action->to, &job, &found) &&
	    (!found || nl_job_is_over(&job) ||
	     strcmp(job.label, action->label)))
		fail(CODE_BUSY, "job %llu is over: the data that it loaded stays cached like data that was read",
		     (unsigned long long)action->to);
	else if (!dry_run)
		nl_job_cancel(dev.number, (uint32_t)action->to, &count);
	dm_device_free(&dev);
	return fail_code();
}

/* Unpin the region if the action pinned it (@to is not 0); otherwise pin the region again. */
static int undo_pin(const struct action *action, bool dry_run)
{
	uint64_t start = (action->to ? action->to : action->from) - 1;
	struct dm_device dev;

	if (dm_need_ours(action->device, &dev))
		return fail_code();
	if (!dry_run && action->to)
		hot_pins_unpin(&dev, start);
	else if (!dry_run)
		hot_pins_pin(&dev, start);
	dm_device_free(&dev);
	return fail_code();
}

/* The last action with the same device and setting as the action @of. */
struct latest {
	const struct action *of;
	uint64_t id;
	uint64_t to;
};

static void take_latest(const struct action *action, void *arg)
{
	struct latest *latest = arg;

	if (strcmp(action->device, latest->of->device) ||
	    strcmp(action->setting, latest->of->setting) || !strcmp(action->state, "would"))
		return;
	latest->id = action->id;
	latest->to = action->to;
}

/* Stop the replay that the action started. The daemon notices that at its next sample. */
static int end_replay(const struct action *action, bool dry_run)
{
	struct latest latest = { .of = action };
	struct dm_device dev;
	uint64_t count;

	if (action_each(action->id - 1, take_latest, &latest))
		return fail_code();
	if (action->to && latest.to && latest.to != action->to)
		return fail(CODE_BUSY, "'%s' replays another trace now: revert action %llu",
			    action->device, (unsigned long long)latest.id);
	if (!action->to || !latest.to)
		return fail(CODE_BUSY, "no trace is replayed on '%s': action %llu was the last",
			    action->device, (unsigned long long)latest.id);
	if (dm_need_ours(action->device, &dev))
		return fail_code();
	if (!dry_run)
		replay_cancel(dev.number, &count);
	dm_device_free(&dev);
	return fail_code();
}

static int undo_action(const struct action *action, bool dry_run)
{
	if (check_state(action))
		return fail_code();
	if (!strcmp(action->setting, KNOB_PREFETCH))
		return end_job(action, dry_run);
	if (!strcmp(action->setting, KNOB_PIN))
		return undo_pin(action, dry_run);
	if (!strcmp(action->setting, KNOB_REPLAY))
		return end_replay(action, dry_run);
	if (check_value(action) || dry_run)
		return fail_code();
	return knob_set(action->setting, action->device, action->from);
}

static int revert_action(uint64_t id, bool dry_run)
{
	struct action action, back;

	if (action_find(id, &action) || undo_action(&action, dry_run))
		return fail_code();
	back = action;
	back.from = action.to;
	back.to = action.from;
	back.of = id;
	snprintf(back.state, sizeof(back.state), "reverted");
	snprintf(back.why, sizeof(back.why), "by hand");
	if (!dry_run && action_add(&back))
		return fail_code();
	print_number("of", NULL, id);
	print_string("device", "device", back.device);
	print_string("setting", "setting", back.setting);
	show_value("from", "from", &back, back.from);
	show_value("to", "to", &back, back.to);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	return 0;
}

static int cmd_actions(const struct arguments *args)
{
	struct listing listing = { .all = option_given(args, OPTION_UNCHANGED) };
	struct dm_device dev = { 0 };

	if (option_given(args, OPTION_REVERT) && args->operands)
		return fail(CODE_USAGE, "--revert takes a number only, not '%s'",
			    args->operand[0]);
	if (option_given(args, OPTION_REVERT) && arguments_no_table(args, "the list: leave out --revert"))
		return fail_code();
	if (option_given(args, OPTION_REVERT))
		return revert_action(args->revert, option_given(args, OPTION_DRY_RUN));
	if (args->operands) {
		listing.name = name_of_operand(args->operand[0]);
		/* The device may be gone. */
		if (homes_find_cache(args->operand[0], &dev))
			fail_reset();
		else
			listing.name = dev.name;
	}
	print_main_table("actions");
	action_each(0, show_action, &listing);
	print_end();
	dm_device_free(&dev);
	return fail_code();
}

static const struct verb_column columns[] = {
	{ .name = "id", .help = "number" },
	{ .name = "time", .help = "UTC" },
	{ .name = "device", .help = "name" },
	{ .name = "setting", .help = "what changed" },
	{ .name = "from", .help = "value before" },
	{ .name = "to", .help = "value after" },
	{ .name = "state", .help = "done, taken-back, reverted, would, kept" },
	{ .name = "why", .help = "reason" },
	{ .name = "of", .help = "number of the action that was reverted", .chosen = true },
	{ 0 },
};

const struct verb actions_verb = {
	.name = "actions",
	.group = VERBS_AUTOMATIC,
	.operands = "[NAME]",
	.operands_max = 1,
	.optional = OPTION_REVERT | OPTION_UNCHANGED | OPTIONS_TABLE,
	.summary = "list the actions of the daemon with their reasons, or revert one",
	.details =
"States: done; taken-back, after the daemon evaluated the effect; reverted, by --revert:\n"
"the daemon leaves that setting alone for a while. With --all also the actions that\n"
"changed nothing: would (of daemon --observe), and kept, after an evaluation. The record\n"
"is /run/nearcache/actions and starts empty at each boot.\n",
	.columns = columns,
	.run = cmd_actions,
};
