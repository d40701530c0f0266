// SPDX-License-Identifier: GPL-2.0-only
#include "shard/sample_select.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/sanitize.h"

/*
 * Context to parse one word of the user's list: @word has @length bytes and no NUL behind them.
 * @path is the name of the file in messages.
 */
struct choice {
	struct index_selection *selection;
	const struct shard_index *index;
	const char *path;
	const char *word;
	int length;
};

static int add_samples(struct index_selection *selection, uint64_t first, uint64_t end)
{
	struct index_span *last;

	if (selection->spans) {
		last = &selection->span[selection->spans - 1];
		if (last->end == first) {
			last->end = end;
			return 0;
		}
	}
	if (selection->spans == selection->room) {
		uint64_t room = selection->room ? 2 * selection->room : 16;

		last = reallocarray(selection->span, room, sizeof(*last));
		if (!last)
			return fail_memory();
		selection->span = last;
		selection->room = room;
	}
	selection->span[selection->spans++] = (struct index_span){ first, end };
	return 0;
}

static int compare_samples(const void *a, const void *b)
{
	const struct index_span *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* Sorts the spans by number, and joins spans that overlap or adjoin. */
static void merge_samples(struct index_selection *selection)
{
	struct index_span *span = selection->span;
	uint64_t i, kept = 0;

	if (!selection->spans)
		return;
	qsort(span, selection->spans, sizeof(*span), compare_samples);
	for (i = 1; i < selection->spans; i++) {
		if (span[i].first > span[kept].end)
			span[++kept] = span[i];
		else if (span[i].end > span[kept].end)
			span[kept].end = span[i].end;
	}
	selection->spans = kept + 1;
}

/* Returns the number of digits parsed, or 0 for a name.  "007" is a name, as it begins with 0. */
static size_t parse_number(const char *text, uint64_t *number)
{
	size_t i;

	*number = 0;
	for (i = 0; isdigit((unsigned char)text[i]); i++) {
		if (i && text[0] == '0')
			return 0;
		/* Avoid an overflow: a number that is too large stays too large for any file. */
		if (*number < UINT64_MAX / 100)
			*number = *number * 10 + (uint64_t)(text[i] - '0');
	}
	return i;
}

/* Parses "12" or "0-9". Returns false for any other word, which is then a name. */
static bool parse_numbers(const struct choice *choice, uint64_t *first,
			  uint64_t *last)
{
	size_t digits = parse_number(choice->word, first), more;

	*last = *first;
	if (!digits || digits == choice->length)
		return digits;
	if (choice->word[digits] != '-')
		return false;
	more = parse_number(choice->word + digits + 1, last);
	return more && digits + 1 + more == choice->length;
}

static int add_numbers(const struct choice *choice, uint64_t first,
		       uint64_t last)
{
	uint64_t samples = choice->index->samples;

	if (first > last)
		return fail(CODE_USAGE, "--samples '%.*s': the range ends before it begins",
			    choice->length, choice->word);
	if (!samples)
		return fail(CODE_USAGE, "--samples '%.*s': '%s' has no samples",
			    choice->length, choice->word, choice->path);
	if (last >= samples)
		return fail(CODE_USAGE,
			    "--samples '%.*s': '%s' has samples 0 to %llu; to select a sample of that name write '=%.*s'",
			    choice->length, choice->word, choice->path,
			    (unsigned long long)samples - 1, choice->length,
			    choice->word);
	return add_samples(choice->selection, first, last + 1);
}

/* Names may repeat within a shard: select all samples whose name is @name and then @suffix. */
static int add_named(const struct choice *choice, const char *name, size_t length,
		     const char *suffix, bool *found)
{
	const struct shard_index *index = choice->index;
	uint64_t i;

	for (i = 0; i < index->samples; i++) {
		const char *other = index_name(index, index->sample[i].name);

		if (!other || strncmp(other, name, length) || strcmp(other + length, suffix))
			continue;
		*found = true;
		if (add_samples(choice->selection, i, i + 1))
			return fail_code();
	}
	return 0;
}

/* As numpy.load() does: array "b" of an npz file is the member "b", or else the member "b.npy". */
static int add_name(const struct choice *choice, const char *name, size_t length)
{
	bool found = false;

	if (add_named(choice, name, length, "", &found) ||
	    (!found && choice->index->format == INDEX_NPZ &&
	     add_named(choice, name, length, ".npy", &found)))
		return fail_code();
	if (found)
		return 0;
	return fail(CODE_USAGE,
		    "--samples '%.*s': '%s' has no sample of this name; numbers are written like 12 or 0-9",
		    choice->length, choice->word, choice->path);
}

/* Adds the samples of an escaped name. */
static int add_escaped(const struct choice *choice)
{
	char *name = strndup(choice->word, (size_t)choice->length);

	if (!name)
		return fail_memory();
	if (text_unescape(name))
		add_name(choice, name, strlen(name));
	else
		fail(CODE_USAGE,
		     "--samples '%.*s' has an invalid escape behind its first backslash (valid: \\xHH and \\\\); for a sample of this name write '=%.*s'",
		     choice->length, choice->word, choice->length, choice->word);
	free(name);
	return fail_code();
}

static int add_word(const struct choice *choice)
{
	uint64_t first, last;

	if (!choice->length)
		return fail(CODE_USAGE,
			    "--samples: a word of the list is empty");
	if (parse_numbers(choice, &first, &last))
		return add_numbers(choice, first, last);
	if (*choice->word == '\\')
		return add_escaped(choice);
	if (*choice->word == '=')
		return add_name(choice, choice->word + 1,
				(size_t)choice->length - 1);
	return add_name(choice, choice->word, (size_t)choice->length);
}

/*
 * @list has numbers ("12"), ranges ("0-9") and names, separated by commas. '=' before a word
 * makes it a name, and a word that begins with a backslash is an escaped name, in which a comma is
 * written \x2c. @path is the name of the file in messages.
 */
int index_select(struct index_selection *selection,
		 const struct shard_index *index, const char *path,
		 const char *list)
{
	struct choice choice = {
		.selection = selection, .index = index, .path = path,
		.word = list
	};

	memset(selection, 0, sizeof(*selection));
	for (;;) {
		choice.length = (int)strcspn(choice.word, ",");
		if (add_word(&choice))
			return fail_code();
		if (!choice.word[choice.length])
			break;
		choice.word += choice.length + 1;
	}
	merge_samples(selection);
	return 0;
}

int index_select_all(struct index_selection *selection,
		     const struct shard_index *index)
{
	memset(selection, 0, sizeof(*selection));
	return index->samples ? add_samples(selection, 0, index->samples) : 0;
}

/* May be called twice. */
void index_select_free(struct index_selection *selection)
{
	free(selection->span);
	memset(selection, 0, sizeof(*selection));
}
