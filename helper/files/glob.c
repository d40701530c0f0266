// SPDX-License-Identifier: GPL-2.0-only
/* Expands patterns, directories and lists of TARGETs. */
#include "files/glob.h"

#include <errno.h>
#include <fts.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/error.h"
#include "lib/sanitize.h"

static int append_word(struct glob_words *words, const char *text,
		       const struct range *range, bool found)
{
	struct glob_word *word;

	if (words->count == words->room) {
		size_t room = words->room ? 2 * words->room : 64;

		word = reallocarray(words->word, room, sizeof(*word));
		if (!word)
			return fail_memory();
		words->word = word;
		words->room = room;
	}
	word = &words->word[words->count];
	memset(word, 0, sizeof(*word));
	if (range)
		word->range = *range;
	word->found = found;
	word->text = strdup(text);
	if (!word->text)
		return fail_memory();
	words->count++;
	return 0;
}

static int add_range(struct glob_words *words, const char *text)
{
	char why[RANGE_WHY];
	struct range range;

	if (range_parse_word(text, &range, why))
		return append_word(words, text, &range, false);
	return fail(CODE_USAGE,
		    "'%s' is not a range of the device: %s; to name a file write './%s'",
		    text, why, text);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int pass_over(struct glob_words *words, const char *path)
{
	if (!words->passed_over++)
		words->passed_first = strdup(path);
	return words->passed_first ? 0 : fail_memory();
}

static int take_entry(struct glob_words *words, const FTSENT *entry)
{
	switch (entry->fts_info) {
	case FTS_F:
		return append_word(words, entry->fts_path, NULL, true);
	case FTS_D:
	case FTS_DP:
		return 0;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		return fail_errno(entry->fts_errno, "cannot read '%s'",
				  entry->fts_path);
	default:
		return pass_over(words, entry->fts_path);
	}
}

/*
 * Adds all files below a directory. Follows links: many datasets are trees of links. @found: the
 * path comes from a pattern; without files, the directory is passed over then.
 */
static int add_directory(struct glob_words *words, const char *path, bool found)
{
	char *const paths[] = { (char *)path, NULL };
	FTS *tree = fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, by_name);
	uint64_t passed_before = words->passed_over;
	size_t before = words->count;
	FTSENT *entry;

	if (!tree)
		return fail_errno(errno, "cannot read '%s'", path);
	/* fts_read() returns NULL with errno 0 at the end of the tree, or with another errno. */
	while ((entry = fts_read(tree)))
		if (take_entry(words, entry))
			break;
	if (!entry && errno)
		fail_errno(errno, "cannot read '%s'", path);
	fts_close(tree);
	if (fail_code() || words->count > before)
		return fail_code();
	if (!found)
		return fail(CODE_DEVICE, "directory '%s' has no files", path);
	return words->passed_over > passed_before ? 0 : pass_over(words, path);
}

/* Returns whether stat() fails with @error for a link that leads nowhere. */
static bool is_dead_link(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

/*
 * Accepts any type of file that the user named: the caller checks the type when it opens the file.
 * @found: the path comes from a pattern.
 */
static int add_path(struct glob_words *words, const char *path, bool found)
{
	struct stat st;

	if (stat(path, &st))
		return found && is_dead_link(errno) ? pass_over(words, path) :
						      fail_errno(errno, "'%s'", path);
	if (S_ISDIR(st.st_mode))
		return add_directory(words, path, found);
	if (found && !S_ISREG(st.st_mode))
		return pass_over(words, path);
	return append_word(words, path, NULL, found);
}

static int add_pattern(struct glob_words *words, const char *pattern)
{
	glob_t found = { 0 };
	int error = glob(pattern, 0, NULL, &found);
	size_t i;

	if (error == GLOB_NOMATCH)
		fail(CODE_DEVICE, "'%s' matches no file", pattern);
	else if (error)
		fail_memory();
	for (i = 0; i < found.gl_pathc && !error; i++)
		error = add_path(words, found.gl_pathv[i], true);
	globfree(&found);
	return fail_code();
}

/* Adds a word of a list. '*', '?' and '[' in it are ordinary characters. */
static int add_listed(const char *text, void *arg)
{
	struct glob_words *words = arg;

	if (range_like(text))
		return add_range(words, text);
	return add_path(words, text, false);
}

/*
 * Adds a word of the command line. If range_like(), it is a range. Otherwise it is a path, or if no
 * file has this path, a pattern. A directory stands for all files below it.
 */
int glob_add(struct glob_words *words, const char *text)
{
	struct stat st;

	/* An empty word probably comes from an unset shell variable. */
	if (!*text)
		return fail(CODE_USAGE,
			    "'' is not a TARGET: name a file, a directory or a range of the device");
	if (!range_like(text) && strpbrk(text, "*?[") && lstat(text, &st))
		return add_pattern(words, text);
	return add_listed(text, words);
}

/*
 * Decodes a line that begins with a backslash: JSON output escapes some names like this. In a list
 * of lines a newline in a name is written \x0a, and a carriage return at its end \x0d. Returns NULL
 * after recording an error.
 */
static char *decode_line(char *line, bool first)
{
	line = text_line(line, first);
	if (*line != '\\' || text_unescape(line))
		return line;
	fail(CODE_USAGE,
	     "line '%s' of the list has an invalid escape behind its first backslash (valid: \\xHH and \\\\); for a file of this name write './%s'",
	     line, line);
	return NULL;
}

/*
 * Calls @visit for each word of a list until a call fails. Returns the number of calls. If @text
 * contains a NUL (from 'find -print0'), NULs separate the words, which are taken as they are;
 * otherwise the words are lines. The buffer of @text has @bytes + 1 bytes.
 */
static size_t each_line(char *text, size_t bytes,
			int (*visit)(const char *line, void *arg), void *arg)
{
	char end = memchr(text, '\0', bytes) ? '\0' : '\n';
	char *line = text;
	size_t count = 0;

	while (line < text + bytes) {
		char *next = memchr(line, end, text + bytes - line);

		if (!next)
			next = text + bytes;
		*next = '\0';
		if (end == '\n')
			line = decode_line(line, line == text);
		if (!line || (*line && ++count && visit(line, arg)))
			break;
		line = next + 1;
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
 * Calls @visit for each word of the list in a file. @path "-" is standard input. A list without
 * words is an error. @visit returns 0, or an exit code after recording an error: then no further
 * word is visited.
 */
int glob_each_listed(const char *path,
		     int (*visit)(const char *line, void *arg), void *arg)
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
		count = each_line(text, bytes, visit, arg);
	free(text);
	if (!is_stdin)
		fclose(file);
	if (!fail_code() && !count)
		fail(CODE_USAGE, "the list '%s' is empty", path);
	return fail_code();
}

/* Adds the words of the list in a file, which are ranges or paths, not patterns. */
int glob_add_list(struct glob_words *words, const char *path)
{
	return glob_each_listed(path, add_listed, words);
}

void glob_free(struct glob_words *words)
{
	size_t i;

	for (i = 0; i < words->count; i++)
		free(words->word[i].text);
	free(words->word);
	free(words->passed_first);
	memset(words, 0, sizeof(*words));
}
