// SPDX-License-Identifier: GPL-2.0-only
#include "lib/enum_words.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "latency.h"
#include "nearcache.h"
#include "nearcache_classify.h"

/* Words for enum nearcache_mode, as in the dm table. */
static const char *const mode_words[] = {
	[NEARCACHE_READ_ONLY] = "read-only",
	[NEARCACHE_WRITEAROUND] = "writearound",
	[NEARCACHE_WRITETHROUGH] = "writethrough",
};

#define MODES	(sizeof(mode_words) / sizeof(mode_words[0]))

/* @mode: from the status line. Returns "unknown" for a mode of a newer kernel module. */
const char *mode_word(uint64_t mode)
{
	return mode < MODES ? mode_words[mode] : "unknown";
}

bool mode_parse(const char *word, enum nearcache_mode *mode)
{
	unsigned int i;

	for (i = 0; i < MODES; i++) {
		if (strcmp(mode_words[i], word))
			continue;
		*mode = i;
		return true;
	}
	return false;
}

/* Returns whether the nearcache device accepts writes in this mode. */
bool mode_writes(enum nearcache_mode mode)
{
	return mode != NEARCACHE_READ_ONLY;
}

bool on_change_parse(const char *word, enum on_change *result)
{
	static const char *const words[] = {
		[ON_CHANGE_DROP] = "drop",
		[ON_CHANGE_REFUSE] = "refuse",
		[ON_CHANGE_TRUST] = "trust",
	};
	unsigned int i;

	for (i = ON_CHANGE_DROP; i <= ON_CHANGE_TRUST; i++)
		if (!strcmp(word, words[i])) {
			*result = i;
			return true;
		}
	return false;
}

static const struct {
	uint32_t flag;
	const char *word;
} want_words[] = {
	{ NEARCACHE_RANGE_PIN, "pin" },
	{ NEARCACHE_RANGE_BYPASS, "bypass" },
	{ NEARCACHE_RANGE_EVICT_AFTER_USE, "evict-after-use" },
};

#define WANTS	(sizeof(want_words) / sizeof(want_words[0]))

/*
 * Fills @text (WANT_TEXT bytes) and returns it: the words of NEARCACHE_RANGE_* flags, separated by
 * commas. A range without flags only counts reads: "count".
 */
const char *want_print(uint32_t flags, char *text)
{
	size_t i, used = 0;

	strcpy(text, "count");
	for (i = 0; i < WANTS; i++)
		if (flags & want_words[i].flag)
			used += (size_t)snprintf(text + used, WANT_TEXT - used,
						 "%s%s", used ? "," : "",
						 want_words[i].word);
	return text;
}

/* Parses a text of want_print(). Returns false for any other text. */
bool want_parse(const char *text, uint32_t *flags)
{
	char again[WANT_TEXT];
	size_t i;

	*flags = 0;
	for (i = 0; i < WANTS; i++)
		if (strstr(text, want_words[i].word))
			*flags |= want_words[i].flag;
	return !strcmp(want_print(*flags, again), text);
}

const char *class_word(uint32_t class)
{
	static const char *const words[] = {
		[NEARCACHE_CLASS_UNKNOWN] = "unknown",
		[NEARCACHE_CLASS_SEQUENTIAL] = "sequential",
		[NEARCACHE_CLASS_STRIDED] = "strided",
		[NEARCACHE_CLASS_CHECKPOINT] = "checkpoint",
		[NEARCACHE_CLASS_SCATTERED] = "scattered",
		[NEARCACHE_CLASS_SHUFFLED] = "shuffled",
		[NEARCACHE_CLASS_LOOPING] = "looping",
		[NEARCACHE_CLASS_RANDOM] = "random",
	};

	return words[class < NEARCACHE_CLASSES ? class : NEARCACHE_CLASS_UNKNOWN];
}

/* @path: enum latency_path. Returns "unknown" for a path of a newer BPF program. */
const char *path_word(uint32_t path)
{
	static const char *const words[PATHS] = {
		[PATH_HIT] = "hit",
		[PATH_MISS] = "miss",
		[PATH_JOIN] = "join",
		[PATH_ORIGIN] = "origin",
		[PATH_WRITE] = "write",
	};

	return path < PATHS ? words[path] : "unknown";
}

static const char *const index_words[INDEX_FORMATS] = {
	[INDEX_TAR] = "tar",
	[INDEX_TFRECORD] = "tfrecord",
	[INDEX_PARQUET] = "parquet",
	[INDEX_MDS] = "mds",
	[INDEX_NPZ] = "npz",
};

bool index_format_parse(const char *word, enum index_format *format)
{
	enum index_format i;

	for (i = INDEX_ANY + 1; i < INDEX_FORMATS; i++)
		if (!strcmp(index_words[i], word)) {
			*format = i;
			return true;
		}
	return false;
}

/* @format is not INDEX_ANY. */
const char *index_format_word(enum index_format format)
{
	return index_words[format];
}

/* Returns the length of @text without "-00001-of-00002", which some writers put behind the name. */
static size_t length_unnumbered(const char *text)
{
	size_t end = strlen(text), total, number;

	for (total = end; total && isdigit((unsigned char)text[total - 1]); total--)
		;
	if (total == end || total < strlen("-of-") || strncmp(text + total - 4, "-of-", 4))
		return end;
	total -= strlen("-of-");
	for (number = total; number && isdigit((unsigned char)text[number - 1]); number--)
		;
	return number == total || !number || text[number - 1] != '-' ? end : number - 1;
}

/*
 * Guesses the format from the file's name, for a file whose content does not identify it because
 * the file is damaged or has no samples. The reader of the guessed format can then report the
 * damage. Returns INDEX_ANY without a guess.
 */
enum index_format index_format_of_path(const char *path)
{
	const char *suffix = strrchr(path, '.');
	enum index_format format = INDEX_ANY;
	char word[16];
	size_t length;

	if (!suffix || strchr(suffix, '/'))
		return INDEX_ANY;
	length = length_unnumbered(++suffix);
	if (length >= sizeof(word))
		return INDEX_ANY;
	memcpy(word, suffix, length);
	word[length] = '\0';
	if (!strcmp(word, "tfrecords"))
		return INDEX_TFRECORD;
	index_format_parse(word, &format);
	return format;
}
