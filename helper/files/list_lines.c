// SPDX-License-Identifier: GPL-2.0-only
#include "files/list_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/sanitize.h"

/*
 * Decodes a line that begins with a backslash: JSON output escapes some names like this. In a list
 * of lines a newline in a name is written \x0a, and a carriage return at its end \x0d.
 */
int list_decode(struct list_line *line)
{
	if (!line->escaped || *line->text != '\\' || text_unescape(line->text))
		return 0;
	return fail(CODE_USAGE,
		    "line '%s' of the list has an invalid escape behind its first backslash (valid: \\xHH and \\\\); for a file of this name write './%s'",
		    line->text, line->text);
}

/*
 * Calls @visit for each line of a list that is not empty, until a call fails. Returns the number of
 * calls. If @text contains a NUL (from 'find -print0'), NULs separate words, which are taken as
 * they are. The buffer of @text has @bytes + 1 bytes.
 */
static size_t visit_lines(char *text, size_t bytes,
			  int (*visit)(struct list_line *line, void *arg), void *arg)
{
	char end = memchr(text, '\0', bytes) ? '\0' : '\n', *from, *next;
	struct list_line line = { .escaped = end == '\n' };
	size_t count = 0;

	for (from = text; from < text + bytes; from = next + 1) {
		next = memchr(from, end, text + bytes - from);
		if (!next)
			next = text + bytes;
		*next = '\0';
		line.number++;
		line.text = line.escaped ? text_line(from, from == text) : from;
		if (*line.text && ++count && visit(&line, arg))
			break;
	}
	return count;
}

/*
 * Returns the content of a file, in a buffer of at least @bytes + 1 bytes. The caller frees it and
 * checks ferror(). Without memory, records the error and returns NULL.
 */
static char *read_all(FILE *file, size_t *bytes)
{
	size_t room = 0;
	char *text = NULL;

	*bytes = 0;
	do {
		char *longer;

		room = room ? 2 * room : 65536;
		longer = realloc(text, room + 1);
		if (!longer) {
			free(text);
			fail_memory();
			return NULL;
		}
		text = longer;
		*bytes += fread(text + *bytes, 1, room - *bytes, file);
	} while (*bytes == room);
	return text;
}

/*
 * Calls @visit for each line of the list in a file. @path "-" is standard input. A list without
 * lines is an error. @visit returns 0, or an exit code after recording an error: then no further
 * line is visited.
 */
int list_each_line(const char *path, int (*visit)(struct list_line *line, void *arg), void *arg)
{
	bool is_stdin = !strcmp(path, "-");
	FILE *file = is_stdin ? stdin : fopen(path, "re");
	size_t bytes, count = 0;
	char *text;

	if (!file)
		return fail_errno(errno, "cannot open the list '%s'", path);
	text = read_all(file, &bytes);
	if (text && ferror(file))
		fail_errno(errno, "cannot read the list '%s'", path);
	else if (text)
		count = visit_lines(text, bytes, visit, arg);
	free(text);
	if (!is_stdin)
		fclose(file);
	if (!fail_code() && !count)
		fail(CODE_USAGE, "the list '%s' is empty", path);
	return fail_code();
}

/* @visit and @arg of list_each_word(). */
struct visitor {
	int (*visit)(const char *word, void *arg);
	void *arg;
};

static int visit_word(struct list_line *line, void *arg)
{
	const struct visitor *visitor = arg;

	return list_decode(line) ?: visitor->visit(line->text, visitor->arg);
}

/* As list_each_line(), for lists with one word on each line, which are decoded. */
int list_each_word(const char *path, int (*visit)(const char *word, void *arg), void *arg)
{
	struct visitor visitor = { visit, arg };

	return list_each_line(path, visit_word, &visitor);
}
