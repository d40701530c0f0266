// SPDX-License-Identifier: GPL-2.0-only
#include "lib/redact.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define REMOVED	"(removed)"
/* Characters of a cephx key, and its beginning: the type 1 of the key in base 64. */
#define CEPHX_LENGTH	40
#define CEPHX_BEGIN	"AQ"

/* Names of settings whose value is a secret; a name with one of them as last part counts as well. */
static const char *const secret_names[] = {
	"secret", "secrets", "password", "passwd", "passphrase", "token", "key", "keys", "psk", "chap",
	"credentials", NULL,
};

/* Beginnings of words that are secrets: keys of NVMe-oF for DH-HMAC-CHAP and TLS. */
static const char *const secret_words[] = { "DHHC-1:", "NVMeTLSkey-1:", NULL };

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* True if the name that ends before @end is "...secret", "...-key", and so on. */
static bool is_secret_name(const char *line, const char *end)
{
	const char *start = end, *const *name;

	while (start > line && isalnum((unsigned char)start[-1]))
		start--;
	for (name = secret_names; *name; name++)
		if (strlen(*name) == (size_t)(end - start) && !strncasecmp(start, *name, end - start))
			return true;
	return false;
}

/* Replaces @length bytes at @at by REMOVED. Returns the last byte of it that has room. */
static char *remove_text(char *line, size_t size, char *at, size_t length)
{
	char rest[8192];

	snprintf(rest, sizeof(rest), "%s", at + length);
	snprintf(at, size - (size_t)(at - line), "%s%s", REMOVED, rest);
	length = strlen(at);
	return at + (length < strlen(REMOVED) ? length : strlen(REMOVED)) - 1;
}

/* Removes the value of NAME=VALUE and NAME: VALUE. A value in quotes ends with them. */
static bool remove_values(char *line, size_t size)
{
	bool removed = false;
	char *at;

	for (at = line; *at; at++) {
		const char *end = at;
		char *value = at + 1;

		if (*at != '=' && *at != ':')
			continue;
		while (end > line && strchr(" \t\"'", end[-1]))
			end--;
		if (!is_secret_name(line, end))
			continue;
		value += strspn(value, " \t\"'");
		if (!*value || *value == '\n' || !strncmp(value, REMOVED, strlen(REMOVED)))
			continue;
		at = remove_text(line, size, value, strcspn(value, " \t\"',;\n"));
		removed = true;
	}
	return removed;
}

static bool is_cephx(const char *word, size_t length)
{
	return length == CEPHX_LENGTH && !strncmp(word, CEPHX_BEGIN, strlen(CEPHX_BEGIN)) &&
	       !strncmp(word + length - 2, "==", 2);
}

/* Removes words that are secrets, whatever their name is. */
static bool remove_words(char *line, size_t size)
{
	bool removed = false;
	char *at;

	for (at = line; *at; at++) {
		size_t length = strcspn(at, " \t\"',;\n");
		const char *const *begin;
		size_t word;

		for (begin = secret_words; *begin && strncmp(at, *begin, strlen(*begin)); begin++)
			;
		/* "=" may be the end of a key and the middle of NAME=KEY. */
		for (word = 0; isalnum((unsigned char)at[word]) || (at[word] && strchr("+/=", at[word])); word++)
			;
		if (!*begin && ((at > line && is_name(at[-1])) || !is_cephx(at, word)))
			continue;
		at = remove_text(line, size, at, *begin ? length : word);
		removed = true;
	}
	return removed;
}

/* Removes the user and the password of "//USER:PASSWORD@host". */
static bool remove_users(char *line, size_t size)
{
	bool removed = false;
	char *at = line;

	while ((at = strstr(at, "//"))) {
		size_t length = strcspn(at + 2, "@/ \t\"'\n");

		at += 2;
		if (at[length] != '@' || !memchr(at, ':', length))
			continue;
		remove_text(line, size, at, length);
		removed = true;
	}
	return removed;
}

/*
 * Replaces secrets in a line by "(removed)". @size: bytes of the buffer; a line that becomes too long
 * is cut. Returns whether something was replaced.
 */
bool redact_line(char *line, size_t size)
{
	bool values = remove_values(line, size), words = remove_words(line, size);

	return remove_users(line, size) || values || words;
}
