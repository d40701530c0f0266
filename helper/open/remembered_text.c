// SPDX-License-Identifier: GPL-2.0-only
/* Parses and prints the settings of a cache. */
#include "open/remembered.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <uuid/uuid.h>

#include "block/readahead.h"
#include "block/stage_params.h"
#include "block/table_params.h"
#include "cli/option_table.h"
#include "cli/setting.h"
#include "lib/error.h"
#include "lib/sanitize.h"
#include "lib/size.h"

#define READ_AHEAD	"read_ahead"
#define ADVICE		"correct this line or remove it, or drop all settings of the cache with 'nearcache open --forget'"

/* The options, in the order of the file. The file also has the words of take_own(). */
static const struct key {
	const char *name;
	option_set bit;
	const char *unit;
} keys[] = {
	{ "mode", OPTION_MODE, "" },
	{ "fill_memory", OPTION_FILL_MEMORY, "" },
	{ "cache_timeout", OPTION_CACHE_TIMEOUT, " ms" },
	{ "origin_timeout", OPTION_ORIGIN_TIMEOUT, " s" },
	{ "verify", OPTION_VERIFY, "" },
	{ "rate", OPTION_DRAIN_RATE, "" },
	{ "max_behind", OPTION_MAX_BEHIND, "" },
	{ "on_full", OPTION_ON_FULL, "" },
};

#define KEYS	(sizeof(keys) / sizeof(keys[0]))

static const struct option_row *row_of(const struct key *key)
{
	const struct option_row *row = option_table;

	while (row->bit != key->bit)
		row++;
	return row;
}

/* Return NULL, or the reason why @value is invalid. */
static const char *take_option(struct remembered *r, const struct key *key, const char *value)
{
	const struct option_row *row = row_of(key);
	const char *why;

	if (row->value == MODE && !mode_parse(value, &r->args.mode))
		return "give " MODE_WORDS;
	why = row->value == MODE ? NULL :
	      option_value_take((char *)&r->args + row->offset, row->value, value);
	if (!why && key->bit == OPTION_FILL_MEMORY && !params_fill_memory_ok(r->args.fill_memory))
		return "give " PARAMS_FILL_MEMORY_RANGE;
	r->args.given |= key->bit;
	return why;
}

static const char *take_text(char *to, size_t size, const char *value)
{
	if (strlen(value) >= size)
		return "it is too long";
	strcpy(to, value);
	return NULL;
}

static const char *take_uuid(char *to, const char *value)
{
	uuid_t uuid;

	return uuid_parse(value, uuid) ? "it is no uuid" : take_text(to, SUPER_UUID_TEXT, value);
}

/* True if the first @length bytes of @word are @name, which has no '_'. */
static bool is_word(const char *name, const char *word, size_t length)
{
	return strlen(name) == length && !strncmp(name, word, length);
}

/* Take a word that is no option. Return NULL, or the reason why it is invalid. */
static const char *take_own(struct remembered *r, const char *word, size_t length,
			    const char *value)
{
	const char *why;

	if (setting_is(READ_AHEAD, word, length)) {
		r->ahead_given = true;
		return readahead_parse(value, &r->read_ahead) ? NULL : "give " READAHEAD_RANGE;
	}
	if (is_word("name", word, length))
		return name_check(value, &why) ? take_text(r->name, sizeof(r->name), value) : why;
	if (is_word("witness", word, length))
		return *value ? take_text(r->witness, sizeof(r->witness), value) :
				"give a device, or none";
	if (is_word("before", word, length))
		return take_text(r->before, sizeof(r->before), value);
	if (is_word("attached", word, length))
		return take_uuid(r->attached, value);
	return "it is not a setting that this version knows";
}

/*
 * Take the setting @value. The first @length bytes of @word are its name, in which '-' stands for
 * '_'. Return NULL, or the reason why it is invalid.
 */
const char *remembered_take(struct remembered *r, const char *word, size_t length,
			    const char *value)
{
	size_t i;

	for (i = 0; i < KEYS; i++)
		if (setting_is(keys[i].name, word, length))
			return take_option(r, &keys[i], value);
	return take_own(r, word, length, value);
}

static bool is_given(const struct remembered *r, const char *word, size_t length)
{
	size_t i;

	for (i = 0; i < KEYS; i++)
		if (setting_is(keys[i].name, word, length))
			return option_given(&r->args, keys[i].bit);
	return (r->ahead_given && setting_is(READ_AHEAD, word, length)) ||
	       (*r->name && is_word("name", word, length)) ||
	       (*r->witness && is_word("witness", word, length)) ||
	       (*r->before && is_word("before", word, length)) ||
	       (*r->attached && is_word("attached", word, length));
}

static int take_line(struct remembered *r, const char *path, unsigned int number, const char *line)
{
	size_t length = strcspn(line, "=");
	const char *why;

	if (!*line || *line == '#')
		return 0;
	if (line[text_check(line)])
		return fail(CODE_DEVICE, "'%s' line %u: it has a control character or invalid UTF-8: " ADVICE,
			    path, number);
	if (!line[length])
		return fail(CODE_DEVICE, "'%s' line %u: '%s' is not of the form SETTING=VALUE: " ADVICE,
			    path, number, line);
	why = is_given(r, line, length) ? "it is set twice" :
	      remembered_take(r, line, length, line + length + 1);
	return why ? fail(CODE_DEVICE, "'%s' line %u: '%s': %s: " ADVICE, path, number, line, why) : 0;
}

/*
 * Parse a file. @path: its name for messages; @text: its content, which is overwritten. After a failure
 * there are no settings.
 */
int remembered_parse(struct remembered *r, const char *path, char *text)
{
	unsigned int number = 0;
	char *line;

	memset(r, 0, sizeof(*r));
	while ((line = strsep(&text, "\n")))
		if (take_line(r, path, ++number, line)) {
			memset(r, 0, sizeof(*r));
			return fail_code();
		}
	return 0;
}

static void print_limit(char *to, size_t size, const struct stage_limit *limit)
{
	if (limit->seconds)
		snprintf(to, size, "%us", limit->seconds);
	else
		snprintf(to, size, "%" PRIu64, limit->bytes);
}

/* @units: print for people. */
static void print_size(char *to, size_t size, uint64_t bytes, bool units)
{
	char text[SIZE_TEXT];

	if (units)
		snprintf(to, size, "%s", size_print(bytes, text));
	else
		snprintf(to, size, "%" PRIu64, bytes);
}

static void print_option(const struct remembered *r, const struct key *key, bool units, char *to,
			 size_t size)
{
	const struct option_row *row = row_of(key);
	const void *place = (const char *)&r->args + row->offset;

	switch (row->value) {
	case MODE:
		snprintf(to, size, "%s", mode_word(r->args.mode));
		break;
	case SIZE:
	case DRAIN_RATE:
		print_size(to, size, *(const uint64_t *)place, units);
		break;
	case STAGE_LIMIT:
		if (units && !r->args.max_behind.seconds)
			print_size(to, size, r->args.max_behind.bytes, true);
		else
			print_limit(to, size, &r->args.max_behind);
		break;
	case ON_FULL:
		snprintf(to, size, "%s", stage_on_full_word(r->args.on_full));
		break;
	default:
		snprintf(to, size, "%u%s", *(const unsigned int *)place, units ? key->unit : "");
	}
}

/* Append "NAME=VALUE" to @text (REMEMBERED_TEXT bytes), after @between unless @text is empty. */
static void add_word(char *text, const char *between, const char *name, const char *value)
{
	size_t used = strlen(text);

	snprintf(text + used, REMEMBERED_TEXT - used, "%s%s=%s", used ? between : "", name, value);
}

static void add_settings(const struct remembered *r, bool units, const char *between, char *text)
{
	char value[64];
	size_t i;

	for (i = 0; i < KEYS; i++) {
		if (!option_given(&r->args, keys[i].bit))
			continue;
		print_option(r, &keys[i], units, value, sizeof(value));
		add_word(text, between, keys[i].name, value);
	}
	if (r->ahead_given) {
		print_size(value, sizeof(value), r->read_ahead, units);
		add_word(text, between, READ_AHEAD, value);
	}
	if (*r->witness)
		add_word(text, between, "witness", r->witness);
}

/* Print the settings in one line to @text, "" if there are none. @units: for people. */
char *remembered_describe(const struct remembered *r, bool units, char *text)
{
	*text = '\0';
	add_settings(r, units, units ? ", " : " ", text);
	return text;
}

/* Print the content of the file to @text, "" if the cache needs none. */
char *remembered_print(const struct remembered *r, char *text)
{
	*text = '\0';
	add_settings(r, false, "\n", text);
	if (*r->witness)
		add_word(text, "\n", "before", r->before);
	if (*r->attached)
		add_word(text, "\n", "attached", r->attached);
	if (*text && *r->name)
		add_word(text, "\n", "name", r->name);
	if (*text)
		strcat(text, "\n");
	return text;
}
