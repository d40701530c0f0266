// SPDX-License-Identifier: GPL-2.0-only
#include "lib/size.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char size_units[] = "KMGTPE";

/*
 * Parses a unit as util-linux does: nothing, B, or one of K M G T P E. K alone and KiB mean 1024,
 * KB means 1000; the same goes for the powers M to E.
 */
static bool parse_unit(const char *unit, uint64_t *factor)
{
	const char *place;
	uint64_t base = 1024;
	size_t power;

	*factor = 1;
	if (!*unit || !strcasecmp(unit, "B"))
		return true;
	place = strchr(size_units, toupper((unsigned char)*unit));
	if (!place)
		return false;
	if (!strcasecmp(unit + 1, "B"))
		base = 1000;
	else if (unit[1] && strcasecmp(unit + 1, "iB"))
		return false;
	for (power = place - size_units + 1; power; power--)
		*factor *= base;
	return true;
}

/*
 * Parses a whole number with an optional unit. If @text is invalid, returns false with the reason
 * in @why.
 */
bool size_parse(const char *text, uint64_t *bytes, const char **why)
{
	unsigned long long number;
	uint64_t factor;
	char *end;

	/* strtoull() would accept a sign and leading blanks. */
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
		*why = "its unit must be K, M, G, T, P or E";
		return false;
	}
	if (errno == ERANGE || __builtin_mul_overflow(number, factor, bytes)) {
		*why = "it does not fit in 64 bits";
		return false;
	}
	return true;
}

/*
 * Fills @text (SIZE_TEXT bytes) and returns it. Whole multiples of a binary unit are exact, other
 * sizes have one decimal.
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
			 (double)bytes / (double)unit, size_units[power]);
	else
		snprintf(text, SIZE_TEXT, "%llu %ciB",
			 (unsigned long long)(bytes / unit), size_units[power]);
	return text;
}

/*
 * Fills @text (SIZE_TEXT bytes) and returns it: a whole number of the largest unit that divides
 * @bytes, as size_parse() accepts it, like 1536M.
 */
const char *size_exact(uint64_t bytes, char *text)
{
	int power = -1;

	while (bytes && bytes % 1024 == 0 && power < 5) {
		bytes /= 1024;
		power++;
	}
	snprintf(text, SIZE_TEXT, "%llu%.*s", (unsigned long long)bytes, power >= 0,
		 size_units + (power >= 0 ? power : 0));
	return text;
}

/* Size of the longest bandwidth with NUL. */
#define WORD_MAX	40

/* Returns whether a bandwidth is in bits: it ends with "b" or "bit". Removes that ending. */
static bool is_bits(char *word)
{
	size_t length = strlen(word);

	if (length > 3 && !strcmp(word + length - 3, "bit")) {
		word[length - 3] = '\0';
		return true;
	}
	if (length > 1 && word[length - 1] == 'b') {
		word[length - 1] = '\0';
		return true;
	}
	return false;
}

/*
 * Parses a bandwidth. Bytes per second are written as a size. Bits per second are written as a
 * number, an optional K, M, G or T (powers of 1000), and b or bit. "/s" may follow in both cases.
 */
const char *bandwidth_parse(const char *text, uint64_t *bytes)
{
	size_t length = strlen(text);
	const char *why = NULL;
	char word[WORD_MAX];
	bool bits;

	if (length > 2 && !strcmp(text + length - 2, "/s"))
		length -= 2;
	if (length > sizeof(word) - 2)
		return "it is too long; write it like 40Gb/s (bits) or 5GB/s (bytes)";
	memcpy(word, text, length);
	word[length] = '\0';
	bits = is_bits(word);
	/* "40Gb" is now "40G". With B, size_parse() uses powers of 1000, as bandwidths do. */
	if (bits && isalpha((unsigned char)word[strlen(word) - 1]))
		strcat(word, "B");
	if (!size_parse(word, bytes, &why))
		return why;
	if (bits)
		*bytes /= 8;
	return *bytes ? NULL : "it must be at least one byte per second";
}

/* Parses a whole number and an optional unit: s (the default), m (minutes), h, d or w. */
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
		return "its unit must be s, m, h, d or w";
	if (errno || number > UINT32_MAX / factor[unit - units])
		return "it is longer than 136 years";
	*seconds = (unsigned int)number * factor[unit - units];
	return *seconds ? NULL : "it must not be 0";
}
