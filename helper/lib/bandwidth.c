// SPDX-License-Identifier: GPL-2.0-only
#include "lib/bandwidth.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "lib/size.h"

/* Longest word that is one. */
#define WORD_MAX	40

/* Bits end with a small b, or with "bit". */
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

/**
 * bandwidth_parse() - read a bandwidth
 * @text: a size as size_parse() reads it: bytes; or with b or bit behind K, M, G, T
 *	(powers of 1000): bits.  "/s" may follow
 * @bytes: the result, per second, not 0
 *
 * Return: NULL, or what is wrong with @text.
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
	/* Powers of 1000 have a B in sizes; a bare number has not. */
	if (bits && isalpha((unsigned char)word[strlen(word) - 1]))
		strcat(word, "B");
	if (!size_parse(word, bytes, &why))
		return why;
	if (bits)
		*bytes /= 8;
	return *bytes ? NULL : "it must be a byte per second at least";
}
