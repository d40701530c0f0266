// SPDX-License-Identifier: GPL-2.0-only
/* The settings that are remembered with a cache that is opened. */
#include "open/opening.h"

#include <limits.h>
#include <string.h>
#include <uuid/uuid.h>

#include "block/dm.h"
#include "block/readahead.h"
#include "lib/error.h"
#include "lib/print.h"

static char *uuid_of(const struct opening *open, char *uuid)
{
	uuid_unparse_lower(open->match.super.best->uuid, uuid);
	return uuid;
}

static void set_witness(struct opening *open, const char *path)
{
	open->with.witness = path;
	open->with.given |= OPTION_WITNESS;
}

/* --forget drops the witness as well, and also a file that cannot be read. */
static void drop_remembered(struct opening *open)
{
	char uuid[SUPER_UUID_TEXT];

	if (remembered_load(&open->remembered, uuid_of(open, uuid)))
		fail_reset();
	if (!option_given(&open->with, OPTION_WITNESS))
		set_witness(open, WITNESS_NONE);
}

/*
 * Use the witness that 'nearcache set' chose, unless the user gives one. If the superblock has got
 * another witness since, that one is newer, and the remembered one is not used.
 */
static void take_witness(struct opening *open)
{
	struct remembered *r = &open->remembered;
	const char *recorded = (const char *)open->match.super.best->witness;

	if (!*r->witness)
		return;
	open->witness_outdated = strcmp(r->before, recorded);
	open->witness_remembered = !open->witness_outdated &&
				   !option_given(&open->with, OPTION_WITNESS);
	if (open->witness_remembered)
		set_witness(open, r->witness);
	else
		*r->witness = '\0';
}

/*
 * Use the remembered settings that the user does not give. The caller has read the superblock,
 * which names the log of the stage, if the cache has one.
 */
int opening_take_remembered(struct opening *open)
{
	const char *id = (const char *)open->match.super.best->origin_id;
	char uuid[SUPER_UUID_TEXT];
	bool staged;

	open->given = open->args;
	open->with = *open->args;
	open->args = &open->with;
	if (option_given(open->given, OPTION_FORGET)) {
		drop_remembered(open);
		return 0;
	}
	if (open->args->no_remembered)
		return 0;
	if (remembered_load(&open->remembered, uuid_of(open, uuid)))
		return fail_code();
	/* A mode that was meant for a stage must not write to the origin without it. */
	if (option_given(open->given, OPTION_ABANDON_STAGE))
		remembered_drop_writing_mode(&open->remembered);
	staged = stage_id_parse(id, open->log) && !option_given(open->given, OPTION_ABANDON_STAGE);
	remembered_apply(&open->remembered, &open->with, staged);
	take_witness(open);
	return 0;
}

/* Called after the start: remember the options of the command for the next open. */
void opening_remember(struct opening *open, const char *name)
{
	bool drop_witness = open->witness_outdated || open->match.witness ||
			    option_given(open->given, OPTION_WITNESS);
	char uuid[SUPER_UUID_TEXT];

	remembered_opened(uuid_of(open, uuid), name, open->given, drop_witness);
}

/* Set the remembered read-ahead. A failure only warns: the device works. */
void opening_set_read_ahead(const struct opening *open, const char *name)
{
	struct dm_device dev;
	bool found;

	if (!open->remembered.ahead_given || option_given(open->given, OPTION_FORGET))
		return;
	if (!dm_find(name, &dev, &found) && found)
		readahead_set(dev.number, open->remembered.read_ahead);
	dm_device_free(&dev);
	if (fail_code())
		warn("%s; device '%s' has the read-ahead that the kernel chose", fail_message(), name);
	fail_reset();
}

/* Called after a check that depends on the mode: add to its error that the mode was remembered. */
int opening_explain_mode(const struct opening *open)
{
	const struct arguments *r = &open->remembered.args;

	if (option_given(open->given, OPTION_FORGET) || !option_given(r, OPTION_MODE) ||
	    !mode_writes(r->mode))
		return fail_code();
	return fail_add("mode %s is remembered from an earlier command: --mode gives another one, --forget drops it",
			mode_word(r->mode));
}

/* Print which settings are in force because they were remembered, or that they were dropped. */
void opening_print_remembered(const struct opening *open)
{
	bool forget = option_given(open->given, OPTION_FORGET);
	char raw[REMEMBERED_TEXT], text[REMEMBERED_TEXT];

	remembered_describe(&open->remembered, false, raw);
	remembered_describe(&open->remembered, true, text);
	print_string("remembered", NULL, !forget && *raw ? raw : NULL);
	print_string("forgotten", NULL, forget && *raw ? raw : NULL);
	print_string(NULL, forget ? "forgotten" : "remembered", *text ? text : NULL);
}
