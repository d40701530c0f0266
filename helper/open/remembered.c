// SPDX-License-Identifier: GPL-2.0-only
/* Gives remembered settings to a cache that is opened, and remembers those that a command changes. */
#include "open/remembered.h"

#include <string.h>

#include "block/dm.h"
#include "cli/option_table.h"
#include "cli/setting.h"
#include "lib/error.h"
#include "lib/sanitize.h"

static void copy_options(struct arguments *to, const struct arguments *from, option_set which)
{
	const struct option_row *row;

	for (row = option_table; row->bit; row++)
		if (row->bit & which)
			memcpy((char *)to + row->offset, (const char *)from + row->offset,
			       option_value_size(row->value));
	to->given |= which;
}

/* Drop the mode if it writes to the origin. */
void remembered_drop_writing_mode(struct remembered *r)
{
	if (mode_writes(r->args.mode))
		r->args.given &= ~(option_set)OPTION_MODE;
}

/*
 * Give @args each setting that its user does not give. Afterwards @r has only the settings that are
 * in force. The witness is up to the caller. @staged: the cache has a stage.
 */
void remembered_apply(struct remembered *r, struct arguments *args, bool staged)
{
	option_set known = REMEMBERED_OPTIONS;

	if (!staged)
		known &= ~(option_set)REMEMBERED_STAGE;
	if (option_given(args, OPTION_READ_ONLY))
		known &= ~(option_set)OPTION_MODE;
	r->args.given &= known & ~args->given;
	copy_options(args, &r->args, r->args.given);
}

/* Take the settings among the options of a command, but none of a line of nearcachetab. */
static void take_options(struct remembered *r, const struct arguments *args)
{
	option_set given = args->given & ~args->of_line;

	if (given & OPTION_WRITEBACK) {
		/* writeback is the default with a stage, and there is none without a stage. */
		given &= ~(option_set)OPTION_MODE;
		r->args.given &= ~(option_set)OPTION_MODE;
	}
	copy_options(&r->args, args, given & REMEMBERED_OPTIONS);
	if (given & OPTION_READ_ONLY)
		copy_options(&r->args, args, OPTION_MODE);
}

static void change_options(struct remembered *r, const void *arg)
{
	const struct arguments *args = arg;

	take_options(r, args);
}

/* Remember the options of a command. */
void remembered_options(const char *uuid, const char *name, const struct arguments *args)
{
	remembered_change(uuid, name, REMEMBERED_ATTACHED, change_options, args);
}

struct opened {
	const struct arguments *args;
	bool drop_witness;
};

static void change_opened(struct remembered *r, const void *arg)
{
	const struct opened *opened = arg;

	/* The device has the uuid of the cache that it was opened with. */
	*r->attached = '\0';
	if (opened->drop_witness)
		*r->witness = *r->before = '\0';
	/* The mode was meant for the stage. */
	if (option_given(opened->args, OPTION_ABANDON_STAGE))
		remembered_drop_writing_mode(r);
	take_options(r, opened->args);
}

/*
 * Remember the options of an open. @drop_witness: the superblock names the witness now. --forget
 * drops the settings that were remembered before.
 */
void remembered_opened(const char *uuid, const char *name, const struct arguments *args,
		       bool drop_witness)
{
	const struct opened opened = { args, drop_witness };

	remembered_change(uuid, name,
			  option_given(args, OPTION_FORGET) ? REMEMBERED_NONE : REMEMBERED_FILE,
			  change_opened, &opened);
}

struct words {
	char **word;
	int count;
	bool ahead;
};

/* The command has checked @word. "auto" is a word of the command only, for the default. */
static void change_word(struct remembered *r, const char *word, bool ahead)
{
	size_t length = strcspn(word, "=");

	if (setting_is("witness", word, length) || setting_is("read_ahead", word, length) != ahead)
		return;
	if (setting_is("fill_memory", word, length) && !strcmp(word + length, "=auto"))
		r->args.given &= ~(option_set)OPTION_FILL_MEMORY;
	else
		remembered_take(r, word, length, word + length + 1);
}

static void change_words(struct remembered *r, const void *arg)
{
	const struct words *words = arg;
	int i;

	for (i = 0; i < words->count; i++)
		change_word(r, words->word[i], words->ahead);
}

/*
 * Remember settings that the device has now. Each of @words is "NAME=VALUE". @ahead: only the
 * read-ahead, otherwise all others. The witness is up to remembered_witness().
 */
void remembered_words(const char *uuid, const char *name, char **words, int count, bool ahead)
{
	const struct words change = { words, count, ahead };

	remembered_change(uuid, name, REMEMBERED_ATTACHED, change_words, &change);
}

struct new_witness {
	const char *path;
	const char *recorded;
};

static void change_witness(struct remembered *r, const void *arg)
{
	const struct new_witness *new = arg;

	*r->witness = *r->before = '\0';
	if (!strcmp(new->path, *new->recorded ? new->recorded : WITNESS_NONE) ||
	    strlen(new->path) >= sizeof(r->witness) || new->path[text_check(new->path)])
		return;
	strcpy(r->witness, new->path);
	strcpy(r->before, new->recorded);
}

/*
 * Remember the witness that 'nearcache set' gave to a device, a path or "none". Only close writes it to
 * the superblock, which still names the witness @recorded ("": none).
 */
void remembered_witness(const char *uuid, const char *name, const char *witness, const char *recorded)
{
	const struct new_witness new = { witness, recorded };

	remembered_change(uuid, name, REMEMBERED_ATTACHED, change_witness, &new);
}

static void copy_settings(struct remembered *r, const void *arg)
{
	const struct remembered *from = arg;

	*r = *from;
	/* attach has written the witness of the device to the superblock of its new cache. */
	*r->witness = *r->before = *r->attached = '\0';
}

static void point_to(struct remembered *r, const void *arg)
{
	strcpy(r->attached, arg);
}

/*
 * 'nearcache attach' gave the cache @now to the device that was opened with the cache @uuid. The
 * next open will use @now: give @now the settings of the device. A crash between the two files
 * leaves both caches with the same settings.
 */
void remembered_attached(const char *uuid, const char *name, const char *now)
{
	char last[SUPER_UUID_TEXT];
	struct remembered r;

	snprintf(last, sizeof(last), "%s", uuid);
	if (!remembered_load(&r, uuid) && *r.attached) {
		strcpy(last, r.attached);
		remembered_load(&r, last);
	}
	if (fail_code())
		warn("%s; the cache that is attached to '%s' gets no settings", fail_message(), name);
	else if (strcmp(last, now))
		remembered_change(now, name, REMEMBERED_NONE, copy_settings, &r);
	fail_reset();
	if (strcmp(uuid, now))
		remembered_change(uuid, name, REMEMBERED_FILE, point_to, now);
}

/* Return the uuid of the cache in the device-mapper uuid @dm_uuid; NULL: no nearcache device. */
const char *remembered_uuid(const char *dm_uuid)
{
	size_t prefix = strlen(DM_UUID_PREFIX);

	return strncmp(dm_uuid, DM_UUID_PREFIX, prefix) ? NULL : dm_uuid + prefix;
}
