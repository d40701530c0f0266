// SPDX-License-Identifier: GPL-2.0-only
/* Expands patterns, directories and lists of TARGETs. */
#include "files/glob.h"

#include <errno.h>
#include <fts.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/list_lines.h"
#include "lib/error.h"

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
int glob_add_listed(struct glob_words *words, const char *text)
{
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
	return glob_add_listed(words, text);
}

static int add_listed(const char *text, void *arg)
{
	return glob_add_listed(arg, text);
}

/* Adds the words of the list in a file, which are ranges or paths, not patterns. */
int glob_add_list(struct glob_words *words, const char *path)
{
	return list_each_word(path, add_listed, words);
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
