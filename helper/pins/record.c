// SPDX-License-Identifier: GPL-2.0-only
#include "pins/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "block/device_id.h"
#include "files/glob.h"
#include "lib/error.h"
#include "lib/name.h"

/**
 * owner_of() - who a device is
 * @dev: the device
 * @owner: filled in
 */
void owner_of(const struct dm_device *dev, struct owner *owner)
{
	size_t prefix = strlen(DM_UUID_PREFIX);

	memset(owner, 0, sizeof(*owner));
	if (!strncmp(dev->uuid, DM_UUID_PREFIX, prefix))
		snprintf(owner->uuid, sizeof(owner->uuid), "%s",
			 dev->uuid + prefix);
	if (dev->origin)
		identity_read(dev->origin, owner->origin_id);
}

/* Whether anything is known of it. */
bool owner_known(const struct owner *owner)
{
	return *owner->uuid || *owner->origin_id;
}

/**
 * owner_same() - whether two are one device, or have one origin
 * @before: whose something was
 * @now: who has the name now
 *
 * What is pinned are parts of an origin, whichever cache it has.  But a volume may have
 * another identity by each way that leads to it, and some have none: then the cache tells.
 *
 * Return: whether what was pinned on one is what is meant on the other.
 */
bool owner_same(const struct owner *before, const struct owner *now)
{
	if (!identity_may_be_same(before->origin_id, now->origin_id))
		return false;
	if (*now->uuid && (!strcmp(before->uuid, now->uuid) ||
			   !strcmp(before->attached, now->uuid)))
		return true;
	return *now->origin_id && !strcmp(before->origin_id, now->origin_id);
}

/* An origin that shrank, or took the place of a larger one. */
static void warn_of_end(const struct pins *pins, const char *name)
{
	const char *label = NULL;
	struct range part;
	size_t i, r, count = 0;

	for (i = 0; i < pins->count; i++) {
		const struct pin *pin = &pins->pin[i];

		for (r = 0; r < pin->ranges; r++) {
			if (pins_inside(pins, &pin->range[r], &part) &&
			    part.length == pin->range[r].length)
				continue;
			label = label ? label : pin->label;
			count++;
		}
	}
	if (count)
		warn("%zu ranges that are pinned on '%s' lie beyond its end at %llu, or reach beyond it, and do not count there: 'nearcache pin %s --refresh' follows files that moved, 'nearcache unpin %s --label' forgets a label, like '%s'",
		     count, name, (unsigned long long)pins->size, name, name,
		     label);
}

/**
 * record_open() - read what is wanted of a device
 * @pins: the result; none if nothing is on record; pins_free() is due also after a
 *	failure
 * @dev: the device
 *
 * What is written next says whose it is, unless it is another's.
 *
 * Return: 0 or the exit code; the error names the file and what is wrong with it.
 */
int record_open(struct pins *pins, const struct dm_device *dev)
{
	struct owner owner;

	if (pins_load(pins, dev->name))
		return fail_code();
	pins->size = dev->size;
	owner_of(dev, &owner);
	pins->foreign = owner_known(&pins->owner) &&
			!owner_same(&pins->owner, &owner);
	if (pins->foreign)
		return 0;
	if (!strcmp(pins->owner.uuid, owner.uuid))
		strcpy(owner.attached, pins->owner.attached);
	pins->owner = owner;
	warn_of_end(pins, dev->name);
	return 0;
}

/**
 * record_require() - whether what is on record is of the device that has the name now
 * @pins: from record_open()
 * @dev: the device
 *
 * Return: 0, or the exit code if it is another's.
 */
int record_require(const struct pins *pins, const struct dm_device *dev)
{
	char path[PINS_PATH];

	if (!pins->foreign)
		return 0;
	return fail(CODE_DEVICE,
		    "the record of pins '%s' is of another '%s', with cache '%s' and origin '%s': 'nearcache pin %s --refresh' takes it over, 'nearcache unpin %s --all' forgets it",
		    pins_path(dev->name, path), dev->name, pins->owner.uuid,
		    pins->owner.origin_id, dev->name, dev->name);
}

/* What was another's is this device's from now on. */
void record_adopt(struct pins *pins, const struct dm_device *dev)
{
	owner_of(dev, &pins->owner);
	pins->foreign = false;
}

/**
 * record_forget() - nothing is wanted any more on a cache that is no more
 * @name: that it had
 * @uuid: its own, or of that with which its device was opened
 *
 * What another cache of that name has on record stays.
 *
 * Return: 0 or the exit code.
 */
int record_forget(const char *name, const char *uuid)
{
	const struct owner *owner;
	struct pins pins;
	bool other, found;

	/* One that is damaged is of no use to anybody. */
	if (pins_load(&pins, name))
		fail_reset();
	owner = &pins.owner;
	other = *owner->uuid && strcmp(owner->uuid, uuid) &&
		strcmp(owner->attached, uuid);
	pins_free(&pins);
	return other ? 0 : pins_forget(name, &found);
}

static int compare_paths(const void *a, const void *b)
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
	qsort(recorded->pin, recorded->count, sizeof(*recorded->pin), compare_paths);
	return 0;
}

/* The first whose path does not come before @path. */
static size_t find_path(const struct recorded *recorded, const char *path)
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
	size_t first = find_path(recorded, path), i;

	for (i = first; i < recorded->count &&
	     !strcmp(recorded->pin[i]->path, path); i++)
		recorded->pin[i]->dropped = true;
	return i > first;
}

/* All files in it, by their names: they follow each other.  @path: ends with a slash. */
static bool drop_folder(const struct recorded *recorded, const char *path)
{
	size_t first = find_path(recorded, path), i;

	for (i = first; i < recorded->count &&
	     !strncmp(recorded->pin[i]->path, path, strlen(path)); i++)
		recorded->pin[i]->dropped = true;
	return i > first;
}

static bool drop_path(const struct recorded *recorded, char *path)
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
	struct glob_words words = { 0 };
	size_t i;

	if (glob_add(&words, folder))
		fail_reset();
	for (i = 0; i < words.count; i++) {
		char *path = path_absolute(words.word[i].text);

		if (path)
			drop_file(recorded, path);
		else
			fail_reset();
		free(path);
	}
	glob_free(&words);
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
		found = drop_path(recorded, path);
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
		found = drop_path(recorded, path);
	free(path);
	return found;
}

/* Free all; harmless after that. */
void recorded_free(struct recorded *recorded)
{
	free(recorded->pin);
	*recorded = (struct recorded){ 0 };
}
