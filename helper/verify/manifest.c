// SPDX-License-Identifier: GPL-2.0-only
#include "verify/manifest.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/sanitize.h"

#define HEX	(2 * MANIFEST_DIGEST)
/* BSD's tools and sha256sum --tag write "SHA256 (file) = digest". */
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

/*
 * Undo the escapes of sha256sum in place, for newlines, carriage returns and backslashes; a line
 * with escapes begins with a backslash. Returns false if an escape is invalid.
 */
static bool unescape_name(char *name)
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

/* Parse "SHA256 (name) = digest". Returns the name, or NULL if the line has another format. */
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

/*
 * Parse "DIGEST  NAME" or "DIGEST *NAME" (read as binary). Returns the name; NULL: another format.
 */
static char *parse_plain(char *line, unsigned char *digest)
{
	if (strlen(line) < HEX + 2 || !parse_digest(line, digest) ||
	    line[HEX] != ' ' || (line[HEX + 1] != ' ' && line[HEX + 1] != '*'))
		return NULL;
	return line + HEX + 2;
}

/*
 * Parse a line without its newline. Changes @line, into which entry->path then points. Returns
 * false if the line is invalid, with the reason in @why (MANIFEST_WHY bytes).
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
			 "it is not a line of sha256sum ('DIGEST  FILE', 64 hexadecimal digits): '%.30s'",
			 line);
	else if (escaped && !unescape_name(entry->path))
		snprintf(why, MANIFEST_WHY, "the name '%.60s' has an invalid escape",
			 entry->path);
	else if (!*entry->path)
		snprintf(why, MANIFEST_WHY, "it names no file");
	else
		return true;
	return false;
}

static int append_entry(struct manifest *manifest, const struct manifest_entry *entry)
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

	line = text_line(line, number == 1);
	if (!*line || *line == '#')
		return 0;
	if (manifest_parse(line, &entry, why))
		return append_entry(manifest, &entry);
	return fail(CODE_USAGE, "manifest '%s', line %lu: %s", path, number,
		    why);
}

/*
 * Read a manifest; @path "-" is standard input. Call manifest_free() even after a failure. Returns
 * 0, or an exit code recorded with fail(), also if the manifest names no file.
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

/* Leaves an empty manifest, which may be freed again. */
void manifest_free(struct manifest *manifest)
{
	size_t i;

	for (i = 0; i < manifest->count; i++)
		free(manifest->entry[i].path);
	free(manifest->entry);
	memset(manifest, 0, sizeof(*manifest));
}
