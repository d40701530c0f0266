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
#define PEM_BEGIN	"-----BEGIN "
#define PEM_END		"-----END "
#define PEM_SECRET	"PRIVATE KEY"
#define BLANKS		" \t"
#define QUOTES		"\"'"

/* Names of settings whose value is a secret, and ends of such names. */
static const char *const secret_names[] = {
	"secret", "secrets", "password", "passwd", "passphrase", "token", "key", "keys", "key-data",
	"psk", "chap", "credentials", "authorization", NULL,
};

/* Beginnings of words that are secrets: keys of NVMe-oF for DH-HMAC-CHAP and TLS. */
static const char *const secret_words[] = { "DHHC-1:", "NVMeTLSkey-1:", NULL };

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Returns the beginning of the name that ends before @end. */
static char *name_start(char *line, char *end)
{
	while (end > line && is_name(end[-1]))
		end--;
	return end;
}

/* True if a name ends with a secret name. */
static bool is_secret_name(const char *start, const char *end)
{
	const char *const *name;

	for (name = secret_names; *name; name++) {
		size_t length = strlen(*name);

		if ((size_t)(end - start) >= length && !strncasecmp(end - length, *name, length))
			return true;
	}
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

/* Length of a value up to the quote that began it, of @escaped bytes: " or \". */
static size_t quoted_length(const char *value, const char *quote, size_t bytes)
{
	const char *at;

	for (at = value; *at && *at != '\n'; at++) {
		if (!strncmp(at, quote, bytes))
			break;
		if (*at == '\\' && at[1] && at[1] != '\n')
			at++;
	}
	return (size_t)(at - value);
}

/*
 * Removes the value at @value, after blanks. A value in quotes ends with them, another one before a
 * character of @stop. Returns the last byte that was removed, or NULL if there is nothing to remove.
 */
static char *remove_value(char *line, size_t size, char *value, const char *stop)
{
	size_t length, escaped;

	value += strspn(value, BLANKS);
	escaped = *value == '\\';
	if (value[escaped] && strchr(QUOTES, value[escaped])) {
		const char *quote = value;

		value += escaped + 1;
		length = quoted_length(value, quote, escaped + 1);
	} else {
		length = strcspn(value, stop);
	}
	if (!length || !strncmp(value, REMOVED, strlen(REMOVED)))
		return NULL;
	return remove_text(line, size, value, length);
}

/*
 * Where the value of a setting ends: @start and @end enclose its name, @separator follows. The line of a
 * configuration has one setting, and its value may have blanks.
 */
static const char *value_stop(const char *line, const char *start, const char *end,
			      const char *separator)
{
	if (start > line && strchr(QUOTES, start[-1]) && strchr(QUOTES, *end))
		return BLANKS QUOTES ",;\n";
	if (strspn(line, BLANKS) == (size_t)(start - line))
		return "\n";
	if (end < separator || strchr(BLANKS, separator[1]))
		return QUOTES "\n";
	return BLANKS QUOTES ",;\n";
}

/* Removes the value of NAME=VALUE and NAME: VALUE. */
static bool remove_values(char *line, size_t size)
{
	bool removed = false;
	char *at;

	for (at = line; *at; at++) {
		char *start, *end = at, *last;

		if (*at != '=' && *at != ':')
			continue;
		while (end > line && strchr(BLANKS QUOTES "\\", end[-1]))
			end--;
		start = name_start(line, end);
		if (!is_secret_name(start, end))
			continue;
		last = remove_value(line, size, at + 1, value_stop(line, start, end, at));
		if (!last)
			continue;
		at = last;
		removed = true;
	}
	return removed;
}

/* Removes the word after an option such as "--password", and after "Bearer". */
static bool remove_arguments(char *line, size_t size)
{
	bool removed = false;
	char *at;

	for (at = line; *at; at++) {
		char *start, *last;

		if (!strchr(BLANKS, *at))
			continue;
		start = name_start(line, at);
		if (start == at ||
		    (strncasecmp(start, "bearer ", 7) &&
		     (*start != '-' || !is_secret_name(start, at))))
			continue;
		last = remove_value(line, size, at, BLANKS QUOTES ",;\n");
		if (!last)
			continue;
		at = last;
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
		size_t length = strcspn(at, BLANKS QUOTES ",;\n");
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

/* Removes the user, the password or the token of "//USER:PASSWORD@host". */
static bool remove_users(char *line, size_t size)
{
	bool removed = false;
	char *at = line;

	while ((at = strstr(at, "//"))) {
		size_t length;

		at += 2;
		/* A password may have an "@". */
		for (length = strcspn(at, "/ \t\"'\n"); length && at[length] != '@'; length--)
			;
		if (!length || !strncmp(at, REMOVED, strlen(REMOVED)))
			continue;
		remove_text(line, size, at, length);
		removed = true;
	}
	return removed;
}

/* Removes a private key in PEM, which has several lines, or escapes in one. */
static bool remove_pem(struct redaction *redaction, char *line, size_t size)
{
	char *begin = redaction->in_key ? line : strstr(line, PEM_BEGIN), *end;
	bool removed = false;

	while (begin && (redaction->in_key || strstr(begin, PEM_SECRET))) {
		end = strstr(begin, PEM_END);
		redaction->in_key = !end;
		removed = true;
		if (!end) {
			remove_text(line, size, begin, strcspn(begin, "\n"));
			break;
		}
		begin = remove_text(line, size, begin, (size_t)(end - begin)) + 1;
		begin = strstr(begin, PEM_BEGIN);
	}
	return removed;
}

/*
 * Replaces secrets in the next line of a text by "(removed)". @redaction: zero before the first line.
 * @size: bytes of the buffer; a line that becomes too long is cut. Returns whether something was replaced.
 */
bool redact_line(struct redaction *redaction, char *line, size_t size)
{
	bool removed = remove_pem(redaction, line, size);

	removed |= remove_values(line, size);
	removed |= remove_arguments(line, size);
	removed |= remove_words(line, size);
	return remove_users(line, size) || removed;
}
