// SPDX-License-Identifier: GPL-2.0-only
#include "files/read_list.h"

#include <ctype.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/list_lines.h"
#include "lib/error.h"

/* Highest sample number, so that sums and products with it can be checked. */
#define NUMBER_MAX	(1ULL << 48)

/* A name in a list, and its words: one, or those of a directory, from @word on. */
struct listed_name {
	uint32_t word;
	uint32_t words;
	char text[];
};

static int compare_names(const void *a, const void *b)
{
	const struct listed_name *x = a, *y = b;

	return strcmp(x->text, y->text);
}

static int add_read(struct read_list *list, const struct listed_read *read)
{
	if (list->reads == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		struct listed_read *more = reallocarray(list->read, room, sizeof(*more));

		if (!more)
			return fail_memory();
		list->read = more;
		list->room = room;
	}
	list->read[list->reads++] = *read;
	return 0;
}

/* Adds one read of each of the @words words from @word on, as a whole. */
static int add_whole(struct read_list *list, uint32_t word, uint32_t words, size_t line)
{
	uint32_t end = word + words;

	for (; word < end; word++)
		if (add_read(list, &(struct listed_read){ .word = word, .line = (uint32_t)line }))
			return fail_code();
	return 0;
}

/* Adds a read of a word of the command line, see glob_add(). */
int read_list_add(struct read_list *list, const char *text)
{
	size_t before = list->words.count;

	if (glob_add(&list->words, text))
		return fail_code();
	return add_whole(list, (uint32_t)before, (uint32_t)(list->words.count - before), 0);
}

/*
 * Finds the words of @text, a name or range of a list, and adds them if the list has not named it
 * before. Returns NULL after recording an error.
 */
static const struct listed_name *find_name(struct read_list *list, const char *text)
{
	struct listed_name *name, **found;
	size_t bytes = strlen(text) + 1;

	name = malloc(sizeof(*name) + bytes);
	if (!name) {
		fail_memory();
		return NULL;
	}
	memcpy(name->text, text, bytes);
	found = tsearch(name, &list->names, compare_names);
	if (!found || *found != name)
		free(name);
	if (!found) {
		fail_memory();
		return NULL;
	}
	if (*found != name)
		return *found;
	name->word = (uint32_t)list->words.count;
	if (glob_add_listed(&list->words, text))
		return NULL;
	name->words = (uint32_t)list->words.count - name->word;
	return name;
}

/* As find_name(), for a name relative to the folder @list->root. */
static const struct listed_name *find_below(struct read_list *list, const char *text)
{
	const struct listed_name *name;
	char *path;

	if (!list->root || *text == '/' || range_like(text))
		return find_name(list, text);
	if (asprintf(&path, "%s/%s", list->root, text) < 0) {
		fail_memory();
		return NULL;
	}
	name = find_name(list, path);
	free(path);
	return name;
}

/* Parses digits. Returns the text behind them, or NULL if there are none, or too many. */
static char *parse_number(char *text, uint64_t *number)
{
	if (!isdigit((unsigned char)*text))
		return NULL;
	for (*number = 0; isdigit((unsigned char)*text); text++) {
		*number = *number * 10 + (uint64_t)(*text - '0');
		if (*number > NUMBER_MAX)
			return NULL;
	}
	return text;
}

/* Parses "12" or "0-9". */
static int parse_samples(char *text, struct listed_read *read)
{
	uint64_t last = 0;
	char *end = parse_number(text, &read->first);

	if (end && *end == '-')
		end = parse_number(end + 1, &last);
	else
		last = read->first;
	if (!end || *end)
		return fail(CODE_USAGE,
			    "'%s' after the tab is not a sample number: give numbers like 12 or 0-9, separated by commas; in a name write a tab as \\x09, see 'index --help'",
			    text);
	if (last < read->first)
		return fail(CODE_USAGE, "samples '%s': the range ends before it begins", text);
	read->end = last + 1;
	return 0;
}

static int check_sampled(const struct read_list *list, const struct listed_name *name)
{
	const struct glob_word *word = &list->words.word[name->word];

	if (list->whole)
		return fail(CODE_USAGE, "'%s' has sample numbers: %s", name->text, list->whole);
	if (name->words == 1 && !word->range.length && !word->found)
		return 0;
	return fail(CODE_USAGE, "'%s' has sample numbers, and is a %s: only files have samples",
		    name->text, word->range.length ? "range of the device" : "directory");
}

/* Adds reads of the samples that @numbers lists, in its order. @text: the file. */
static int add_samples(struct read_list *list, const char *text, char *numbers, size_t line)
{
	struct listed_read read = { .line = (uint32_t)line };
	const struct listed_name *name;
	size_t i, before = list->reads;
	char *word;

	/* Parse the numbers first: if the tab is a part of the name, report the numbers, not a
	 * missing file.
	 */
	while ((word = strsep(&numbers, ",")))
		if (parse_samples(word, &read) || add_read(list, &read))
			return fail_code();
	name = find_below(list, text);
	if (!name || check_sampled(list, name))
		return fail_code();
	for (i = before; i < list->reads; i++)
		list->read[i].word = name->word;
	return 0;
}

/* Adds the reads of a line: "FILE", "START-END" or, with a tab before the numbers, "FILE 12,0-9". */
static int add_line(struct read_list *list, struct list_line *line)
{
	char *numbers = line->escaped ? strrchr(line->text, '\t') : NULL;
	const struct listed_name *name;

	if (numbers)
		*numbers++ = '\0';
	if (!*line->text)
		return fail(CODE_USAGE, "'%s': no file stands before the tab", numbers);
	if (list_decode(line))
		return fail_code();
	if (numbers)
		return add_samples(list, line->text, numbers, line->number);
	name = find_below(list, line->text);
	return name ? add_whole(list, name->word, name->words, line->number) : (int)fail_code();
}

static int visit_line(struct list_line *line, void *arg)
{
	size_t number = line->number;

	if (!add_line(arg, line))
		return 0;
	return fail_add("it is line %zu of the list", number);
}

/* Adds the reads of a list; @path "-" is standard input. */
int read_list_add_file(struct read_list *list, const char *path)
{
	return list_each_line(path, visit_line, list);
}

void read_list_free(struct read_list *list)
{
	tdestroy(list->names, free);
	glob_free(&list->words);
	free(list->read);
	memset(list, 0, sizeof(*list));
}
