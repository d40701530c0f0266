// SPDX-License-Identifier: GPL-2.0-only
#include "lib/index_format.h"

#include <stddef.h>
#include <string.h>

static const char *const words[INDEX_FORMATS] = {
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
		if (!strcmp(words[i], word)) {
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
	return words[format];
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
