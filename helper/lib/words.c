// SPDX-License-Identifier: GPL-2.0-only
#include "lib/words.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "latency.h"
#include "nearcache.h"
#include "nearcache_classify.h"

/* By number: the table's word for it. */
static const char *const mode_words[] = {
	[NEARCACHE_READ_ONLY] = "read-only",
	[NEARCACHE_WRITEAROUND] = "writearound",
	[NEARCACHE_WRITETHROUGH] = "writethrough",
};

#define MODES	(sizeof(mode_words) / sizeof(mode_words[0]))

/**
 * mode_word() - the word for a mode
 * @mode: as the status line gives it
 *
 * Return: the word, "unknown" for a newer kernel's mode.
 */
const char *mode_word(uint64_t mode)
{
	return mode < MODES ? mode_words[mode] : "unknown";
}

/**
 * mode_parse() - read a mode
 * @word: the word
 * @mode: the result, on success only
 *
 * Return: whether @word is a mode.
 */
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

/* Whether the device can be written in that mode. */
bool mode_writes(enum nearcache_mode mode)
{
	return mode != NEARCACHE_READ_ONLY;
}

/**
 * on_change_parse() - read a word
 * @word: as the user gave it
 * @result: what it says
 *
 * Return: whether it says anything.
 */
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

/**
 * want_print() - write what is wanted
 * @flags: NEARCACHE_RANGE_*
 * @text: WANT_TEXT bytes to fill: words with commas, or "count" for none
 *
 * Return: @text.
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

/**
 * want_parse() - read what want_print() wrote
 * @text: the text
 * @flags: the result
 *
 * Return: whether it is that.
 */
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

/**
 * class_word() - the word for how a stream is read or written
 * @class: enum nearcache_class
 *
 * Return: the word.
 */
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

/**
 * path_word() - the word for a way
 * @path: enum latency_path
 *
 * Return: the word, "unknown" for a newer one.
 */
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

/**
 * index_format_parse() - read a format
 * @word: what the user gave
 * @format: the result
 *
 * Return: whether there is such a format.
 */
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

/**
 * index_format_word() - the word for a format
 * @format: not INDEX_ANY
 *
 * Return: the word.
 */
const char *index_format_word(enum index_format format)
{
	return index_words[format];
}

/**
 * index_format_of_path() - what a file's name says
 * @path: the name
 *
 * Only for a file whose content says nothing: it is damaged, and its reader can
 * tell where.
 *
 * Return: the format, INDEX_ANY when the name says nothing.
 */
enum index_format index_format_of_path(const char *path)
{
	const char *suffix = strrchr(path, '.');
	enum index_format format = INDEX_ANY;

	if (!suffix || strchr(suffix, '/'))
		return INDEX_ANY;
	if (!strcmp(suffix, ".tfrecords"))
		return INDEX_TFRECORD;
	index_format_parse(suffix + 1, &format);
	return format;
}
