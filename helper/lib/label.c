// SPDX-License-Identifier: GPL-2.0-only
#include "lib/label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/path.h"
#include "lib/sanitize.h"

/**
 * label_check() - judge a label
 * @label: as the user gave it
 *
 * Return: NULL, or what is wrong with it.
 */
const char *label_check(const char *label)
{
	if (!*label)
		return "it is empty";
	if (strlen(label) > NEARCACHE_LABEL_MAX)
		return "it is longer than 127 bytes";
	if (text_check(label) != strlen(label))
		return "it has control characters, or is not UTF-8";
	return NULL;
}

/* The deepest folder that has both; @folder becomes that. */
static void meet(char *folder, const char *path)
{
	size_t i, last = 0;

	for (i = 0; folder[i] && folder[i] == path[i]; i++)
		if (folder[i] == '/')
			last = i;
	if (!folder[i] && path[i] == '/')
		last = i;
	folder[last] = '\0';
}

/* Cut to a label; what of a character is left then is none. */
static const char *take(const char *text, char *label)
{
	snprintf(label, LABEL_SIZE, "%s", text);
	return text_clean(label);
}

/**
 * label_of() - the label of shards that were given none
 * @shards: not none
 * @label: LABEL_SIZE bytes to fill
 *
 * One file: its name.  Several: the name of the deepest folder that has all of them.
 * Ranges of the device alone: the first one as it was written.
 *
 * Return: @label, or NULL after recording the error.
 */
const char *label_of(const struct shards *shards, char *label)
{
	char *folder = NULL;
	size_t i, files = 0;

	for (i = 0; i < shards->count; i++) {
		char *path;

		if (!shards->shard[i].device)
			continue;
		path = path_absolute(shards->shard[i].name);
		if (!path) {
			free(folder);
			return NULL;
		}
		if (files++) {
			meet(folder, path);
			free(path);
		} else {
			folder = path;
		}
	}
	if (folder && strrchr(folder, '/') && strrchr(folder, '/')[1])
		take(strrchr(folder, '/') + 1, label);
	else
		take(folder ? "/" : shards->shard[0].name, label);
	free(folder);
	return label;
}
