// SPDX-License-Identifier: GPL-2.0-only
/* Settings of a device in use, as "NAME=VALUE" on the command line. */
#include "cli/setting.h"

#include <string.h>

#include "lib/error.h"
#include "block/readahead.h"
#include "lib/size.h"

#define WITNESS		"witness"
#define READ_AHEAD	"read_ahead"

/* The take_* functions return NULL, or the reason why @value is invalid. */
static const char *take_mode(const char *value, struct params *params)
{
	return mode_parse(value, &params->mode) ? NULL : "give " MODE_WORDS;
}

static const char *take_fill_memory(const char *value, struct params *params)
{
	const char *why;

	if (!strcmp(value, "auto")) {
		params->fill_memory = 0;
		return NULL;
	}
	if (!size_parse(value, &params->fill_memory, &why))
		return why;
	return params_fill_memory_ok(params->fill_memory) ?
	       NULL : "give auto, or " PARAMS_FILL_MEMORY_RANGE;
}

static const char *take_cache_timeout(const char *value, struct params *params)
{
	params->cache_timeout_given = true;
	return params_cache_timeout_parse(value, &params->cache_timeout) ?
	       NULL : "give " PARAMS_CACHE_TIMEOUT_RANGE;
}

static const char *take_origin_timeout(const char *value, struct params *params)
{
	params->origin_timeout_given = true;
	return params_origin_timeout_parse(value, &params->origin_timeout) ?
	       NULL : "give " PARAMS_ORIGIN_TIMEOUT_RANGE;
}

static const char *take_verify(const char *value, struct params *params)
{
	params->verify_given = true;
	return params_verify_parse(value, &params->verify) ?
	       NULL : "give " PARAMS_VERIFY_RANGE;
}

/* Only checks @value, which has no place in @params: setting_witness() returns it. */
static const char *take_witness(const char *value, struct params *params)
{
	(void)params;
	return *value ? NULL : "give a device, or none";
}

/* Only checks @value, which has no place in @params: setting_read_ahead() returns it. */
static const char *take_read_ahead(const char *value, struct params *params)
{
	uint64_t bytes;

	(void)params;
	return readahead_parse(value, &bytes) ? NULL : "give " READAHEAD_RANGE;
}

static const struct setting {
	const char *name;
	const char *(*take)(const char *value, struct params *params);
} settings[] = {
	{ "mode", take_mode },
	{ "fill_memory", take_fill_memory },
	{ "cache_timeout", take_cache_timeout },
	{ "origin_timeout", take_origin_timeout },
	{ "verify", take_verify },
	{ WITNESS, take_witness },
	{ READ_AHEAD, take_read_ahead },
};

#define SETTINGS	(sizeof(settings) / sizeof(settings[0]))

/* Returns whether the first @length bytes of @word are @name, where @word may have '-' for '_'. */
bool setting_is(const char *name, const char *word, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (name[i] != (word[i] == '-' ? '_' : word[i]))
			return false;
	return !name[length];
}

static int find_setting(const char *word, size_t length)
{
	unsigned int i;

	for (i = 0; i < SETTINGS; i++)
		if (setting_is(settings[i].name, word, length))
			return (int)i;
	return -1;
}

/* Returns the path of the witness in @words, "none", or NULL if @words do not set the witness. */
const char *setting_witness(char **words, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (!strncmp(words[i], WITNESS "=", strlen(WITNESS "=")))
			return words[i] + strlen(WITNESS "=");
	return NULL;
}

/* Returns whether @words set the read-ahead. @bytes receives the value. */
bool setting_read_ahead(char **words, int count, uint64_t *bytes)
{
	int i;

	for (i = 0; i < count; i++) {
		size_t length = strcspn(words[i], "=");

		if (setting_is(READ_AHEAD, words[i], length))
			return readahead_parse(words[i] + length + 1, bytes);
	}
	return false;
}

/* Checks all @words, and sets those in @params that are parameters of the table. */
int setting_apply(char **words, int count, struct params *params)
{
	unsigned int given = 0;
	int i;

	for (i = 0; i < count; i++) {
		size_t length = strcspn(words[i], "=");
		const char *why;
		int which;

		if (!words[i][length])
			return fail(CODE_USAGE,
				    "'%s' is not a setting: write it as NAME=VALUE, like mode=writethrough",
				    words[i]);
		which = find_setting(words[i], length);
		if (which < 0)
			return fail(CODE_USAGE,
				    "'%.*s' is not a setting: it can be "
				    SETTING_NAMES,
				    (int)length, words[i]);
		if (given & 1U << which)
			return fail(CODE_USAGE, "'%s' is set twice",
				    settings[which].name);
		given |= 1U << which;
		why = settings[which].take(words[i] + length + 1, params);
		if (why)
			return fail(CODE_USAGE, "%s '%s': %s",
				    settings[which].name,
				    words[i] + length + 1, why);
	}
	return 0;
}
