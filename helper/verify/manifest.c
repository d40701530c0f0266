// SPDX-License-Identifier: GPL-2.0-only
#include "verify/manifest.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

#define HEX	(2 * MANIFEST_DIGEST)
/* How BSD's tools begin a line, and sha256sum --tag: "SHA256 (file) = digest". */
#define TAG	"SHA256 ("
#define TAG_END	") = "

static bool parse_digest(const char *hex, unsigned char *digest)
{
	char pair[3] = "";
	int i;

	for (i = 0; i < HEX; i += 2) {
		if (!isxdigit((unsigned char)hex[i]) ||
		    !isxdigit((unsigned char)hex[i + 1]))
			return false;
		memcpy(pair, hex + i, 2);
		digest[i / 2] = (unsigned char)strtoul(pair, NULL, 16);
	}
	return true;
}

/* Where a name has a newline or a backslash, the line begins with a backslash. */
static bool unescape(char *name)
{
	char *to = name;

	for (; *name; name++) {
		if (*name != '\\') {
			*to++ = *name;
			continue;
		}
		name++;
		if (*name == 'n')
			*to++ = '\n';
		else if (*name == 'r')
			*to++ = '\r';
		else if (*name == '\\')
			*to++ = '\\';
		else
			return false;
	}
	*to = '\0';
	return true;
}

/* "SHA256 (name) = digest". Return: the name, NULL: it is none. */
static char *parse_tagged(char *line, unsigned char *digest)
{
	size_t length = strlen(line);
	size_t tail = strlen(TAG_END) + HEX;
	char *end;

	if (strncmp(line, TAG, strlen(TAG)) || length < strlen(TAG) + tail)
		return NULL;
	end = line + length - tail;
	if (strncmp(end, TAG_END, strlen(TAG_END)) ||
	    !parse_digest(end + strlen(TAG_END), digest))
		return NULL;
	*end = '\0';
	return line + strlen(TAG);
}

/* "digest  name", with a '*' before the name for binary. Return: as above. */
static char *parse_plain(char *line, unsigned char *digest)
{
	if (strlen(line) < HEX + 2 || !parse_digest(line, digest) ||
	    line[HEX] != ' ' || (line[HEX + 1] != ' ' && line[HEX + 1] != '*'))
		return NULL;
	return line + HEX + 2;
}

/**
 * manifest_parse() - read a line
 * @line: without its newline; changed
 * @entry: the result; its path lies in @line
 * @why: MANIFEST_WHY bytes; on failure: what is wrong
 *
 * Return: whether the line names a file and its SHA-256.
 */
bool manifest_parse(char *line, struct manifest_entry *entry, char *why)
{
	bool escaped = *line == '\\';

	line += escaped;
	entry->path = parse_tagged(line, entry->digest);
	if (!entry->path)
		entry->path = parse_plain(line, entry->digest);
	if (!entry->path)
		snprintf(why, MANIFEST_WHY,
			 "it is no line of sha256sum ('DIGEST  FILE', 64 hexadecimal digits): '%.30s'",
			 line);
	else if (escaped && !unescape(entry->path))
		snprintf(why, MANIFEST_WHY, "the name '%.60s' has an escape that is none",
			 entry->path);
	else if (!*entry->path)
		snprintf(why, MANIFEST_WHY, "it names no file");
	else
		return true;
	return false;
}

static int append(struct manifest *manifest, const struct manifest_entry *entry)
{
	struct manifest_entry *last;

	if (manifest->count == manifest->room) {
		size_t room = manifest->room ? 2 * manifest->room : 64;

		last = reallocarray(manifest->entry, room, sizeof(*last));
		if (!last)
			return fail_memory();
		manifest->entry = last;
		manifest->room = room;
	}
	last = &manifest->entry[manifest->count];
	*last = *entry;
	last->path = strdup(entry->path);
	if (!last->path)
		return fail_memory();
	manifest->count++;
	return 0;
}

static int take_line(struct manifest *manifest, const char *path, char *line,
		     unsigned long number)
{
	struct manifest_entry entry = { .line = number };
	char why[MANIFEST_WHY];

	line[strcspn(line, "\r\n")] = '\0';
	if (!*line || *line == '#')
		return 0;
	if (manifest_parse(line, &entry, why))
		return append(manifest, &entry);
	return fail(CODE_USAGE, "manifest '%s', line %lu: %s", path, number,
		    why);
}

/**
 * manifest_read() - read a manifest
 * @manifest: the result; manifest_free() is due also after a failure
 * @path: of the file; "-": standard input
 *
 * Return: 0 or the exit code.
 */
int manifest_read(struct manifest *manifest, const char *path)
{
	bool is_stdin = !strcmp(path, "-");
	FILE *file = is_stdin ? stdin : fopen(path, "re");
	unsigned long number = 0;
	char *line = NULL;
	size_t room = 0;

	memset(manifest, 0, sizeof(*manifest));
	if (!file)
		return fail_errno(errno, "cannot open the manifest '%s'", path);
	while (getline(&line, &room, file) >= 0)
		if (take_line(manifest, path, line, ++number))
			break;
	if (ferror(file))
		fail_errno(errno, "cannot read the manifest '%s'", path);
	free(line);
	if (!is_stdin)
		fclose(file);
	if (!fail_code() && !manifest->count)
		fail(CODE_USAGE, "the manifest '%s' names no files", path);
	return fail_code();
}

/* Free all; harmless after that. */
void manifest_free(struct manifest *manifest)
{
	size_t i;

	for (i = 0; i < manifest->count; i++)
		free(manifest->entry[i].path);
	free(manifest->entry);
	memset(manifest, 0, sizeof(*manifest));
}
