// SPDX-License-Identifier: GPL-2.0-only
#include "lib/sanitize.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

/*
 * Returns a copy of @text that JSON can hold, or NULL without memory. The caller frees it. A text
 * that is no UTF-8, has a control character that JSON leaves as it is (0x7f to 0x9f), or begins
 * with a backslash becomes an escaped text: a backslash, then the text with \xHH for each byte that
 * is no UTF-8 or of such a character, and two backslashes for a backslash. text_unescape() reverses
 * it.
 */
char *text_escape(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	char *escaped = malloc(4 * strlen(text) + 2), *to = escaped;
	bool needed = *text == '\\';
	size_t bytes;

	if (!escaped)
		return NULL;
	*to++ = '\\';
	for (; *p; p += bytes) {
		/* JSON has escapes of its own for control characters below 0x20. */
		bytes = *p < 0x20 ? 1 : char_length(p);
		if (!bytes) {
			to += sprintf(to, "\\x%02x", *p);
			needed = true;
			bytes = 1;
			continue;
		}
		if (*p == '\\')
			*to++ = '\\';
		memcpy(to, p, bytes);
		to += bytes;
	}
	*to = '\0';
	return needed ? escaped : strcpy(escaped, text);
}

/*
 * Returns a copy of @text as one word, or NULL without memory. The caller frees it. The word has \xHH
 * for each blank, backslash, and byte of a control character or of no UTF-8. "-" stands for no text,
 * so the text "-" becomes "\x2d".
 */
char *text_escape_word(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	char *word = malloc(4 * strlen(text) + 2), *to = word;
	size_t bytes;

	if (!word)
		return NULL;
	if (!strcmp(text, "-") || !*text)
		return strcpy(word, *text ? "\\x2d" : "-");
	for (; *p; p += bytes) {
		bytes = *p == ' ' || *p == '\\' ? 0 : char_length(p);
		if (bytes)
			to = mempcpy(to, p, bytes);
		else
			to += sprintf(to, "\\x%02x", *p);
		bytes = bytes ? bytes : 1;
	}
	*to = '\0';
	return word;
}

/* Decodes the escape at @p, a backslash. Returns its length, or 0 if it is invalid. */
static size_t take_escape(const char *p, char *byte)
{
	char digits[3] = "";

	*byte = p[1];
	if (p[1] == '\\')
		return 2;
	if (p[1] != 'x' || !isxdigit((unsigned char)p[2]) || !isxdigit((unsigned char)p[3]))
		return 0;
	memcpy(digits, p + 2, 2);
	*byte = (char)strtoul(digits, NULL, 16);
	return *byte ? 4 : 0;
}

/*
 * Decodes in place a text that begins with a backslash, as text_escape() makes it. A text without a
 * second backslash is not from text_escape(), and stays. Returns false, and leaves the text, if an
 * escape is invalid.
 */
bool text_unescape(char *text)
{
	char *p, *to = text, byte;

	if (!strchr(text + 1, '\\'))
		return true;
	for (p = text + 1; *p; p += *p == '\\' ? take_escape(p, &byte) : 1)
		if (*p == '\\' && !take_escape(p, &byte))
			return false;
	for (p = text + 1; *p; *to++ = byte)
		if (*p == '\\')
			p += take_escape(p, &byte);
		else
			byte = *p++;
	*to = '\0';
	return true;
}

/*
 * Removes the end of a line, LF or CR LF, and returns the line without the byte order mark that
 * some editors put at the start of the file. @first: the line is the first one.
 */
char *text_line(char *line, bool first)
{
	size_t length = strlen(line);

	if (length && line[length - 1] == '\n')
		line[--length] = '\0';
	if (length && line[length - 1] == '\r')
		line[--length] = '\0';
	return line + (first && !strncmp(line, "\xef\xbb\xbf", 3) ? 3 : 0);
}
