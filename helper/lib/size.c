// SPDX-License-Identifier: GPL-2.0-only
#include "lib/size.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char units[] = "KMGTPE";

/*
 * What follows the number: nothing, B, or one of K M G T P E alone or with iB
 * (powers of 1024) or with B (powers of 1000), as util-linux reads them.
 */
static bool parse_unit(const char *unit, uint64_t *factor)
{
	const char *place;
	uint64_t base = 1024;
	size_t power;

	*factor = 1;
	if (!*unit || !strcasecmp(unit, "B"))
		return true;
	place = strchr(units, toupper((unsigned char)*unit));
	if (!place)
		return false;
	if (!strcasecmp(unit + 1, "B"))
		base = 1000;
	else if (unit[1] && strcasecmp(unit + 1, "iB"))
		return false;
	for (power = place - units + 1; power; power--)
		*factor *= base;
	return true;
}

/**
 * size_parse() - read a size
 * @text: whole number with an optional unit
 * @bytes: the result
 * @why: on failure: what is wrong with @text
 *
 * Return: whether @text is a size.
 */
bool size_parse(const char *text, uint64_t *bytes, const char **why)
{
	unsigned long long number;
	uint64_t factor;
	char *end;

	/* strtoull() would take a sign and leading blanks. */
	if (!isdigit((unsigned char)*text)) {
		*why = "a size starts with a digit, like 64M or 1T";
		return false;
	}
	errno = 0;
	number = strtoull(text, &end, 10);
	if (*end == '.') {
		*why = "write it as a whole number of a smaller unit";
		return false;
	}
	if (!parse_unit(end, &factor)) {
		*why = "its unit is none of K, M, G, T, P, E";
		return false;
	}
	if (errno == ERANGE || __builtin_mul_overflow(number, factor, bytes)) {
		*why = "it does not fit in 64 bits";
		return false;
	}
	return true;
}

/**
 * size_print() - write a size
 * @bytes: the size
 * @text: SIZE_TEXT bytes to fill
 *
 * Whole numbers of a binary unit are printed exactly, others with one decimal.
 *
 * Return: @text.
 */
const char *size_print(uint64_t bytes, char *text)
{
	uint64_t unit = 1;
	int power = -1;

	while (bytes / unit >= 1024 && power < 5) {
		unit *= 1024;
		power++;
	}
	if (power < 0)
		snprintf(text, SIZE_TEXT, "%llu B", (unsigned long long)bytes);
	else if (bytes % unit)
		snprintf(text, SIZE_TEXT, "%.1f %ciB",
			 (double)bytes / (double)unit, units[power]);
	else
		snprintf(text, SIZE_TEXT, "%llu %ciB",
			 (unsigned long long)(bytes / unit), units[power]);
	return text;
}
