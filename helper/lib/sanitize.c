// SPDX-License-Identifier: GPL-2.0-only
#include "lib/sanitize.h"

#include <stdint.h>
#include <string.h>

/* Returns the length of a UTF-8 character with the first byte @lead, or 0 if @lead is invalid. */
static size_t lead_length(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead < 0xe0)
		return 2;
	if (lead >= 0xe0 && lead < 0xf0)
		return 3;
	return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/*
 * Returns the length of the character at @p, or 0 if it is invalid. Control characters are invalid,
 * including 0x80 to 0x9f, which a terminal would execute.
 */
static size_t char_length(const unsigned char *p)
{
	static const uint32_t least[] = { 0, 0x20, 0xa0, 0x800, 0x10000 };
	size_t i, bytes = lead_length(*p);
	uint32_t code = *p;

	if (bytes > 1)
		code = *p & (0x7f >> bytes);
	for (i = 1; i < bytes; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (!bytes || code < least[bytes] || code == 0x7f || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000))
		return 0;
	return bytes;
}

/* Returns the number of bytes before the first control character or invalid UTF-8. */
size_t text_check(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t bytes;

	while (*p && (bytes = char_length(p)))
		p += bytes;
	return (size_t)(p - (const unsigned char *)text);
}

/* Replaces control characters and invalid UTF-8 by '?'. Returns @text. */
char *text_clean(char *text)
{
	char *p = text;

	while (*(p += text_check(p)))
		*p++ = '?';
	return text;
}
