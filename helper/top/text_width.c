// SPDX-License-Identifier: GPL-2.0-only
#include "top/text_width.h"

#include <limits.h>
#include <string.h>
#include <wchar.h>

/* Marks the end of a text that was cut, as in top(1). */
#define CUT	'+'

/*
 * The first character of a text. @width: columns of the terminal. If not @shown, the locale cannot
 * print the character, so '?' replaces it.
 */
struct character {
	size_t bytes;
	size_t width;
	int shown;
};

static struct character first_character(const char *text)
{
	struct character character = { 1, 1, 0 };
	mbstate_t state = { 0 };
	wchar_t wide;
	size_t left = strnlen(text, MB_LEN_MAX);
	size_t bytes = mbrtowc(&wide, text, left, &state);
	int width;

	if (!bytes || bytes > left)
		return character;
	character.bytes = bytes;
	width = wcwidth(wide);
	character.shown = width >= 0;
	if (width >= 0)
		character.width = (size_t)width;
	return character;
}

/*
 * Returns the columns of the terminal that a text takes. @text is in the locale's encoding,
 * without control characters. Invalid bytes are shown as '?'.
 */
size_t width_of(const char *text)
{
	size_t width = 0;

	while (*text) {
		struct character character = first_character(text);

		width += character.width;
		text += character.bytes;
	}
	return width;
}

/*
 * Copies as much of a text as fits into @width columns and @room bytes (not 0). If the text is
 * cut, its last column shows CUT. Returns the columns used.
 */
size_t width_copy(const char *text, size_t width, char *to, size_t room)
{
	size_t most = width_of(text) > width && width ? width - 1 : width;
	size_t used = 0, columns = 0;

	while (*text) {
		struct character character = first_character(text);
		size_t bytes = character.shown ? character.bytes : 1;

		if (columns + character.width > most || used + bytes + 2 > room)
			break;
		if (character.shown)
			memcpy(to + used, text, bytes);
		else
			to[used] = '?';
		used += bytes;
		columns += character.width;
		text += character.bytes;
	}
	if (*text && columns < width) {
		to[used++] = CUT;
		columns++;
	}
	to[used] = '\0';
	return columns;
}
