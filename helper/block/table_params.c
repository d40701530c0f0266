// SPDX-License-Identifier: GPL-2.0-only
#include "block/table_params.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#define FILL_MEMORY_MIN	(1ULL << 20)
#define FILL_MEMORY_MAX	(1ULL << 40)

/* Milliseconds. */
#define CACHE_TIMEOUT_MIN	100U
#define CACHE_TIMEOUT_MAX	600000U

/* Seconds. */
#define ORIGIN_TIMEOUT_MAX	86400U

bool params_fill_memory_ok(uint64_t bytes)
{
	return bytes >= FILL_MEMORY_MIN && bytes <= FILL_MEMORY_MAX;
}

static bool number_parse(const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && !errno;
}

/* Parse digits. This and the next two functions return false if the target refuses the value. */
bool params_cache_timeout_parse(const char *text, unsigned int *ms)
{
	uint64_t number;

	if (!number_parse(text, &number) || number > CACHE_TIMEOUT_MAX ||
	    (number && number < CACHE_TIMEOUT_MIN))
		return false;
	*ms = number;
	return true;
}

bool params_origin_timeout_parse(const char *text, unsigned int *seconds)
{
	uint64_t number;

	if (!number_parse(text, &number) || number > ORIGIN_TIMEOUT_MAX)
		return false;
	*seconds = number;
	return true;
}

bool params_verify_parse(const char *text, unsigned int *hits)
{
	uint64_t number;

	if (!number_parse(text, &number) || number > UINT_MAX)
		return false;
	*hits = number;
	return true;
}

unsigned int params_cache_timeout(const struct params *params)
{
	return params->cache_timeout_given ? params->cache_timeout :
					     PARAMS_CACHE_TIMEOUT_DEFAULT;
}

/* Parse a device number as the kernel prints it: "253:0". */
static bool device_parse(const char *text, dev_t *device)
{
	unsigned int major_number, minor_number;
	int used = 0;

	if (sscanf(text, "%u:%u%n", &major_number, &minor_number, &used) != 2 ||
	    text[used])
		return false;
	*device = makedev(major_number, minor_number);
	return true;
}

static bool take_option(struct params *params, const char *name,
			const char *value)
{
	size_t used = strlen(params->others);

	if (!strcmp(name, "fill_memory"))
		return number_parse(value, &params->fill_memory);
	if (!strcmp(name, "cache_timeout")) {
		params->cache_timeout_given = true;
		return params_cache_timeout_parse(value,
						  &params->cache_timeout);
	}
	if (!strcmp(name, "origin_timeout")) {
		params->origin_timeout_given = true;
		return params_origin_timeout_parse(value,
						   &params->origin_timeout);
	}
	if (!strcmp(name, "verify")) {
		params->verify_given = true;
		return params_verify_parse(value, &params->verify);
	}
	if (!strcmp(name, "witness"))
		return device_parse(value, &params->witness);
	if (!strcmp(name, "member"))
		return params->members < NEARCACHE_MEMBERS_MAX - 1 &&
		       device_parse(value, &params->member[params->members++]);
	if (snprintf(params->others + used, sizeof(params->others) - used,
		     " %s %s", name, value) >= sizeof(params->others) - used)
		return false;
	params->other_words += 2;
	return true;
}

/* Parse the number of words and the options: "2 fill_memory 67108864". Without options: "". */
static bool parse_options(const char *text, struct params *params)
{
	unsigned int words, i;
	int used;

	if (!text[strspn(text, " ")])
		return true;
	if (sscanf(text, " %u%n", &words, &used) != 1)
		return false;
	for (i = 0; i < words; i += 2) {
		char name[32], value[64];

		text += used;
		if (sscanf(text, " %31s %63s%n", name, value, &used) != 2 ||
		    !take_option(params, name, value))
			return false;
	}
	return true;
}

/*
 * Parse parameters as 'dmsetup table' shows them, without the target's name. Returns false if they
 * cannot be parsed. Options that this command does not know go to @params->others.
 */
bool params_parse(const char *text, struct params *params)
{
	unsigned int origin_major, origin_minor, cache_major, cache_minor;
	char mode[32];
	int used;

	memset(params, 0, sizeof(*params));
	if (sscanf(text, "%31s %u:%u %u:%u%n", mode, &origin_major,
		   &origin_minor, &cache_major, &cache_minor, &used) != 5 ||
	    !mode_parse(mode, &params->mode))
		return false;
	params->origin = makedev(origin_major, origin_minor);
	params->cache = makedev(cache_major, cache_minor);
	return parse_options(text + used, params);
}

bool params_same_members(const struct params *a, const struct params *b)
{
	unsigned int i;

	for (i = 0; i < a->members && i < b->members; i++)
		if (a->member[i] != b->member[i])
			return false;
	return a->members == b->members;
}

/* True if both texts can be parsed and mean the same. The order of their options may differ. */
bool params_same(const char *a, const char *b)
{
	struct params of_a, of_b;

	return params_parse(a, &of_a) && params_parse(b, &of_b) &&
	       of_a.mode == of_b.mode && of_a.origin == of_b.origin &&
	       of_a.cache == of_b.cache &&
	       of_a.fill_memory == of_b.fill_memory &&
	       of_a.cache_timeout_given == of_b.cache_timeout_given &&
	       of_a.cache_timeout == of_b.cache_timeout &&
	       of_a.origin_timeout_given == of_b.origin_timeout_given &&
	       of_a.origin_timeout == of_b.origin_timeout &&
	       of_a.verify_given == of_b.verify_given &&
	       of_a.verify == of_b.verify && of_a.witness == of_b.witness &&
	       params_same_members(&of_a, &of_b) &&
	       !strcmp(of_a.others, of_b.others);
}

/*
 * Write the parameters to @text (PARAMS_TEXT bytes) and return it. Devices are numbers, because a
 * path may contain blanks.
 */
const char *params_print(const struct params *params, char *text)
{
	unsigned int words = params->other_words +
			     (params->fill_memory ? 2 : 0) +
			     (params->cache_timeout_given ? 2 : 0) +
			     (params->origin_timeout_given ? 2 : 0) +
			     (params->verify_given ? 2 : 0) +
			     (params->witness ? 2 : 0) + 2 * params->members;
	unsigned int i;
	int used;

	used = snprintf(text, PARAMS_TEXT, "%s %u:%u %u:%u",
			mode_word(params->mode), major(params->origin),
			minor(params->origin), major(params->cache),
			minor(params->cache));
	if (words)
		used += snprintf(text + used, PARAMS_TEXT - used, " %u", words);
	if (params->fill_memory)
		used += snprintf(text + used, PARAMS_TEXT - used,
				 " fill_memory %llu",
				 (unsigned long long)params->fill_memory);
	if (params->cache_timeout_given)
		used += snprintf(text + used, PARAMS_TEXT - used,
				 " cache_timeout %u", params->cache_timeout);
	if (params->origin_timeout_given)
		used += snprintf(text + used, PARAMS_TEXT - used,
				 " origin_timeout %u", params->origin_timeout);
	if (params->verify_given)
		used += snprintf(text + used, PARAMS_TEXT - used,
				 " verify %u", params->verify);
	if (params->witness)
		used += snprintf(text + used, PARAMS_TEXT - used,
				 " witness %u:%u", major(params->witness),
				 minor(params->witness));
	for (i = 0; i < params->members; i++)
		used += snprintf(text + used, PARAMS_TEXT - used,
				 " member %u:%u", major(params->member[i]),
				 minor(params->member[i]));
	snprintf(text + used, PARAMS_TEXT - used, "%s", params->others);
	return text;
}
