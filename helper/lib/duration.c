// SPDX-License-Identifier: GPL-2.0-only
#include "lib/duration.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/**
 * duration_parse() - read a time span
 * @text: a whole number; of seconds, or with s, m (minutes), h, d or w behind it
 * @seconds: the result, not 0
 *
 * Return: NULL, or what is wrong with @text.
 */
const char *duration_parse(const char *text, unsigned int *seconds)
{
	static const char units[] = "smhdw";
	static const unsigned int factor[] = { 1, 60, 3600, 86400, 604800 };
	unsigned long long number;
	const char *unit = units;
	char *end;

	if (!isdigit((unsigned char)*text))
		return "a time starts with a digit, like 90 (seconds), 30m, 12h or 7d";
	errno = 0;
	number = strtoull(text, &end, 10);
	if (*end)
		unit = strchr(units, *end);
	if (!unit || (*end && end[1]))
		return "its unit is none of s, m, h, d, w";
	if (errno || number > UINT32_MAX / factor[unit - units])
		return "it is longer than 136 years";
	*seconds = (unsigned int)number * factor[unit - units];
	return *seconds ? NULL : "it must not be 0";
}
