// SPDX-License-Identifier: GPL-2.0-only
#include "top/width.h"

#include <limits.h>
#include <string.h>
#include <wchar.h>

/* What stands at the end of a text that was cut, as in top(1). */
#define CUT	'+'

/**
 * struct character - the one that a text begins with
 * @bytes: of it
 * @width: columns
 * @shown: the locale has it; else there is a '?' in its place
 */
struct character {
	size_t bytes;
	size_t width;
	int shown;
};

static struct character first(const char *text)
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

/**
 * width_of() - columns that a text takes
 * @text: without control characters, in the locale's encoding; what is not is shown as '?'
 *
 * Return: columns.
 */
size_t width_of(const char *text)
{
	size_t width = 0;

	while (*text) {
		struct character character = first(text);

		width += character.width;
		text += character.bytes;
	}
	return width;
}

/**
 * width_copy() - as much of a text as fits
 * @text: as for width_of()
 * @width: columns that there are; the last one tells that the text was cut
 * @to: the result, with its end
 * @room: bytes of @to, not 0
 *
 * Return: columns that the result takes.
 */
size_t width_copy(const char *text, size_t width, char *to, size_t room)
{
	size_t most = width_of(text) > width && width ? width - 1 : width;
	size_t used = 0, columns = 0;

	while (*text) {
		struct character character = first(text);
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
