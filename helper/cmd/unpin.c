// SPDX-License-Identifier: GPL-2.0-only
/* nearcache unpin: remove pins of files, of ranges, of a label, or all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pins/change.h"
#include "cluster/homes.h"
#include "cmd/commands.h"
#include "cmd/node_part.h"
#include "lib/error.h"
#include "pins/pin_list.h"
#include "lib/print.h"
#include "pins/record_owner.h"
#include "block/signals.h"
#include "pins/unpin_match.h"
#include "files/operand.h"
#include "files/list_lines.h"

/*
 * @left: @lefts words for target_resolve(): the name of the device, then each word (of the command
 *	line or the --from list) that matches no recorded pin; @left_room: size of the array
 * @homes: nodes of the cluster device that the user named. All pins of a TARGET are removed, also
 *	those of extents that had their home here before
 * @pins: the recorded pins; those that the user named are marked as dropped
 * @recorded: pointers into @pins, sorted by path
 * @which: @count ranges to delete; @room is the size of the array
 */
struct unpinning {
	const struct arguments *args;
	char **left;
	size_t lefts;
	size_t left_room;
	struct dm_device dev;
	struct homes homes;
	struct pins pins;
	struct recorded recorded;
	struct nl_range *which;
	size_t count;
	size_t room;
};

static int check_words(const struct arguments *args)
{
	int ways = target_given(args) + !!option_given(args, OPTION_LABEL) +
		   !!option_given(args, OPTION_EVERYTHING);

	if (ways > 1)
		return fail(CODE_USAGE,
			    "TARGETs, --label and --all exclude each other: give one of them");
	if (!ways)
		return fail(CODE_USAGE,
			    "nothing to unpin: name files or ranges, or give --label or --all");
	return target_check_words(args, false);
}

static int add_range(struct unpinning *un, const struct range *range, const char *label)
{
	struct nl_range *which;

	if (un->count == un->room) {
		size_t room = un->room ? 2 * un->room : 64;

		which = reallocarray(un->which, room, sizeof(*which));
		if (!which)
			return fail_memory();
		un->which = which;
		un->room = room;
	}
	un->which[un->count++] = (struct nl_range){ .range = *range,
						    .label = label };
	return 0;
}

/* Drops the recorded pins of a file or directory, which need not exist any more. */
static int choose_recorded(struct unpinning *un, const char *word, bool *found)
{
	*found = !range_like(word) && recorded_drop(&un->recorded, word);
	return fail_code();
}

static int choose_shards(struct unpinning *un)
{
	struct arguments args = *un->args;
	struct shards shards = { 0 };
	bool found;
	size_t i, r;

	/* The words of the --from list are in @left already. */
	args.given &= ~(option_set)OPTION_FROM;
	args.operand = un->left;
	args.operands = (int)un->lefts;
	if (!homes_resolve(TARGET_SHOW, &args, &un->dev, &un->homes, &shards))
		for (i = 0; i < shards.count && !fail_code(); i++) {
			const struct shard *shard = &shards.shard[i];

			/* Delete the recorded ranges of the file, then its present ranges. */
			if (shard->device &&
			    choose_recorded(un, shard->name, &found))
				break;
			for (r = 0; r < shard->ranges && !fail_code(); r++)
				add_range(un, &shard->range[r], NULL);
		}
	shards_free(&shards);
	return fail_code();
}

static int leave_word(struct unpinning *un, const char *word)
{
	char **left;

	if (un->lefts == un->left_room) {
		size_t room = un->left_room ? 2 * un->left_room : 64;

		left = reallocarray(un->left, room, sizeof(*left));
		if (!left)
			return fail_memory();
		un->left = left;
		un->left_room = room;
	}
	un->left[un->lefts] = strdup(word);
	if (!un->left[un->lefts])
		return fail_memory();
	un->lefts++;
	return 0;
}

static int choose_word(struct unpinning *un, const char *word)
{
	bool found;

	if (choose_recorded(un, word, &found) || found)
		return fail_code();
	return leave_word(un, word);
}

/* A line of the list is not a pattern: the file must exist or be recorded. */
static int choose_listed(const char *line, void *arg)
{
	struct unpinning *un = arg;
	size_t before = un->lefts;
	struct stat st;

	if (!choose_word(un, line) && un->lefts > before &&
	    !range_like(line) && stat(line, &st))
		fail_errno(errno, "'%s'", line);
	return fail_code();
}

static int choose_targets(struct unpinning *un)
{
	const struct arguments *args = un->args;
	int i;

	if (recorded_make(&un->recorded, &un->pins) ||
	    leave_word(un, args->operand[0]))
		return fail_code();
	for (i = 1; i < args->operands; i++)
		if (choose_word(un, args->operand[i]))
			return fail_code();
	if (option_given(args, OPTION_FROM) &&
	    list_each_word(args->from, choose_listed, un))
		return fail_code();
	return un->lefts > 1 ? choose_shards(un) : 0;
}

static int choose_ranges(struct unpinning *un)
{
	const struct range all = { 0 };

	if (option_given(un->args, OPTION_EVERYTHING))
		return add_range(un, &all, NULL);
	/* Ranges that were recorded for another device hold other data on this one. */
	if (record_require(&un->pins, &un->dev))
		return fail_code();
	if (option_given(un->args, OPTION_LABEL))
		return add_range(un, &all, un->args->label);
	return choose_targets(un);
}

/* True if @pin is of a file below the folder @folder, under the same label. */
static bool is_below(const struct pin *pin, const struct pin *folder)
{
	size_t length = strlen(folder->path);

	return pin->path && !strcmp(pin->label, folder->label) &&
	       !strncmp(pin->path, folder->path, length) &&
	       (pin->path[length] == '/' || !folder->path[1]);
}

/*
 * Drop the pin of each folder in which a file was unpinned: a refresh would pin that file again.
 * The other files of the folder stay pinned.
 */
static void drop_folders(struct unpinning *un)
{
	size_t f, i;

	for (f = 0; f < un->pins.count; f++) {
		struct pin *folder = &un->pins.pin[f];

		if (!folder->folder || folder->dropped)
			continue;
		for (i = 0; i < un->pins.count && !folder->dropped; i++)
			folder->dropped = un->pins.pin[i].dropped &&
					  is_below(&un->pins.pin[i], folder);
		if (folder->dropped)
			warn("new files in folder '%s' are no longer pinned by --refresh: a file in it was unpinned",
			     folder->path);
	}
}

/* Drops the recorded pins inside @which.  Returns how many of @pins are dropped in total. */
static size_t drop_recorded(struct unpinning *un)
{
	struct spans spans;
	size_t i, dropped = 0;

	if (!spans_make(&spans, un->which, un->count))
		pins_drop(&un->pins, &spans);
	spans_free(&spans);
	drop_folders(un);
	for (i = 0; i < un->pins.count; i++)
		dropped += un->pins.pin[i].dropped;
	return dropped;
}

/* Hold signals: ^C would leave records of pins that no longer exist. */
static int execute_unpin(struct change *change)
{
	sigset_t before;

	signals_hold(&before);
	change_both(change);
	signals_release(&before);
	return fail_code();
}

static int unpin_device(struct unpinning *un)
{
	bool dry_run = option_given(un->args, OPTION_DRY_RUN);
	struct change change = { .dev = &un->dev, .pins = &un->pins };
	size_t dropped;

	if (choose_ranges(un))
		return fail_code();
	dropped = drop_recorded(un);
	change.which = un->which;
	change.count = un->count;
	if (fail_code() || (!dry_run && execute_unpin(&change)))
		return fail_code();
	if (!dropped && !change.deleted && !dry_run)
		return fail(CODE_DEVICE,
			    "no such pin on '%s': 'nearcache ranges %s' lists the pins",
			    un->dev.name, un->dev.name);
	print_record(NULL, un->dev.name);
	print_string("name", NULL, un->dev.name);
	print_number("deleted_ranges", dry_run ? NULL : "deleted ranges",
		     change.deleted);
	print_bytes("needed_bytes", dry_run ? NULL : "pins need",
		    change.room.needed);
	print_bytes("available_bytes", dry_run ? NULL : "may be pinned",
		    change.room.available);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	node_part_print_commands(un->args, &un->homes);
	print_end();
	return 0;
}

static int cmd_unpin(const struct arguments *args)
{
	struct unpinning un = { .args = args };
	int error = check_words(args);

	if (!error)
		error = node_part_find(args, &un.dev, &un.homes);
	if (error)
		return error;
	if (!record_open(&un.pins, &un.dev))
		unpin_device(&un);
	while (un.lefts)
		free(un.left[--un.lefts]);
	free(un.left);
	recorded_free(&un.recorded);
	free(un.which);
	pins_free(&un.pins);
	homes_free(&un.homes);
	dm_device_free(&un.dev);
	return fail_code();
}

const struct verb unpin_verb = {
	.name = "unpin",
	.group = VERBS_DATA,
	.operands = "NAME [TARGET...]",
	.operands_min = 1,
	.operands_max = -1,
	.optional = OPTION_LABEL | OPTION_EVERYTHING | OPTION_FROM | OPTION_EVERYWHERE,
	.changes = true,
	.summary = "remove pins of files, of a label, or all",
	.details =
"unpin removes the ranges that lie in one of the TARGETs. Pinned files and directories\n"
"need not exist any more. Their cached data stays, as ordinary data. --all also removes\n"
"ranges that others than pin added. After a file is unpinned, --refresh pins no more new\n"
"files in its directory.\n"
"\n"
"NAME of a cluster device: the pins on this node. --everywhere prints the command that\n"
"removes those on each other node.\n"
"\n" TARGET_HELP_WHOLE,
	.run = cmd_unpin,
};
