// SPDX-License-Identifier: GPL-2.0-only
/* nearcache pin: reserve room for files in the cache, load them, and keep them there. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "pins/change.h"
#include "cluster/homes.h"
#include "cmd/commands.h"
#include "cmd/shared_help.h"
#include "cmd/node_part.h"
#include "lib/error.h"
#include "files/job_wait.h"
#include "ondisk/print_superblock.h"
#include "lib/path.h"
#include "block/lock.h"
#include "lib/print.h"
#include "pins/pinned_file.h"
#include "pins/record_owner.h"
#include "pins/refresh.h"
#include "pins/restore.h"
#include "block/signals.h"
#include "files/operand.h"
#include "lib/enum_words.h"

#define INSTEAD	(OPTION_BYPASS | OPTION_EVICT_AFTER_USE)

/*
 * @homes: nodes of the cluster device that the user named
 * @shards: the TARGETs, mapped to the device; of a cluster device, the part of this node
 * @part: their bytes
 * @flags: NEARCACHE_RANGE_*
 * @pins: the recorded pins, and after record_pins() the new ones as well
 * @room: needed and available room after the change
 * @job: the prefetch job; its id is 0 if there is none
 */
struct pinning {
	const struct arguments *args;
	struct dm_device dev;
	struct homes homes;
	struct shards shards;
	struct homes_part part;
	char label[LABEL_SIZE];
	uint32_t flags;
	struct pins pins;
	struct nl_room room;
	struct nl_job job;
};

static int check_refresh(const struct arguments *args)
{
	if (target_given(args) ||
	    option_given(args, OPTION_LABEL | OPTION_PRIORITY | OPTION_EXPIRES |
			 OPTION_NO_LOAD | INSTEAD | TARGET_OPTIONS))
		return fail(CODE_USAGE,
			    "--refresh is for all pins of the device: it takes no TARGETs, and no option except --keep-gone and --wait");
	if (option_given(args, OPTION_ALL) && option_given(args, OPTION_WAIT))
		return fail(CODE_USAGE,
			    "--all and --wait exclude each other: 'nearcache jobs NAME' shows progress");
	if (option_given(args, OPTION_ALL) && option_given(args, OPTION_EVERYWHERE))
		return fail(CODE_USAGE, "--everywhere needs NAME, not --all");
	if (option_given(args, OPTION_DRY_RUN) && !option_given(args, OPTION_ALL))
		return fail(CODE_USAGE,
			    "--refresh takes --dry-run only with --all");
	return arguments_check_operand(args);
}

static int check_words(const struct arguments *args)
{
	if (option_given(args, OPTION_REFRESH))
		return check_refresh(args);
	if (option_given(args, OPTION_KEEP_GONE))
		return fail(CODE_USAGE, "--keep-gone goes with --refresh");
	if (!args->operands || option_given(args, OPTION_ALL))
		return fail(CODE_USAGE,
			    "'pin' needs NAME and TARGETs; --all needs --refresh and replaces NAME");
	if (option_given(args, OPTION_BYPASS) && option_given(args, OPTION_EVICT_AFTER_USE))
		return fail(CODE_USAGE,
			    "--bypass and --evict-after-use exclude each other: bypassed data is not cached");
	if (option_given(args, INSTEAD | OPTION_NO_LOAD) && option_given(args, OPTION_WAIT))
		return fail(CODE_USAGE,
			    "--wait is useless with --no-load, --bypass and --evict-after-use, which load nothing");
	return target_check_words(args, true);
}

static uint32_t flags_of(const struct arguments *args)
{
	if (option_given(args, OPTION_BYPASS))
		return NEARCACHE_RANGE_BYPASS;
	if (option_given(args, OPTION_EVICT_AFTER_USE))
		return NEARCACHE_RANGE_EVICT_AFTER_USE;
	return NEARCACHE_RANGE_PIN;
}

/* Append a pin for @word if it is a folder, so that a refresh pins new files in it. */
static int add_folder(struct pins *added, const struct pin *like, const char *word)
{
	struct pin folder = *like;
	struct stat st;
	char *path;

	if (range_like(word) || stat(word, &st) || !S_ISDIR(st.st_mode))
		return 0;
	path = path_once(word);
	if (!path)
		return fail_code();
	folder.folder = true;
	folder.handle = file_handle(path);
	pins_append(added, &folder, path);
	free(folder.handle);
	free(path);
	return fail_code();
}

static int add_targets(const struct pinning *pinning, struct pins *added, const struct pin *like)
{
	const struct arguments *args = pinning->args;
	size_t i;
	int word;

	for (i = 0; i < pinning->shards.count; i++)
		if (pin_file(added, like, &pinning->shards.shard[i]))
			return fail_code();
	for (word = 1; word < args->operands; word++)
		if (add_folder(added, like, args->operand[word]))
			break;
	return fail_code();
}

/* Add the new pins to @pins; change_both() will write the record. */
static int record_pins(struct pinning *pinning)
{
	const struct arguments *args = pinning->args;
	struct pins added = { 0 };
	struct pin like = {
		.label = pinning->label,
		.flags = pinning->flags,
		.priority = args->priority,
		.expires = args->expires ? time(NULL) + args->expires : 0,
		.load = !option_given(args, INSTEAD | OPTION_NO_LOAD),
		.samples = (char *)args->samples,
		.index_only = option_given(args, OPTION_INDEX_ONLY),
		.format = args->shard_format,
		.concatenated = option_given(args, OPTION_CONCATENATED),
		.part = homes_divide(&pinning->homes),
	};

	pins_drop_old(&pinning->pins, time(NULL));
	if (!add_targets(pinning, &added, &like))
		pins_replace(&pinning->pins, &added);
	pins_free(&added);
	return fail_code();
}

static int resolve_files(struct pinning *pinning)
{
	const char *label = pinning->args->label;

	if (homes_resolve(TARGET_BRING, pinning->args, &pinning->dev, &pinning->homes,
			  &pinning->shards) ||
	    homes_keep(&pinning->homes, &pinning->shards, &pinning->part))
		return fail_code();
	if (!pinning->part.all)
		return fail(CODE_DEVICE,
			    "there is nothing to pin: the TARGETs have no data on the device");
	if (!label)
		label = shards_label(&pinning->shards, pinning->label);
	else
		strcpy(pinning->label, label);
	return label ? 0 : (int)fail_code();
}

/* JSON has these numbers even if the kernel refuses the pins for lack of room. */
static void print_room(const struct pinning *pinning)
{
	print_bytes("needed_bytes", "pins need", pinning->room.needed);
	print_bytes("available_bytes", "may be pinned",
		    pinning->room.available);
}

static int apply_pins(struct pinning *pinning)
{
	struct nl_job wishes = { .priority = pinning->args->priority };
	struct change change = { .dev = &pinning->dev, .pins = &pinning->pins };

	strcpy(wishes.label, pinning->label);
	strcpy(pinning->job.label, pinning->label);
	change_both(&change);
	pinning->room = change.room;
	if (fail_code()) {
		if (option_given(pinning->args, OPTION_JSON) && pinning->room.needed)
			print_room(pinning);
		return fail_code();
	}
	if (restore_load(&pinning->dev, &pinning->pins, pin_is_fresh, &wishes,
			 &pinning->job.id))
		return fail_add("the data is pinned, and cached when it is read");
	return 0;
}

static int wait_for_job(struct pinning *pinning)
{
	const struct arguments *args = pinning->args;

	if (!option_given(args, OPTION_WAIT) || !pinning->job.id)
		return 0;
	lock_release();
	return job_wait(&pinning->dev, pinning->job.id,
			option_given(args, OPTION_JSON), &pinning->job);
}

/* Hold signals: ^C would leave pins without a record, or a job whose end --wait does not report. */
static int execute_pin(struct pinning *pinning)
{
	sigset_t before;

	signals_hold(&before);
	if (!apply_pins(pinning))
		wait_for_job(pinning);
	signals_release(&before);
	return fail_code();
}

static void print_job(const struct pinning *pinning)
{
	if (pinning->job.bytes) {
		print_record("load", NULL);
		job_print(&pinning->job);
		print_end();
	} else if (pinning->job.id) {
		print_number("job", "prefetch job", pinning->job.id);
	}
}

static void report_pin(const struct pinning *pinning)
{
	bool dry_run = option_given(pinning->args, OPTION_DRY_RUN);
	char wants[WANT_TEXT];
	size_t i, ranges = 0;

	for (i = 0; i < pinning->shards.count; i++)
		ranges += pinning->shards.shard[i].ranges;
	print_record(NULL, pinning->dev.name);
	print_string("name", NULL, pinning->dev.name);
	print_string("label", "label", pinning->label);
	print_string("wants", "wants", want_print(pinning->flags, wants));
	print_number("shard_count", "shards", pinning->shards.count);
	print_number("ranges", "ranges", ranges);
	print_bytes("bytes", "bytes", shards_bytes(&pinning->shards));
	node_part_print(&pinning->homes, &pinning->part);
	omitted_print(&pinning->shards.omitted);
	if (!dry_run)
		print_room(pinning);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_job(pinning);
	node_part_print_commands(pinning->args, &pinning->homes);
	print_end();
}

/* The pins are set and on record. Warn if their data cannot be loaded now. */
static int judge_result(const struct pinning *pinning)
{
	const struct dm_device *dev = &pinning->dev;
	const char *reason = describe_bypass_reason(dev);

	if (pinning->job.bytes && job_judge(dev, &pinning->job)) {
		fail_add("the data stays pinned");
		return describe_bypass(dev->name);
	}
	if (pinning->job.id && reason)
		warn("the data is pinned, but not loaded: the cache device of '%s' is bypassed: %s; 'nearcache attach %s', with this cache device or another one, loads it",
		     dev->name, reason, dev->name);
	return 0;
}

static int pin_files(struct pinning *pinning)
{
	pinning->flags = flags_of(pinning->args);
	if (record_require(&pinning->pins, &pinning->dev) ||
	    resolve_files(pinning) || record_pins(pinning))
		return fail_code();
	if (!option_given(pinning->args, OPTION_DRY_RUN) && execute_pin(pinning))
		return fail_code();
	report_pin(pinning);
	return judge_result(pinning);
}

static int follow_job(struct pinning *pinning, struct refreshed *refreshed)
{
	sigset_t before;

	signals_hold(&before);
	if (!refresh_device(&pinning->dev, &pinning->pins,
			    option_given(pinning->args, OPTION_KEEP_GONE), refreshed)) {
		pinning->job.id = refreshed->job;
		strcpy(pinning->job.label, RESTORE_LABEL);
		wait_for_job(pinning);
	}
	signals_release(&before);
	return fail_code();
}

static int refresh_pins(struct pinning *pinning)
{
	struct refreshed refreshed;

	if (pinning->pins.foreign)
		record_adopt(&pinning->pins, &pinning->dev);
	if (follow_job(pinning, &refreshed))
		return fail_code();
	print_record(NULL, pinning->dev.name);
	print_string("name", NULL, pinning->dev.name);
	refresh_print(&refreshed);
	print_job(pinning);
	refresh_print_gone(&pinning->pins);
	node_part_print_commands(pinning->args, &pinning->homes);
	print_end();
	return judge_result(pinning);
}

static int cmd_pin(const struct arguments *args)
{
	struct pinning pinning = { .args = args };
	int error = check_words(args);

	if (!error && option_given(args, OPTION_ALL))
		return refresh_all(option_given(args, OPTION_KEEP_GONE),
				   option_given(args, OPTION_DRY_RUN));
	if (!error)
		error = node_part_find(args, &pinning.dev, &pinning.homes);
	if (error)
		return error;
	if (!homes_need_running(&pinning.homes) && !refresh_need_live(&pinning.dev) &&
	    !record_open(&pinning.pins, &pinning.dev)) {
		if (option_given(args, OPTION_REFRESH))
			refresh_pins(&pinning);
		else
			pin_files(&pinning);
	}
	pins_free(&pinning.pins);
	homes_free(&pinning.homes);
	shards_free(&pinning.shards);
	dm_device_free(&pinning.dev);
	return fail_code();
}

const struct verb pin_verb = {
	.name = "pin",
	.group = VERBS_DATA,
	.operands = "[NAME] [TARGET...]",
	.operands_max = -1,
	.optional = OPTION_LABEL | OPTION_PRIORITY | OPTION_EXPIRES |
		    OPTION_EVICT_AFTER_USE | OPTION_BYPASS |
		    OPTION_NO_LOAD | OPTION_REFRESH | OPTION_KEEP_GONE |
		    OPTION_ALL | OPTION_WAIT | OPTION_EVERYWHERE |
		    TARGET_OPTIONS,
	.changes = true,
	.summary = "keep files in the cache, whatever else is read",
	.details =
"pin reserves room for all TARGETs, or refuses and reports the room that is needed and\n"
"the room that there is. Then a prefetch job loads them in the background. Pinned data is\n"
"not evicted. --wait shows progress; ^C cancels the job and keeps the pins. The exit code\n"
"is 4 if some of the data could not be loaded.\n"
"\n"
"Pins are recorded in /var/lib/nearcache/pins/NAME.json. open pins again, attach does\n"
"where necessary, close keeps the record, destroy removes it. A recorded pin names the\n"
"ranges where the file was. --refresh, after the file system is mounted, follows files\n"
"that moved and loads missing data: data that could not be loaded before, or was written,\n"
"invalidated or damaged since. It pins files that came into a directory named as TARGET.\n"
"It lists files that are gone and drops their pins. With --keep-gone it keeps them, and so\n"
"do later refreshes, until they are unpinned. If the file system is not mounted or the\n"
"directory cannot be read, a file is not gone. Ranges in the kernel that are not on record,\n"
"for example after a kill, are removed if the record has their label. Others stay and are\n"
"reported, except those of the daemon: another program made them, or /var is not mounted.\n"
"nearcache-pins.service runs pin --refresh --all at each boot. Pins of another device that\n"
"had the same name are left alone; --refresh takes them over. --expires ends a pin at that\n"
"time, whether the device is open or not. --priority: blocks of a higher priority are\n"
"evicted later and loaded first.\n"
"\n"
"A file that is pinned again under the same label follows the last command.\n"
"\n"
"--bypass and --evict-after-use are recorded, listed and removed like pins.\n"
"\n" CLUSTER_HELP
"--refresh follows the nodes of the cluster.\n"
"\n" LABEL_HELP
"\n" TARGET_HELP,
	.run = cmd_pin,
};
