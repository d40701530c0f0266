// SPDX-License-Identifier: GPL-2.0-only
#include "block/stage_params.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "lib/size.h"
#include "lib/table_words.h"

#define RATE_MIN	65536ULL
#define RATE_MAX	(1ULL << 40)
#define BEHIND_MIN	(1ULL << 20)
#define TIME_MAX	86400U

static bool next_device(const char **text, dev_t *number)
{
	unsigned int major_number, minor_number;
	char word[32];
	int end = 0;

	if (!table_word(text, word, sizeof(word)) ||
	    sscanf(word, "%u:%u%n", &major_number, &minor_number, &end) != 2 || word[end])
		return false;
	*number = makedev(major_number, minor_number);
	return true;
}

static const char *const on_full_words[] = { "wait", "writethrough" };

/* Returns false for an unknown word. */
bool stage_on_full_parse(const char *text, unsigned int *on_full)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (!strcmp(text, on_full_words[i])) {
			*on_full = i;
			return true;
		}
	return false;
}

const char *stage_on_full_word(unsigned int on_full)
{
	return on_full_words[on_full];
}

/* Options of a newer module are ignored. */
static void take_option(void *to, const char *name, const char *word, uint64_t value)
{
	struct stage_params *params = to;

	if (!strcmp(name, "rate"))
		params->rate = value;
	else if (!strcmp(name, "max_behind"))
		params->max_behind.bytes = value;
	else if (!strcmp(name, "max_behind_time"))
		params->max_behind.seconds = (unsigned int)value;
	else if (!strcmp(name, "origin_timeout"))
		params->origin_timeout = (unsigned int)value;
	else if (!strcmp(name, "on_full"))
		stage_on_full_parse(word, &params->on_full);
	else if (!strcmp(name, "keep_retained"))
		params->keep_retained = value;
}

/* Parse the words behind the name of the target.  Returns false if they are no table line of it. */
bool stage_params_parse(const char *text, struct stage_params *params)
{
	memset(params, 0, sizeof(*params));
	return next_device(&text, &params->log) && next_device(&text, &params->origin) &&
	       table_options(text, take_option, params);
}

static void add_word(char *text, const char *name, const char *word, unsigned int *words)
{
	size_t used = strlen(text);

	snprintf(text + used, STAGE_PARAMS_TEXT - used, " %s %s", name, word);
	*words += 2;
}

static void add_option(char *text, const char *name, uint64_t value, unsigned int *words)
{
	char word[24];

	if (!value)
		return;
	snprintf(word, sizeof(word), "%" PRIu64, value);
	add_word(text, name, word, words);
}

static const char *print_line(dev_t log, dev_t origin, unsigned int words, const char *options,
			      char *text)
{
	int used = snprintf(text, STAGE_PARAMS_TEXT, "%u:%u %u:%u", major(log), minor(log),
			    major(origin), minor(origin));

	if (words)
		snprintf(text + used, STAGE_PARAMS_TEXT - (size_t)used, " %u%.190s", words, options);
	return text;
}

/* Print the words behind the name of the target.  @text has STAGE_PARAMS_TEXT bytes. */
const char *stage_params_print(const struct stage_params *params, char *text)
{
	char options[STAGE_PARAMS_TEXT] = "";
	unsigned int words = 0;

	add_option(options, "rate", params->rate, &words);
	add_option(options, "max_behind", params->max_behind.bytes, &words);
	add_option(options, "max_behind_time", params->max_behind.seconds, &words);
	add_option(options, "origin_timeout", params->origin_timeout, &words);
	add_option(options, "drop_unreadable", params->drop_unreadable, &words);
	if (params->on_full)
		add_word(options, "on_full", stage_on_full_word(params->on_full), &words);
	add_option(options, "keep_retained", params->keep_retained, &words);
	return print_line(params->log, params->origin, words, options, text);
}

struct moved {
	char options[STAGE_PARAMS_TEXT];
	unsigned int words;
};

static void move_option(void *to, const char *name, const char *word, uint64_t value)
{
	struct moved *moved = to;

	(void)value;
	if (strcmp(name, "keep_retained"))
		add_word(moved->options, name, word, &moved->words);
}

/*
 * Print the table line @table, which stage_params_parse() accepts, to @text (STAGE_PARAMS_TEXT bytes),
 * with another origin.  Options that this program does not know stay.  keep_retained does not: its
 * proof was for an origin that was not away.
 */
const char *stage_params_move(const char *table, dev_t origin, char *text)
{
	struct moved moved = { .words = 0 };
	dev_t log = 0, old;

	if (next_device(&table, &log) && next_device(&table, &old))
		table_options(table, move_option, &moved);
	return print_line(log, origin, moved.words, moved.options, text);
}

/* Parse a rate of --rate; 0: no limit.  Returns NULL, or the reason why @text is not valid. */
const char *stage_rate_parse(const char *text, uint64_t *rate)
{
	const char *why;

	if (!size_parse(text, rate, &why))
		return why;
	return !*rate || (*rate >= RATE_MIN && *rate <= RATE_MAX) ? NULL :
	       "give " STAGE_RATE_RANGE;
}

/*
 * Parse a limit of --max-behind: a size, or a time, which ends with s, m, h or d.  A size has a
 * capital unit here, so that 10m means minutes and 10M bytes.  "0" sets both to 0.  Returns NULL, or
 * the reason why @text is not valid.
 */
const char *stage_limit_parse(const char *text, struct stage_limit *limit)
{
	size_t length = strlen(text);
	const char *why = NULL;

	limit->bytes = 0;
	limit->seconds = 0;
	if (!strcmp(text, "0"))
		return NULL;
	if (length > 1 && strchr("smhd", text[length - 1])) {
		why = duration_parse(text, &limit->seconds);
		return why ? why : limit->seconds <= TIME_MAX ? NULL : "give " STAGE_BEHIND_RANGE;
	}
	if (!size_parse(text, &limit->bytes, &why))
		return why;
	return limit->bytes >= BEHIND_MIN && limit->bytes <= INT64_MAX ?
	       NULL : "give " STAGE_BEHIND_RANGE;
}

/* Parse a status line.  Returns false if it is of another version.  A newer module has more fields. */
bool stage_status_parse(const char *line, struct stage_status *status)
{
	memset(status, 0, sizeof(*status));
#define STAGE_STATUS_NEXT(name)				\
	if (!table_number(&line, &status->name))		\
		return false;
	NEARCACHE_STAGE_STATUS(STAGE_STATUS_NEXT)
#undef STAGE_STATUS_NEXT
	return status->version == NEARCACHE_STAGE_STATUS_VERSION;
}

const char *stage_state_word(uint64_t state)
{
	static const char *const word[] = {
		[NEARCACHE_STAGE_NORMAL] = "normal",
		[NEARCACHE_STAGE_RETRIES] = "origin fails",
		[NEARCACHE_STAGE_LOG_BAD] = "log failed",
		[NEARCACHE_STAGE_READ_ONLY] = "read-only",
	};

	return state < sizeof(word) / sizeof(word[0]) ? word[state] : "unknown";
}

const char *stage_mode_word(uint64_t mode)
{
	static const char *const word[] = {
		[NEARCACHE_STAGE_LOGS] = "log",
		[NEARCACHE_STAGE_EMPTIES] = "log, which is being emptied",
		[NEARCACHE_STAGE_PASSES] = "origin",
		[NEARCACHE_STAGE_RETURNS] = "log, after a flush of the origin",
	};

	return mode < sizeof(word) / sizeof(word[0]) ? word[mode] : "unknown";
}

/* Epochs that are not on the origin: the committed ones, and the open one if it has writes. */
uint64_t stage_epochs_behind(const struct stage_status *status)
{
	uint64_t committed = status->committed_epoch > status->drained_epoch ?
			     status->committed_epoch - status->drained_epoch : 0;

	return !committed && status->behind_bytes ? 1 : committed;
}

/* True if the origin has all writes, as of the last commit. */
bool stage_all_drained(const struct stage_status *status)
{
	return !status->behind_bytes && status->committed_epoch <= status->drained_epoch;
}
