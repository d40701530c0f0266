// SPDX-License-Identifier: GPL-2.0-only
#include "pins/recorded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/error.h"
#include "lib/path.h"
#include "files/glob.h"

static int compare(const void *a, const void *b)
{
	const struct pin *const *x = a, *const *y = b;

	return strcmp((*x)->path, (*y)->path);
}

/**
 * recorded_make() - prepare to find files
 * @recorded: the result; recorded_free() is due also after a failure
 * @pins: of a device; none may be added meanwhile
 *
 * Return: 0 or the exit code.
 */
int recorded_make(struct recorded *recorded, const struct pins *pins)
{
	size_t i;

	*recorded = (struct recorded){ 0 };
	recorded->pin = calloc(pins->count + 1, sizeof(*recorded->pin));
	if (!recorded->pin)
		return fail_memory();
	for (i = 0; i < pins->count; i++)
		if (pins->pin[i].path)
			recorded->pin[recorded->count++] = &pins->pin[i];
	qsort(recorded->pin, recorded->count, sizeof(*recorded->pin), compare);
	return 0;
}

/* The first whose path does not come before @path. */
static size_t find(const struct recorded *recorded, const char *path)
{
	size_t low = 0, high = recorded->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(recorded->pin[middle]->path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The file of that path; there may be several pins of it.  Return: whether there is one. */
static bool drop_file(const struct recorded *recorded, const char *path)
{
	size_t first = find(recorded, path), i;

	for (i = first; i < recorded->count &&
	     !strcmp(recorded->pin[i]->path, path); i++)
		recorded->pin[i]->dropped = true;
	return i > first;
}

/* All files in it, by their names: they follow each other.  @path: ends with a slash. */
static bool drop_folder(const struct recorded *recorded, const char *path)
{
	size_t first = find(recorded, path), i;

	for (i = first; i < recorded->count &&
	     !strncmp(recorded->pin[i]->path, path, strlen(path)); i++)
		recorded->pin[i]->dropped = true;
	return i > first;
}

static bool drop(const struct recorded *recorded, char *path)
{
	bool found = drop_file(recorded, path);
	size_t length = strlen(path);
	char *folder = malloc(length + 2);

	if (!folder) {
		fail_memory();
		return found;
	}
	memcpy(folder, path, length + 1);
	/* The root has it. */
	if (length && path[length - 1] != '/')
		strcpy(folder + length, "/");
	found |= drop_folder(recorded, folder);
	free(folder);
	return found;
}

/* Links in a folder lead to files that are on record as they are called elsewhere. */
static void drop_linked(const struct recorded *recorded, const char *folder)
{
	struct words words = { 0 };
	size_t i;

	if (words_add(&words, folder))
		fail_reset();
	for (i = 0; i < words.count; i++) {
		char *path = path_absolute(words.word[i].text);

		if (path)
			drop_file(recorded, path);
		else
			fail_reset();
		free(path);
	}
	words_free(&words);
}

/**
 * recorded_drop() - want a file, or all of a folder, no more
 * @recorded: what is on record
 * @word: its path, as the user gave it; it need not be there any more
 *
 * Return: whether there was something; false, too, where that cannot be told, with an error
 * without memory.
 */
bool recorded_drop(const struct recorded *recorded, const char *word)
{
	char *path = path_once(word);
	bool found = false;
	struct stat st;

	if (path)
		found = drop(recorded, path);
	else if (fail_code() != CODE_MEMORY)
		fail_reset();
	free(path);
	if (found && !stat(word, &st) && S_ISDIR(st.st_mode))
		drop_linked(recorded, word);
	/* What was a folder may be a link by now. */
	if (found || *word != '/' || fail_code())
		return found;
	path = path_tidy(word);
	if (path)
		found = drop(recorded, path);
	free(path);
	return found;
}

/* Free all; harmless after that. */
void recorded_free(struct recorded *recorded)
{
	free(recorded->pin);
	*recorded = (struct recorded){ 0 };
}
